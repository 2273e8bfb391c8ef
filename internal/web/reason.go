package web

import "capstore/internal/capability"

// reason says in the reader's language why a row is on or off.
func (c *Ctx) reason(code capability.Reason) string { return c.T("reason." + string(code)) }

package web

import (
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views"
)

// reason says in the reader's language why a row is on or off.
func (c *Ctx) reason(code capability.Reason) string { return c.T("reason." + string(code)) }

// cannotRun says why code of the source does not run on this server, and whose
// turn it is; "" for what runs, and for what is no code.
func (c *Ctx) cannotRun(spec capability.Spec, source string) string {
	err := c.site.Agent.Runnable(c.R.Context(), spec, source != c.Who.Workspace)
	if err == nil {
		return ""
	}
	f := fault.From(err)
	return strings.TrimSpace(views.FaultText(c.Locale, f) + " " + views.FaultAction(c.Locale, f))
}

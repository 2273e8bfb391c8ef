package web

import (
	"cmp"
	"strings"

	"capstore/internal/capability"
)

// effectText is an effect in words. One that can stand in the first version
// too has a text of its own for that.
func (c *Ctx) effectText(e capability.Effect) string {
	key := "effect." + string(e.Code)
	if e.Before == "" && c.Locale.Has(key+"_first") {
		key += "_first"
	}
	none := c.T("effect.none")
	return c.T(key, "items", strings.Join(e.Items, ", "), "before", cmp.Or(e.Before, none), "after", cmp.Or(e.After, none))
}

package web

import (
	"cmp"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/views"
)

// effectWords are effects as a page lists them.
func (c *Ctx) effectWords(effects []capability.Effect) []views.EffectLine {
	var out []views.EffectLine
	for _, e := range effects {
		out = append(out, views.EffectLine{Text: c.effectText(e), Power: e.Power, Breaking: e.Breaking})
	}
	return out
}

// effectText is an effect in words. One that can stand in the first version
// too has a text of its own for that.
func (c *Ctx) effectText(e capability.Effect) string {
	key := "effect." + string(e.Code)
	if e.Before == "" && c.Locale.Has(key+"_first") {
		key += "_first"
	}
	return c.T(key, "items", strings.Join(e.Items, ", "), "before", c.effectValue(e.Before), "after", c.effectValue(e.After))
}

// effectValue is what something was or is: numbers as the reader writes them.
func (c *Ctx) effectValue(value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		return c.Locale.Number(n)
	}
	return cmp.Or(value, c.T("effect.none"))
}

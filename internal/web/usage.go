package web

import (
	"net/http"
	"slices"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/views"
)

// usualSpan is over how many days figures are shown unless told.
const usualSpan = 30

// usagePage is what agents did and took: everyone's for admins, else the
// reader's own.
func (s *Site) usagePage(c *Ctx) error {
	query := c.R.URL.Query()
	days, err := number(query.Get("days"), usualSpan)
	if err != nil {
		return err
	}
	if !slices.Contains(views.UsageSpans, days) {
		days = usualSpan
	}
	report, err := s.Agent.Usage(c.R.Context(), c.Actor(), agent.UsageQuery{Days: days, Mine: query.Get("mine") != ""})
	if err != nil {
		return err
	}
	admin := c.Who.Role == capability.RoleAdmin
	v := views.Usage{
		Workspace: c.Who.Workspace, Span: days, Mine: admin && !report.Everyone, Admin: admin, Total: views.UsageSum(report.Total),
	}
	for _, d := range report.Days {
		v.Days = append(v.Days, views.UsageDay{Day: d.Day, UsageSum: views.UsageSum(d.UsageSum), P50: d.P50, P95: d.P95})
	}
	for _, m := range report.Members {
		v.Members = append(v.Members, views.MemberUsage{Name: m.Name, Model: m.Model, UsageSum: views.UsageSum(m.UsageSum)})
	}
	for _, t := range report.Tools {
		v.Tools = append(v.Tools, views.ToolUsage(t))
	}
	return c.Render(http.StatusOK, views.UsagePage(c.Page(c.T("settings.usage"), views.NavSettings), v))
}

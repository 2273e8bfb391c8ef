package views

import (
	"context"
	"strconv"

	"capstore/internal/i18n"
	"capstore/views/ui"

	"github.com/a-h/templ"
)

func tokenColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "account.token_name")}, {Label: i18n.T(ctx, "nav.workspace")}, {Label: i18n.T(ctx, "account.scope")},
		{Label: i18n.T(ctx, "account.token_used")}, {Label: i18n.T(ctx, "account.token_expires")},
		{Label: i18n.T(ctx, "common.actions"), Hidden: true},
	}
}

func (v NewToken) workspaces() []ui.Option {
	chosen := v.Form.Value("workspace", "")
	var options []ui.Option
	for _, ws := range v.Workspaces {
		options = append(options, ui.Option{Value: ws.Slug, Label: ws.Name, Selected: ws.Slug == chosen})
	}
	return options
}

func (v NewToken) scopes(ctx context.Context) []ui.Option {
	chosen := v.Form.Value("scope", "read")
	var options []ui.Option
	for _, scope := range []string{"read", "write", "agent"} {
		options = append(options, ui.Option{
			Value: scope, Label: i18n.T(ctx, "account.scope_"+scope), Help: i18n.T(ctx, "account.scope_"+scope+"_help"), Selected: scope == chosen,
		})
	}
	return options
}

func (v NewToken) lives(ctx context.Context) []ui.Option {
	chosen := v.Form.Value("expires", "30")
	var options []ui.Option
	for _, days := range TokenDays {
		value := strconv.Itoa(days)
		options = append(options, ui.Option{Value: value, Label: i18n.N(ctx, "account.token_days", days), Selected: value == chosen})
	}
	return options
}

// labelled names a control whose own words are the same in every row.
func labelled(label string) templ.Attributes { return templ.Attributes{"aria-label": label} }

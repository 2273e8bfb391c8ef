package views

import (
	"context"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

func parameterColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "detail.parameter")}, {Label: i18n.T(ctx, "detail.parameter_type")}, {Label: i18n.T(ctx, "detail.parameter_text")},
	}
}

package views

import (
	"context"

	"capstore/internal/i18n"
)

// otherAccount says why the viewer cannot take the invitation up, "" when he
// can.
func (v Invite) otherAccount(ctx context.Context, viewer Viewer) string {
	if v.Email == "" || v.Email == viewer.Email {
		return ""
	}
	return i18n.T(ctx, "invite.other_account", "email", v.Email)
}

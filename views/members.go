package views

import (
	"context"
	"time"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// memberRoles are the roles that a member may be given, from least to most.
var memberRoles = []string{"viewer", "member", "admin"}

// Members is the list of a workspace's people.
type Members struct {
	Workspace   string
	Rows        []MemberRow
	Invitations []InvitationRow
	// MayManage says that the viewer may invite, remove and set roles; Reason
	// says why not and who may.
	MayManage bool
	Reason    string
	// Rename is the form of the workspace's name, for who may change it.
	Rename Form
}

// MemberRow is one person of the workspace.
type MemberRow struct {
	Subject string
	Name    string
	Email   string
	Role    string
	Since   time.Time
	You     bool
}

// InvitationRow is an invitation that nobody has taken up yet.
type InvitationRow struct {
	ID        string
	Email     string // "" for anyone who has the link
	Role      string
	InvitedBy string
	Expires   time.Time
}

// Removal is the question before a membership ends.
type Removal struct {
	Workspace     string
	WorkspaceName string
	MemberRow
}

// NewInvitation is the form of an invitation.
type NewInvitation struct {
	Workspace string
	Form      Form
}

// MadeInvitation is an invitation with its link, shown this once.
type MadeInvitation struct {
	Workspace string
	Link      string
	InvitationRow
}

func memberColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "account.name")}, {Label: i18n.T(ctx, "members.role")}, {Label: i18n.T(ctx, "members.since")},
		{Label: i18n.T(ctx, "common.actions"), Hidden: true},
	}
}

func invitationColumns(ctx context.Context) []ui.Column {
	return []ui.Column{
		{Label: i18n.T(ctx, "members.for")}, {Label: i18n.T(ctx, "members.role")}, {Label: i18n.T(ctx, "members.invited_by")},
		{Label: i18n.T(ctx, "account.token_expires")}, {Label: i18n.T(ctx, "common.actions"), Hidden: true},
	}
}

func (r InvitationRow) whom(ctx context.Context) string {
	if r.Email == "" {
		return i18n.T(ctx, "members.anyone")
	}
	return r.Email
}

func (v NewInvitation) roles(ctx context.Context) []ui.Option {
	chosen := v.Form.Value("role", "member")
	var options []ui.Option
	for _, role := range memberRoles {
		options = append(options, ui.Option{
			Value: role, Label: i18n.T(ctx, "role."+role), Help: i18n.T(ctx, "members.role_"+role), Selected: role == chosen,
		})
	}
	return options
}

// removalKey is the text of the question for oneself or for another.
func (v Removal) key(part string) string {
	if v.You {
		return "members.leave_" + part
	}
	return "members.remove_" + part
}

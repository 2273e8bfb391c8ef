package views

import (
	"context"

	"github.com/a-h/templ"

	"capstore/internal/i18n"
	"capstore/views/ui"
)

// Unlisted is what a workspace published and no list shows.
type Unlisted struct {
	Workspace string
	Gone      []UnlistedRow // without a live version
	// Admin says that the reader is told the rest.
	Admin  bool
	Left   []UnlistedRow // by former members
	Hidden []KindCount   // private to others
}

// UnlistedRow is one capability that no list shows.
type UnlistedRow struct {
	ID            string
	Kind          string
	Name          string
	Version       string
	Reach         string
	Adopters      int
	State         string // withdrawn or blocked; "" where that is not what it is about
	BlockedReason string
	Creator       string // who left it
}

// unlistedID is the id of what the page of publications is told of the rest.
const unlistedID = "unlisted"

// unlistedAttrs fetches it once the list stands, in place of the link.
func unlistedAttrs(ws string) templ.Attributes {
	return ui.Hx{Get: UnlistedPath(ws), Trigger: "load", Swap: "outerHTML"}.Attrs()
}

// notes says in short what there is, each with a way to all of it.
func (u Unlisted) notes(ctx context.Context) []string {
	var out []string
	if n := len(u.Gone); n > 0 {
		out = append(out, i18n.N(ctx, "unlisted.gone_note", n))
	}
	if n := len(u.Left); n > 0 {
		out = append(out, i18n.N(ctx, "unlisted.left_note", n))
	}
	return out
}

// gone is a row without a live version.
func (u Unlisted) gone(ctx context.Context, r UnlistedRow) ui.RowArgs {
	args := u.row(ctx, r)
	args.Href = CapabilityTabPath(u.Workspace, u.Workspace, r.ID, DetailLens{From: FromMine})
	mark := ui.RowMark{Tone: ui.Warning, Text: i18n.T(ctx, "unlisted.withdrawn", "version", r.Version)}
	if r.State == "blocked" {
		mark = ui.RowMark{Tone: ui.Danger, Text: i18n.T(ctx, "unlisted.blocked", "version", r.Version, "reason", r.BlockedReason)}
	}
	args.Marks = []ui.RowMark{mark}
	return args
}

// left is a row of what a former member left.
func (u Unlisted) left(ctx context.Context, r UnlistedRow) ui.RowArgs {
	args := u.row(ctx, r)
	args.Href = LeftPath(u.Workspace, r.ID, "take")
	args.Reason = i18n.T(ctx, "unlisted.left_by", "name", r.Creator)
	return args
}

func (u Unlisted) row(ctx context.Context, r UnlistedRow) ui.RowArgs {
	args := ui.RowArgs{Kind: r.Kind, Name: r.Name, Ref: u.Workspace + "/" + r.ID, Version: r.Version, Reach: r.Reach}
	if r.Adopters > 0 {
		args.Meta = []string{i18n.N(ctx, "store.adopters", r.Adopters)}
	}
	return args
}

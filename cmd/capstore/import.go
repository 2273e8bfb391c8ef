package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
)

type importCmd struct {
	Workspace  string   `help:"Short name of the workspace that publishes." required:"" placeholder:"W"`
	Email      string   `help:"The member who publishes." required:"" placeholder:"E"`
	JSON       bool     `name:"json" help:"Print the report as JSON."`
	Preview    bool     `help:"Say what would be made and make nothing."`
	Reach      string   `help:"Who reads what is new: private, workspace, subset or public; each kind's default unless told." enum:",private,workspace,subset,public" default:"" placeholder:"R"`
	SharedWith []string `help:"The workspaces of the reach subset." placeholder:"W"`
	Paths      []string `arg:"" name:"path" help:"Folders, zips and files: skills, MCP server configurations, plugins, exports of capstore."`
}

// Help is what --help says besides the flags.
func (c *importCmd) Help() string {
	return "Everything that is found is made, unchanged, refused or ignored, and the report says why. " +
		"The exit code is 0 when nothing was refused, else 1. A second run changes nothing; one that was stopped is simply run again."
}

// Run imports every path into the workspace, whether or not a server runs.
func (c *importCmd) Run(env *environment) error {
	return withStore(env, "import", func(ctx context.Context, store *app.Store) error {
		who, err := memberOf(ctx, store, c.Workspace, c.Email)
		if err != nil {
			return err
		}
		job := &importJob{
			ctx: ctx, actor: who.Actor(), catalog: catalog.New(store.DB, env.config.CatalogOptions()),
			out:  newImportOutput(env, c.JSON, c.Preview),
			opts: intake.Options{Preview: c.Preview, Reach: capability.Reach(c.Reach), SharedWith: c.SharedWith},
		}
		for _, p := range c.Paths {
			if err = job.path(p, len(c.Paths) > 1); err != nil {
				break
			}
		}
		job.out.end(job.counts, stopped(ctx, err))
		switch {
		case stopped(ctx, err):
			return errSaid
		case err != nil:
			return err
		case job.counts.Refused > 0:
			return errSaid
		}
		return nil
	})
}

// stopped reports whether it was the operator who ended the command.
func stopped(ctx context.Context, err error) bool { return err != nil && ctx.Err() != nil }

// memberOf finds the account and its standing in the workspace.
func memberOf(ctx context.Context, store *app.Store, workspace, email string) (identity.Principal, error) {
	people := identity.New(store.DB)
	user, err := people.UserByEmail(ctx, email)
	if err != nil {
		return identity.Principal{}, err
	}
	who, err := people.PrincipalOf(ctx, user.Subject, workspace)
	if err == nil && !who.IsMember() {
		err = fault.New(fault.NotFound, "not_a_member", "%s is not a member of a workspace %q.", user.Email, workspace).
			Do("Name a workspace that the account belongs to.")
	}
	return who, err
}

// importJob is the paths of one command.
type importJob struct {
	ctx     context.Context
	actor   capability.Actor
	catalog *catalog.Service
	opts    intake.Options
	out     importOutput
	counts  intake.Counts
}

// path imports one path. One that cannot be read at all is a refused item, so
// that the others are imported.
func (j *importJob) path(p string, several bool) error {
	found, err := interchange.FromPath(p, interchange.Options{Rules: j.catalog.Rules()})
	if f, isFault := errors.AsType[*fault.Fault](err); isFault && j.ctx.Err() == nil {
		refused := intake.Outcome{Item: interchange.Item{Path: p, Status: interchange.Refused, Fault: f}, Status: intake.Refused, Fault: f}
		j.counts.Add(refused)
		j.out.item(refused)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }() // only read from
	under := ""
	if several {
		under = p
	}
	j.out.notes(under, found.Notes)
	opts := j.opts
	opts.From, opts.Progress = filepath.Base(p), j.out.progress
	counts, err := intake.Run(j.ctx, j.catalog, j.actor, found, opts, func(o intake.Outcome) {
		o.Item.Path = joined(under, o.Item.Path)
		j.out.item(o)
	})
	j.counts = j.counts.Plus(counts)
	return err
}

func joined(under, p string) string {
	if under == "" {
		return p
	}
	return under + ": " + p
}

// reasons are what a refused item's report says, one line each.
func reasons(f *fault.Fault) []string {
	out := []string{f.Message}
	if len(f.Fields) > 0 {
		out = nil
	}
	for _, field := range f.Fields {
		out = append(out, field.Path+": "+field.Message)
	}
	if f.Action != "" && len(f.Fields) == 0 {
		out[0] = fmt.Sprintf("%s %s", f.Message, f.Action)
	}
	return slices.Compact(out)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"capstore/cmd/capstore/app"
	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/interchange/intake"
)

type exportCmd struct {
	Workspace string   `help:"Short name of the workspace that the member acts in." required:"" placeholder:"W"`
	Email     string   `help:"The member who exports, and who sees what he may." required:"" placeholder:"E"`
	Format    string   `help:"capstore, or a format of one kind: skill, server-json, mcp-servers, vscode, claude-plugin." enum:"capstore,skill,server-json,mcp-servers,vscode,claude-plugin" default:"capstore"`
	Out       string   `help:"File, folder, or with the ending .zip an archive to write; standard output unless told." placeholder:"PATH"`
	Refs      []string `arg:"" optional:"" name:"ref" help:"source/id, source/id@version or an id of the workspace; everything that the workspace publishes unless told."`
}

// Help is what --help says besides the flags.
func (c *exportCmd) Help() string {
	return "capstore's own format holds every kind with all its versions, and comes back with the same digests. " +
		"The other formats hold one version each, the latest unless the reference names one."
}

// Run exports what is named, whether or not a server runs.
func (c *exportCmd) Run(env *environment) error {
	return withStore(env, "export", func(ctx context.Context, store *app.Store) error {
		who, err := memberOf(ctx, store, c.Workspace, c.Email)
		if err != nil {
			return err
		}
		e := exporter{ctx: ctx, actor: who.Actor(), catalog: catalog.New(store.DB, env.config.CatalogOptions()), cmd: c}
		n, err := e.run(env.stdout)
		if err == nil && c.Out != "" {
			fmt.Fprintf(env.stderr, "%s exported to %s.\n", grouped(n), c.Out)
		}
		return err
	})
}

type exporter struct {
	ctx     context.Context
	actor   capability.Actor
	catalog *catalog.Service
	cmd     *exportCmd
}

// run exports to where the command says and returns how many there were.
func (e exporter) run(stdout io.Writer) (int, error) {
	if e.cmd.Format != string(intake.FormOwn) {
		return e.foreign(stdout)
	}
	switch out := e.cmd.Out; {
	case out == "":
		return intake.WriteAll(stdout, e.lines)
	case isFolder(out):
		return e.each(func(line catalog.Line, b []byte) error {
			return writeFile(filepath.Join(out, intake.LineName(line.ID)), b)
		})
	case strings.HasSuffix(out, ".zip"):
		return e.toFile(intake.WriteZip)
	}
	return e.toFile(intake.WriteAll)
}

// toFile writes beside the file and puts it in its place when it is whole.
func (e exporter) toFile(write func(io.Writer, intake.Lines) (int, error)) (int, error) {
	part, err := os.CreateTemp(filepath.Dir(e.cmd.Out), "."+filepath.Base(e.cmd.Out)+".*")
	if err != nil {
		return 0, cannotWrite(e.cmd.Out, err)
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone already when all went well
	n, err := write(part, e.lines)
	if err = errors.Join(err, part.Close()); err != nil {
		return n, err
	}
	if err := os.Chmod(part.Name(), 0o644); err != nil {
		return n, cannotWrite(e.cmd.Out, err)
	}
	if err := os.Rename(part.Name(), e.cmd.Out); err != nil {
		return n, cannotWrite(e.cmd.Out, err)
	}
	return n, nil
}

func (e exporter) each(write func(line catalog.Line, b []byte) error) (int, error) {
	n := 0
	for line, err := range e.lines {
		if err != nil {
			return n, err
		}
		var b bytes.Buffer
		if err := intake.WriteLine(&b, line); err != nil {
			return n, err
		}
		if err := write(line, b.Bytes()); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// lines are the capabilities that the command names, whole unless a reference
// has a version.
func (e exporter) lines(yield func(catalog.Line, error) bool) {
	if len(e.cmd.Refs) == 0 {
		e.catalog.Lines(e.ctx, e.actor, e.cmd.Workspace)(yield)
		return
	}
	for _, text := range e.cmd.Refs {
		line, err := e.line(text)
		if !yield(line, err) || err != nil {
			return
		}
	}
}

func (e exporter) line(text string) (catalog.Line, error) {
	source, id, version := splitRef(text, e.cmd.Workspace)
	for line, err := range e.catalog.Lines(e.ctx, e.actor, source, id) {
		if err != nil || version == "" {
			return line, err
		}
		for _, v := range line.Versions {
			if v.Version == version {
				line.Versions = []catalog.VersionDetail{v}
				return line, nil
			}
		}
	}
	return catalog.Line{}, fault.New(fault.NotFound, "no_such_capability", "There is no %s, or %s may not see it.", text, e.cmd.Email).
		Do("Name it as source/id or source/id@version.")
}

func splitRef(text, workspace string) (source, id, version string) {
	text, version, _ = strings.Cut(text, "@")
	source, id, found := strings.Cut(text, "/")
	if !found {
		source, id = workspace, text
	}
	return source, id, version
}

// foreign exports in a format of others: a file for each, or one for a single
// reference.
func (e exporter) foreign(stdout io.Writer) (int, error) {
	n, passed := 0, 0
	for line, err := range e.lines {
		if err != nil {
			return n, err
		}
		v := latestOf(line)
		file, err := intake.Export(v, line.Tags, intake.Form(e.cmd.Format))
		if fault.HasCode(err, "no_place_in_format") && len(e.cmd.Refs) == 0 {
			passed++
			continue
		}
		if err == nil {
			err = e.put(stdout, v, file)
		}
		if err != nil {
			return n, err
		}
		n++
	}
	if n == 0 && passed > 0 {
		return 0, fault.New(fault.NotFound, "nothing_to_export", "Nothing that the workspace publishes has a place in the format %s.", e.cmd.Format)
	}
	return n, nil
}

// latestOf is the version that a line is exported as when only one fits: the
// greatest release, else the greatest of all.
func latestOf(line catalog.Line) catalog.VersionDetail {
	out := line.Versions[len(line.Versions)-1]
	for _, v := range line.Versions {
		if number, err := capability.ParseVersion(v.Version); err == nil && !number.IsPre() {
			out = v
		}
	}
	return out
}

func (e exporter) put(stdout io.Writer, v catalog.VersionDetail, file intake.File) error {
	switch out := e.cmd.Out; {
	case out == "" && len(e.cmd.Refs) == 1:
		_, err := stdout.Write(file.Data)
		return err
	case out == "":
		return fault.New(fault.Invalid, "several_files", "The format %s gives a file for each capability.", e.cmd.Format).
			Do("Name a folder with --out, or one capability.")
	case isFolder(out):
		return writeFile(filepath.Join(out, v.ID, file.Name), file.Data)
	case len(e.cmd.Refs) != 1:
		return fault.New(fault.Invalid, "no_folder", "%s is no folder, and there is a file for each capability.", out).
			Do("Name a folder with --out: one that is there, or one that ends with a slash.")
	default:
		return writeFile(out, file.Data)
	}
}

// isFolder reports whether a path names a folder: one that is there, or one
// that is written as one.
func isFolder(p string) bool {
	info, err := os.Stat(p)
	return strings.HasSuffix(p, string(filepath.Separator)) || err == nil && info.IsDir()
}

func writeFile(p string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return cannotWrite(p, err)
	}
	if err := os.WriteFile(p, data, 0o644); err != nil {
		return cannotWrite(p, err)
	}
	return nil
}

func cannotWrite(p string, err error) error {
	return fault.New(fault.Invalid, "cannot_write", "%s cannot be written.", p).Because(err)
}

// Command capstore serves a capability store for AI agents and administers it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"capstore/cmd/capstore/app"
	"capstore/internal/fault"
)

// cli is the command line: every flag has an environment variable.
type cli struct {
	app.Config

	Serve     serveCmd     `cmd:"" help:"Run the server."`
	Migrate   migrateCmd   `cmd:"" help:"Bring the database to this version's schema."`
	Doctor    doctorCmd    `cmd:"" help:"Say what is right and what is wrong, and what to do."`
	User      userCmd      `cmd:"" help:"Accounts."`
	Workspace workspaceCmd `cmd:"" help:"Workspaces."`
	Token     tokenCmd     `cmd:"" help:"Personal access tokens."`
	Import    importCmd    `cmd:"" help:"Publish what folders and files hold."`
	Export    exportCmd    `cmd:"" help:"Write what is published to files."`
	Secrets   secretsCmd   `cmd:"" help:"The key of the stored secrets."`
	Version   versionCmd   `cmd:"" help:"Print the version."`
}

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// errSaid ends a command that has printed already what is wrong.
var errSaid = errors.New("said")

// run parses and runs one command and returns the exit code: 1 when it failed,
// 2 when it was not understood.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var c cli
	exited := -1
	parser, err := newParser(&c, stdout, stderr, func(code int) { exited = code })
	if err != nil {
		fmt.Fprintln(stderr, "capstore:", err)
		return 2
	}
	kctx, err := parser.Parse(args)
	if exited >= 0 {
		return exited // help was asked for
	}
	if err != nil {
		explain(stderr, err)
		fmt.Fprintln(stderr, "Run capstore --help to see the commands and their flags.")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := &environment{ctx: ctx, config: c.Config, stdin: stdin, stdout: stdout, stderr: stderr, log: logger(c.Config, stderr)}
	err = kctx.Run(env)
	if err == nil {
		return 0
	}
	if !errors.Is(err, errSaid) {
		explain(stderr, err)
	}
	return 1
}

// newParser gives every flag an environment variable, its own or one made from
// its name.
func newParser(c *cli, stdout, stderr io.Writer, exit func(int)) (*kong.Kong, error) {
	return kong.New(c, kong.Name("capstore"), kong.UsageOnError(), kong.Writers(stdout, stderr),
		kong.Description("A capability store for AI agents."), kong.DefaultEnvars("CAPSTORE"), kong.Exit(exit))
}

// environment is what every command gets.
type environment struct {
	ctx    context.Context
	config app.Config
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	log    *slog.Logger
}

// explain prints what went wrong and who can mend it. The cause is shown too:
// whoever runs a command here is the operator.
func explain(w io.Writer, err error) {
	f := fault.From(err)
	if f.Kind == fault.Internal {
		fmt.Fprintln(w, "capstore:", err)
		return
	}
	fmt.Fprintln(w, "capstore:", f.Message)
	for _, field := range f.Fields {
		fmt.Fprintf(w, "  %s: %s\n", field.Path, field.Message)
	}
	if f.Action != "" {
		fmt.Fprintln(w, f.Action)
	}
	if cause := f.Unwrap(); cause != nil {
		fmt.Fprintln(w, "Cause:", cause)
	}
}

func logger(cfg app.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		level = slog.LevelInfo
	}
	opts := &slog.HandlerOptions{Level: level}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

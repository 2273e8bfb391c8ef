// Package doctor examines an installation and says, part by part, what is right
// and what is wrong with it and what to do. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"capstore/cmd/capstore/app"
	"capstore/internal/fault"
	"capstore/internal/registry"
)

// State is what a finding comes to.
type State string

const (
	OK     State = "ok"
	Notice State = "notice" // works, but something is off or worth knowing
	Wrong  State = "wrong"  // the server cannot serve, or not safely
)

// Finding is one line of the report.
type Finding struct {
	Area   string `json:"area"`
	Name   string `json:"name"`
	State  State  `json:"state"`
	Text   string `json:"text"`
	Action string `json:"action,omitempty"` // what to do, where there is something
}

// Report is everything that was found.
type Report struct {
	OK       bool      `json:"ok"` // nothing is Wrong
	Findings []Finding `json:"findings"`
	// Settings are the configuration as it was read, secrets hidden.
	Settings map[string]string `json:"settings"`
	// Agent is what the running server reports of the member that was asked
	// about; nil where none was, or no server runs.
	Agent *registry.Report `json:"agent,omitempty"`
}

// Examine looks at the configuration, the data folder, the database, the
// sandbox, the front end, and the server when one runs. Nothing is made: where
// there is no database yet, none is afterwards. Where a member is named, the
// running server is asked what his agent has and why.
func Examine(ctx context.Context, cfg app.Config, m Member, log *slog.Logger) Report {
	e := &examination{cfg: cfg, log: log}
	e.configuration()
	e.folder()
	e.database(ctx)
	e.sandbox(ctx)
	e.assets()
	e.server(ctx)
	e.member(ctx, m)
	settings := map[string]string{}
	for _, s := range cfg.Redacted() {
		settings[s[0]] = s[1]
	}
	return Report{OK: !e.wrong, Findings: e.findings, Settings: settings, Agent: e.agent}
}

// Print writes the report for people.
func (r Report) Print(w io.Writer) {
	area := ""
	for _, f := range r.Findings {
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(w, "\n%s\n", area)
		}
		fmt.Fprintf(w, "  %-7s %-17s %s\n", f.State, f.Name, f.Text)
		if f.Action != "" {
			fmt.Fprintf(w, "  %-7s %-17s -> %s\n", "", "", f.Action)
		}
	}
	verdict := "Everything essential is right."
	if !r.OK {
		verdict = "Something essential is wrong: see above."
	}
	fmt.Fprintf(w, "\n%s\n", verdict)
}

type examination struct {
	cfg      app.Config
	log      *slog.Logger
	area     string
	findings []Finding
	wrong    bool
	// joined says that a running server holds the embedded database.
	joined bool
	// ready is where the running server is reached; "" when none is ready.
	ready string
	agent *registry.Report
}

func (e *examination) add(state State, name, text, action string) {
	e.findings = append(e.findings, Finding{Area: e.area, Name: name, State: state, Text: text, Action: action})
	e.wrong = e.wrong || state == Wrong
}

// failed adds what an error says, its cause included: the reader is the
// operator.
func (e *examination) failed(name string, err error) {
	f := fault.From(err)
	if f.Kind == fault.Internal {
		e.add(Wrong, name, err.Error(), "")
		return
	}
	text := f.Message
	if cause := f.Unwrap(); cause != nil {
		text += " (" + cause.Error() + ")"
	}
	for _, field := range f.Fields {
		text += " " + field.Path + ": " + field.Message
	}
	e.add(Wrong, name, text, f.Action)
}

package catalog

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"

	"capstore/db"
	"capstore/internal/capability"
	"capstore/internal/fault"
)

//go:embed firstparty
var firstPartyFiles embed.FS

// builtin is a capability that ships with capstore. A change of its content
// comes with a greater version.
type builtin struct {
	id, name, description string
	version               string // "" is the first
	tags                  []string
	spec                  capability.Spec
}

// file returns an embedded text. It panics when there is none, which the
// first test notices.
func file(name string) string {
	b, err := fs.ReadFile(firstPartyFiles, "firstparty/"+name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// builtins lists what ships with capstore, as examples in the store: to be
// copied, imported or adopted, never on by themselves.
func builtins() []builtin {
	return []builtin{incidentTriage(), releaseNotes(), guard(), explain(), grafana(), deepWiki(), github(), dataLab(), worker()}
}

func incidentTriage() builtin {
	return builtin{
		id: "incident-triage", name: "incident-triage", tags: []string{"operations", "on-call"},
		description: "Leads through the first half hour of an incident: say what is wrong, find what changed, limit the harm, keep a timeline.",
		spec: &capability.SkillSpec{
			Instructions: file("incident-triage.md"), License: "MIT",
			Files: []capability.File{{Path: "templates/timeline.md", MediaType: "text/markdown", Content: file("timeline.md")}},
			Leans: capability.Leans{Serves: []string{"operations"}},
		},
	}
}

func releaseNotes() builtin {
	return builtin{
		id: "release-notes", name: "release-notes", tags: []string{"writing", "engineering"},
		description: "Turns commits and pull requests into release notes that users want to read, with what needs their attention first.",
		spec: &capability.SkillSpec{
			Instructions: file("release-notes.md"), License: "MIT", Leans: capability.Leans{Serves: []string{"writing"}},
		},
	}
}

func guard() builtin {
	return builtin{
		id: "guard-destructive-calls", name: "guard-destructive-calls", tags: []string{"safety"},
		description: "Denies tool calls that would wipe a disk, drop a table, destroy infrastructure or overwrite shared history.",
		spec: &capability.HookSpec{
			Event: capability.EventBeforeTool, Language: capability.Python, Code: file("guard.py"),
			FailureMode: capability.FailClosed, TimeoutSec: 5,
		},
	}
}

func explain() builtin {
	return builtin{
		id: "explain", name: "explain", tags: []string{"onboarding"},
		description: "Explains a service, a file or a decision to someone new to the team, with the source of each fact.",
		spec:        &capability.CommandSpec{Template: file("explain.md"), ArgumentHint: "what to explain"},
	}
}

// classes spells which tools read and which write.
func classes(reads, writes []string) (provides []string, out map[string]capability.ToolClass) {
	out = map[string]capability.ToolClass{}
	for _, t := range reads {
		out[t] = capability.ClassRead
	}
	for _, t := range writes {
		out[t] = capability.ClassWrite
	}
	return append(append(provides, reads...), writes...), out
}

func grafana() builtin {
	provides, class := classes(
		[]string{
			"search_dashboards", "get_dashboard_by_uid", "get_dashboard_panel_queries", "list_datasources", "query_prometheus",
			"list_prometheus_metric_names", "list_prometheus_label_values", "query_loki_logs", "query_loki_stats", "list_alert_rules",
			"list_contact_points", "list_incidents", "get_incident", "list_oncall_schedules", "get_current_oncall_users", "generate_deeplink",
		},
		[]string{"update_dashboard", "create_incident", "add_activity_to_incident"},
	)
	return builtin{
		id: "grafana", name: "grafana", tags: []string{"observability", "metrics", "logs"},
		description: "Grafana's own MCP server, run as a container: dashboards, Prometheus and Loki queries, alert rules, incidents and on-call.",
		spec: &capability.MCPSpec{
			Image: "grafana/mcp-grafana", Args: []string{"-t", "stdio"}, Provides: provides, ToolClasses: class, Write: true,
			Auth: capability.AuthSecret,
			RequiredSecrets: []capability.RequiredSecret{{
				Name: "GRAFANA_SERVICE_ACCOUNT_TOKEN", Description: "Token of a Grafana service account; the role Viewer is enough for reading.",
			}},
			Settings: []capability.Setting{{
				Name: "GRAFANA_URL", Description: "Address of your Grafana, such as https://grafana.example.com", Required: true,
			}},
			Leans: capability.Leans{Serves: []string{"operations", "live-data"}},
		},
	}
}

func deepWiki() builtin {
	provides, class := classes([]string{"read_wiki_structure", "read_wiki_contents", "ask_question"}, nil)
	return builtin{
		id: "deepwiki", name: "deepwiki", tags: []string{"documentation", "code"},
		description: "Answers questions about public GitHub repositories from generated documentation. Needs no key.",
		spec: &capability.MCPSpec{
			URL: "https://mcp.deepwiki.com/mcp", Provides: provides, ToolClasses: class, Auth: capability.AuthNone,
			Leans: capability.Leans{Serves: []string{"code"}},
		},
	}
}

func github() builtin {
	provides, class := classes(
		[]string{
			"get_me", "search_repositories", "search_code", "get_file_contents", "list_commits", "list_issues", "search_issues",
			"list_pull_requests", "list_releases",
		},
		[]string{"create_branch", "create_or_update_file", "push_files", "add_issue_comment", "create_pull_request", "merge_pull_request"},
	)
	return builtin{
		id: "github", name: "github", tags: []string{"code", "issues"},
		description: "GitHub's hosted MCP server: repositories, code search, issues and pull requests, with your personal access token.",
		spec: &capability.MCPSpec{
			URL: "https://api.githubcopilot.com/mcp/", Provides: provides, ToolClasses: class, Write: true, Auth: capability.AuthSecret,
			RequiredSecrets: []capability.RequiredSecret{{
				Name: "GITHUB_TOKEN", Description: "A fine-grained personal access token for the repositories that the agent may touch.",
			}},
			Leans: capability.Leans{Serves: []string{"code"}},
		},
	}
}

func dataLab() builtin {
	return builtin{
		id: "python-data-lab", name: "Python data lab", tags: []string{"python", "analysis"},
		description: "A plain Python 3.12 image with a contract for analyses: where input lies, where results go, what to hand over.",
		spec: &capability.EnvironmentSpec{
			Image: "python:3.12-slim-bookworm", Instructions: file("data-lab.md"),
			Preset: json.RawMessage(`{"workDir":"/work","volumes":["/work"],"network":"egress-approved"}`),
		},
	}
}

func worker() builtin {
	return builtin{
		id: "claude-code-worker", name: "Claude Code worker", tags: []string{"delegation", "engineering"},
		description: "A work profile for handing over coding jobs to Claude Code, with a standing brief on branches, tests and hand-over.",
		spec: &capability.DelegationSpec{
			Harness: "claude-code", Image: "node:22-bookworm", WorkDir: "/work",
			Env: map[string]capability.EnvValue{
				"ANTHROPIC_API_KEY": {SecretRef: "ANTHROPIC_API_KEY"},
				"GIT_AUTHOR_NAME":   {Literal: "capstore worker"},
			},
			Instructions: file("worker.md"), InstructionsFile: "CLAUDE.md", TTLSec: 4 * 60 * 60,
		},
	}
}

// SeedFirstParty publishes what ships with capstore under its reserved owner.
// It is called at every start: what is there already stays as it is, and a
// newer binary adds its newer versions.
func (s *Service) SeedFirstParty(ctx context.Context) error {
	err := queries.PutFirstPartyOwner(ctx, s.db, db.PutFirstPartyOwnerParams{Slug: capability.FirstPartyOwner, Name: "capstore"})
	if err != nil {
		return fmt.Errorf("first-party owner: %w", err)
	}
	by := publisher{Actor: capability.Actor{Workspace: capability.FirstPartyOwner}, system: true}
	for _, b := range builtins() {
		d, err := b.publication().check(s.opts.Rules)
		if err != nil {
			return fmt.Errorf("first-party %s: %w", b.id, err)
		}
		_, err = s.publish(ctx, by, d)
		// A newer binary has been here before this one: what it left is good.
		if err != nil && !fault.HasCode(err, "version_exists") && !fault.HasCode(err, "version_not_newer") {
			return fmt.Errorf("first-party %s: %w", b.id, err)
		}
	}
	return nil
}

func (b builtin) publication() Publication {
	version := b.version
	if version == "" {
		version = capability.FirstVersion
	}
	return Publication{
		ID: b.id, Name: b.name, Description: b.description, Spec: capability.EncodeSpec(b.spec), Tags: b.tags,
		Version: version,
	}
}

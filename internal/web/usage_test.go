package web_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
)

// used records a turn that the person's agent ended today, with one call.
func (s *site) used(email, model, cost, tool string) {
	s.t.Helper()
	conversation, turn := uuid.New(), uuid.New()
	_, err := s.db.Exec(s.t.Context(), `INSERT INTO conversations (id, workspace, subject) VALUES ($1, 'acme', $2)`, conversation, s.subject(email))
	must(s.t, err)
	_, err = s.db.Exec(s.t.Context(), `INSERT INTO turns (turn, conversation, workspace, subject, surface, epoch, digest, mode, model, state, server,
			steps, input_tokens, cached_tokens, output_tokens, cost)
		VALUES ($1, $2, 'acme', $3, 'web', 1, '', 'ask', $4, 'failed', $1, 2, 123456, 0, 42, nullif($5, '')::numeric)`,
		turn, conversation, s.subject(email), model, cost)
	must(s.t, err)
	_, err = s.db.Exec(s.t.Context(), `INSERT INTO ledger (conversation, seq, turn, kind, call, payload)
		VALUES ($1, 1, $2, 'tool_result', $2, json_build_object('name', $3::text, 'isError', true, 'durationMs', 1500))`, conversation, turn, tool)
	must(s.t, err)
}

func TestUsagePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(ada).get("/acme/settings/usage").status(200).none("main svg[role=img]")
	s.used(max, "house", "1.5", "code__unit_convert")
	s.used(vera, "", "", "<script>alert(1)</script>")
	page := s.as(ada).get("/acme/settings/usage").status(200)
	if n := page.find("main svg[role=img]").Length(); n != 4 {
		t.Errorf("%d charts", n)
	}
	text := page.text("main")
	for _, want := range []string{"Max", "Vera", "house", "Direct mode", "$1.50", "code__unit_convert", "246,912", "1.5 s", "2 (2 failed)"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	if strings.Contains(page.Body, "<script>alert") {
		t.Error("a tool's name is markup")
	}
	if len(page.Statements) > 6 {
		t.Errorf("%d statements: %q", len(page.Statements), page.Statements)
	}
	page.find("main a[href='/acme/settings/usage?days=7']")
	page.find("main a[href='/acme/settings/usage?days=30&mine=1']")

	own := s.as(max).get("/acme/settings/usage?days=7").status(200)
	own.none("main a[href*='mine=1']")
	if text := own.text("main"); strings.Contains(text, "Vera") || !strings.Contains(text, "code__unit_convert") {
		t.Errorf("a member sees %q", text)
	}
	s.as(ada).get("/acme/settings/usage?mine=1").status(200).none("main svg[role=img]")
	s.as(ada).get("/acme/settings/usage?days=many").status(404)
	s.as(ada).get("/acme/settings/usage?days=12345").status(200)
}

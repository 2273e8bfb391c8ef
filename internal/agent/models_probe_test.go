package agent_test

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"capstore/internal/agent/model/modeltest"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// keyed registers a scripted model that wants the key MODEL_KEY.
func (w *world) keyed(t *testing.T, p workspace.Provider, s *modeltest.Server) {
	t.Helper()
	if _, err := w.ws.RegisterModel(t.Context(), w.admin, workspace.ModelInput{
		Name: "keyed", Provider: p, BaseURL: s.URL, Underlying: "scripted", Secret: "MODEL_KEY",
	}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) setKey(t *testing.T, who capability.Actor, value string, personal bool) {
	t.Helper()
	if _, err := w.sec.Set(t.Context(), who, secret.NewSecret{Name: "MODEL_KEY", Value: secret.NewValue(value), Personal: personal}); err != nil {
		t.Fatal(err)
	}
}

func sentKey(r modeltest.Request) string {
	return cmp.Or(r.Header.Get("X-Api-Key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}

func TestAProbeTakesTheKeyOfWhoAsks(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, p workspace.Provider) {
		w := newWorld(t)
		s := modeltest.New(t, modeltest.Say("ok"), modeltest.Say("ok"))
		w.keyed(t, p, s)
		if err := w.agent.ProbeModel(t.Context(), w.member, "keyed"); !fault.HasCode(err, "model_key_missing") {
			t.Fatalf("without a key: %v", err)
		}
		w.setKey(t, w.admin, "sk-shared-canary", false)
		w.setKey(t, w.member, "sk-own-canary", true)
		for _, who := range []capability.Actor{w.member, w.viewer} {
			if err := w.agent.ProbeModel(t.Context(), who, "keyed"); err != nil {
				t.Fatal(err)
			}
		}
		asked := s.Requests()
		if len(asked) != 2 || sentKey(asked[0]) != "sk-own-canary" || sentKey(asked[1]) != "sk-shared-canary" {
			t.Errorf("keys sent: %d requests", len(asked))
		}
		rows, err := w.db.Query(t.Context(), `SELECT subject::text, target, detail::text FROM audit WHERE action = 'secret.use' ORDER BY id`)
		if err != nil {
			t.Fatal(err)
		}
		var trace []string
		for rows.Next() {
			var subject, target, detail string
			if err := rows.Scan(&subject, &target, &detail); err != nil {
				t.Fatal(err)
			}
			trace = append(trace, fmt.Sprintln(subject == w.member.Subject, target, strings.Contains(detail, "MODEL_KEY"), strings.Contains(detail, "canary")))
		}
		if got := strings.Join(trace, ""); got != "true model:keyed true false\nfalse model:keyed true false\n" {
			t.Errorf("audited: %s", got)
		}
	})
}

func TestAProbeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := modeltest.New(t, modeltest.Refuse(http.StatusUnauthorized, "no such key: sk-shared-canary"))
	w.keyed(t, workspace.ProviderAnthropic, s)
	w.setKey(t, w.admin, "sk-shared-canary", false)
	err := w.agent.ProbeModel(t.Context(), w.member, "keyed")
	if !fault.HasCode(err, "model_unauthorized") || strings.Contains(err.Error(), "canary") {
		t.Errorf("a wrong key: %v", err)
	}
	reader := w.member
	reader.Scope = capability.ScopeRead
	if err := w.agent.ProbeModel(t.Context(), reader, "keyed"); !fault.Is(err, fault.Denied) {
		t.Errorf("a token that reads: %v", err)
	}
	for name, who := range map[string]capability.Actor{"nothing": w.member, "keyed": w.other} {
		if err := w.agent.ProbeModel(t.Context(), who, name); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A private address that the operator did not let through is refused when
	// it is registered, and when it is dialled should it have been let through
	// before.
	w.exec(t, `UPDATE models SET base_url = 'http://127.0.0.2:9/v1', secret = ''`)
	if err := w.agent.ProbeModel(t.Context(), w.member, "keyed"); !fault.HasCode(err, "model_unreachable") {
		t.Errorf("a private address: %v", err)
	}
}

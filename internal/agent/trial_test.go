package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/secret"
)

func specOf(t *testing.T, spec capability.Spec) json.RawMessage {
	t.Helper()
	return capability.EncodeSpec(spec)
}

func codeSpec(code string, secrets ...string) *capability.CodeSpec {
	yes := true
	spec := &capability.CodeSpec{Language: "python", Code: code, ParametersSchema: []byte(`{"type":"object"}`), IsReadOnly: &yes}
	for _, name := range secrets {
		spec.RequiredSecrets = append(spec.RequiredSecrets, capability.RequiredSecret{Name: name})
	}
	return spec
}

func TestATryIsWatchedAndStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.sec.Set(t.Context(), w.member, secret.NewSecret{Name: "KEY", Value: secret.NewValue("canary-77")}); err != nil {
		t.Fatal(err)
	}
	code := "import os, sys\nprint('began', os.environ['KEY'], flush=True)\nsys.stdin.read()\nimport threading\nthreading.Event().wait()"
	id, err := w.agent.StartTry(t.Context(), w.member, agent.TryInput{Spec: specOf(t, codeSpec(code, "KEY", "NONE"))})
	if err != nil {
		t.Fatal(err)
	}
	for {
		seen, err := w.agent.WatchTry(w.member, id)
		if err != nil || seen.Ended() {
			t.Fatalf("ended %v, error %v, %+v", seen.Ended(), err, seen.Result)
		}
		if strings.Contains(seen.Stdout, "canary-77") {
			t.Fatalf("the log holds the secret: %q", seen.Stdout)
		}
		if strings.Contains(seen.Stdout, "began [secret]") {
			if len(seen.MissingSecrets) != 1 || seen.MissingSecrets[0] != "NONE" {
				t.Errorf("missing %v", seen.MissingSecrets)
			}
			break
		}
	}
	for _, stranger := range []capability.Actor{w.admin, w.other, {Workspace: "globex", Subject: w.member.Subject, Role: w.member.Role}} {
		if _, err := w.agent.WatchTry(stranger, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("another one sees it: %v", err)
		}
		if err := w.agent.StopTry(t.Context(), stranger, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("another one stops it: %v", err)
		}
	}
	if err := w.agent.StopTry(t.Context(), w.member, id); err != nil {
		t.Fatal(err)
	}
	seen, err := w.agent.WatchTry(w.member, id)
	if err != nil || !seen.Ended() || !fault.HasCode(seen.Err, "stopped") {
		t.Errorf("%v, ended %v, %v", err, seen.Ended(), seen.Err)
	}
	if err := w.agent.StopTry(t.Context(), w.member, id); err != nil {
		t.Errorf("stopped twice: %v", err)
	}
	if _, err := w.agent.WatchTry(w.member, uuid.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that never was: %v", err)
	}
}

func TestAFewTriesAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waits := agent.TryInput{Spec: specOf(t, codeSpec("import threading\nthreading.Event().wait()"))}
	var began []uuid.UUID
	for {
		id, err := w.agent.StartTry(t.Context(), w.member, waits)
		if fault.HasCode(err, "too_many_tries") {
			break
		}
		if err != nil || len(began) > 10 {
			t.Fatalf("%d began, then %v", len(began), err)
		}
		began = append(began, id)
	}
	if _, err := w.agent.StartTry(t.Context(), w.admin, waits); err != nil {
		t.Errorf("another member waits for it: %v", err)
	}
	if err := w.agent.StopTry(t.Context(), w.member, began[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := w.agent.StartTry(t.Context(), w.member, waits); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

func TestTryingAHook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	hook := &capability.HookSpec{
		Event: capability.EventBeforeTool, Language: "bash",
		Code:  "grep -q wipe && { cat note.txt >&2; exit 2; }\necho fine",
		Files: []capability.File{{Path: "note.txt", Encoding: capability.EncodingBase64, Content: "bm90IGhlcmU="}},
	}
	if err := w.agent.Check(t.Context(), w.member, specOf(t, hook)); err != nil {
		t.Errorf("check: %v", err)
	}
	for event, want := range map[string]agent.Decision{`{"tool":"wipe"}`: agent.HookDeny, `{"tool":"read"}`: agent.HookDeny} {
		got, err := w.agent.Try(t.Context(), w.member, agent.TryInput{Spec: specOf(t, hook), Input: json.RawMessage(event)})
		if err != nil || got.Hook == nil || got.Hook.Decision != want {
			t.Fatalf("%s: %v, %+v", event, err, got)
		}
		if event == `{"tool":"wipe"}` && got.Hook.Reason != "not here" {
			t.Errorf("reason %q", got.Hook.Reason)
		}
		if event == `{"tool":"read"}` && got.Hook.Failure == nil {
			t.Error("text that is no decision counts as an answer")
		}
	}
	hook.Code = "if then"
	if err := w.agent.Check(t.Context(), w.member, specOf(t, hook)); !fault.Is(err, fault.Invalid) {
		t.Errorf("check: %v", err)
	}
	if err := w.agent.Check(t.Context(), w.member, json.RawMessage(`{"type":"command","template":"x"}`)); !fault.Is(err, fault.Invalid) {
		t.Errorf("a command is checked as code: %v", err)
	}
}

func TestADraftServerIsAskedOnce(t *testing.T) {
	t.Parallel()
	const token = "token-draft-canary"
	url, _ := mcpServer(t, token)
	w := newWorld(t)
	spec := &capability.MCPSpec{URL: url, Auth: capability.AuthSecret, RequiredSecrets: []capability.RequiredSecret{{Name: "STUB_TOKEN"}}}
	got, err := w.agent.ProbeDraft(t.Context(), w.member, specOf(t, spec))
	if err != nil || got.Trouble == "" || len(got.MissingSecrets) != 1 {
		t.Fatalf("without the secret: %v, %+v", err, got)
	}
	if _, err := w.sec.Set(t.Context(), w.member, secret.NewSecret{Name: "STUB_TOKEN", Value: secret.NewValue(token)}); err != nil {
		t.Fatal(err)
	}
	got, err = w.agent.ProbeDraft(t.Context(), w.member, specOf(t, spec))
	if err != nil || got.Trouble != "" || len(got.Tools) != 2 || len(got.MissingSecrets) != 0 {
		t.Fatalf("with it: %v, %+v", err, got)
	}
	if _, err := w.agent.ProbeDraft(t.Context(), w.viewer, specOf(t, spec)); !fault.Is(err, fault.Denied) {
		t.Errorf("a viewer: %v", err)
	}
	got, err = w.agent.ProbeDraft(t.Context(), w.member, specOf(t, &capability.MCPSpec{Image: "ghcr.io/acme/x:1"}))
	if err != nil || got.Trouble == "" {
		t.Errorf("an image: %v, %+v", err, got)
	}
	if _, err := w.agent.ProbeDraft(t.Context(), w.member, specOf(t, codeSpec("1"))); !fault.Is(err, fault.Invalid) {
		t.Errorf("code: %v", err)
	}
}

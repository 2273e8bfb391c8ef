package agent_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"capstore/internal/agent"
	"capstore/internal/capability"
	"capstore/internal/registry"
	"capstore/internal/workspace"
)

// call is a request of the member's in a conversation of its own.
func (w *world) call(t testing.TB, name, arguments string) agent.Request {
	t.Helper()
	return agent.Request{
		Actor: w.member, Conversation: w.conversation(t), Turn: uuid.New(), Name: name, Arguments: json.RawMessage(arguments),
		Caller: agent.CallerModel, Mode: capability.ModeBypass,
	}
}

// A skill that was switched off gives neither its text nor a file, whatever the
// turn bound; one that was merely edited is read as it was bound.
func TestARevokedSkillIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.skill(t, w.member, "plan", "# Plan", capability.File{Path: "a.md", Content: "Beside it.\n"})
	s := w.server(t, serverOptions{poll: never})
	snap, err := s.agent.Bind(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	entry, ok := snap.Skill("plan")
	if !ok {
		t.Fatal("the skill is not carried")
	}
	calls := map[string]string{agent.UseSkill: `{"name":"plan"}`, agent.ReadSkillFile: `{"name":"plan","path":"a.md"}`}
	say := func(want string) {
		t.Helper()
		for name, arguments := range calls {
			if got, err := s.agent.Call(t.Context(), snap, w.call(t, name, arguments)); err != nil || got.Code != want {
				t.Errorf("%s: %+v, %v, want %q", name, got, err, want)
			}
		}
	}
	say("")
	off := false
	if _, err := w.ws.SetSwitch(t.Context(), w.member, entry.Row.Key, &off); err != nil {
		t.Fatal(err)
	}
	say(workspace.RevokedSwitch)
}

// A call whose authority cannot be asked for does not start, and neither does
// one of a token that may not run anything.
func TestWhatCannotBeCheckedDoesNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.code(t, w.member, "echo", echo, nil)
	s := w.server(t, serverOptions{blind: true})
	snap, err := s.agent.Bind(t.Context(), w.member)
	if err != nil {
		t.Fatal(err)
	}
	narrow := w.call(t, "code__echo", `{}`)
	narrow.Actor.Scope = capability.ScopeRead
	if got, err := s.agent.Call(t.Context(), snap, narrow); err != nil || got.Code != "scope_too_narrow" {
		t.Errorf("by a token that reads: %+v, %v", got, err)
	}
	late := w.call(t, "code__echo", `{}`)
	s.db.Close()
	if got, err := s.agent.Call(t.Context(), snap, late); err == nil && !got.IsError {
		t.Errorf("without a database: %+v", got)
	}
	for _, req := range []agent.Request{narrow, late} {
		for _, e := range w.ledger(t, w.member, req.Conversation) {
			if e.Kind == agent.EntryToolCall {
				t.Errorf("it started: %s", e.Payload)
			}
		}
	}
}

// The law: in the order in which things commit, no call starts while what it
// calls is switched off. A row that both kinds of transaction write last tells
// the order, since its lock is held until the commit.
func TestNoCallStartsAfterARevocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.skill(t, w.member, "plan", "# Plan")
	for _, sql := range []string{
		`CREATE TABLE tick (n bigint NOT NULL)`, `INSERT INTO tick VALUES (0)`,
		`CREATE TABLE happened (n bigint PRIMARY KEY, allowed boolean)`, // NULL: a call started
		`CREATE FUNCTION switched() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE at bigint; BEGIN
			UPDATE tick SET n = n + 1 RETURNING n INTO at; INSERT INTO happened VALUES (at, NEW.enabled); RETURN NEW; END $$`,
		`CREATE FUNCTION started() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE at bigint; BEGIN
			UPDATE tick SET n = n + 1 RETURNING n INTO at; INSERT INTO happened VALUES (at, NULL); RETURN NEW; END $$`,
		`CREATE TRIGGER switched AFTER INSERT OR UPDATE ON overlays FOR EACH ROW EXECUTE FUNCTION switched()`,
		`CREATE TRIGGER started AFTER INSERT ON ledger FOR EACH ROW WHEN (NEW.kind = 'tool_call') EXECUTE FUNCTION started()`,
	} {
		w.exec(t, sql)
	}
	servers := []*server{w.server(t, serverOptions{blind: true}), w.server(t, serverOptions{poll: 5 * time.Millisecond})}
	var snaps []*registry.Snapshot
	for _, s := range servers {
		snap, err := s.agent.Bind(t.Context(), w.member)
		if err != nil {
			t.Fatal(err)
		}
		snaps = append(snaps, snap)
	}
	entry, _ := snaps[0].Skill("plan")
	var callers sync.WaitGroup
	over := make(chan struct{})
	for i := range 6 {
		callers.Go(func() {
			req := w.call(t, agent.UseSkill, `{"name":"plan"}`)
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				req.Ref = fmt.Sprint(n)
				got, err := servers[i%2].agent.Call(t.Context(), snaps[i%2], req)
				// The last is of a call that had started before: it was ended.
				if err != nil || !slices.Contains([]string{"", workspace.RevokedSwitch, "revoked_while_running"}, got.Code) {
					t.Errorf("%+v, %v", got, err)
					return
				}
			}
		})
	}
	for i := range 40 {
		on := i%2 == 1
		if _, err := w.ws.SetSwitch(t.Context(), w.member, entry.Row.Key, &on); err != nil {
			t.Fatal(err)
		}
	}
	close(over)
	callers.Wait()
	var started, wrong int
	if err := w.db.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE NOT allowed_then) FROM (
		SELECT coalesce((SELECT b.allowed FROM happened b WHERE b.n < a.n AND b.allowed IS NOT NULL ORDER BY b.n DESC LIMIT 1), true) AS allowed_then
		FROM happened a WHERE a.allowed IS NULL) calls`).Scan(&started, &wrong); err != nil {
		t.Fatal(err)
	}
	if started == 0 || wrong > 0 {
		t.Errorf("%d calls started, %d of them while it was off", started, wrong)
	}
}

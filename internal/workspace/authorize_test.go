package workspace_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/workspace"
)

// full is a code tool that uses every right there is.
func full(s *capability.CodeSpec) {
	writes(s)
	needs("KEY")(s)
	s.Egress = []string{"api.example.com"}
}

// edited is full with another text, and so another digest.
func edited(s *capability.CodeSpec) {
	full(s)
	s.Code = "print(2)"
}

// carriedTool adopts a foreign code tool that writes and needs a secret, and
// returns the member's call of it.
func carriedTool(t testing.TB, b *bundle) (catalog.VersionInfo, workspace.Call) {
	t.Helper()
	yes := true
	v := b.publish(t, b.boss, public, code("Tool", full), "")
	in := adopt(v)
	in.EnableWrite, in.SecretBindings, in.Egress = &yes, map[string]string{"KEY": "K"}, []string{"api.example.com"}
	b.adopted(t, b.member, in)
	b.secret(t, b.admin, "", "K")
	r := b.row(t, b.member, keyOf(v))
	if !r.Enabled {
		t.Fatalf("the tool is not carried: %s", r.Reason)
	}
	return v, r.Call(r.Functions[0])
}

// Every way in which a right is withdrawn refuses the very next call, although
// the turn's snapshot still lists the tool.
func TestEveryRevocationRefusesTheNextCall(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		revoke func(t *testing.T, b *bundle, v catalog.VersionInfo)
		code   string
	}{
		{"nothing", func(*testing.T, *bundle, catalog.VersionInfo) {}, ""},
		{"un-adopted", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			_, err := b.ws.Unadopt(t.Context(), b.admin, v.Source, v.ID)
			wantCode(t, err, "")
		}, workspace.RevokedAdoption},
		{"un-adopted, though the member had switched it on", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.set(t, b.member, keyOf(v), true)
			_, err := b.ws.Unadopt(t.Context(), b.admin, v.Source, v.ID)
			wantCode(t, err, "")
		}, workspace.RevokedAdoption},
		{"switched off", func(t *testing.T, b *bundle, v catalog.VersionInfo) { b.set(t, b.member, keyOf(v), false) }, workspace.RevokedSwitch},
		{"another member's switch", func(t *testing.T, b *bundle, v catalog.VersionInfo) { b.set(t, b.viewer, keyOf(v), false) }, ""},
		{"tombstoned", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			wantCode(t, b.store.Delete(t.Context(), b.boss, v.Source, v.ID), "")
		}, workspace.RevokedGone},
		{"reach withdrawn", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.exec(t, `UPDATE capabilities SET reach = 'workspace'`)
		}, workspace.RevokedGone},
		{"dropped from the subset", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.exec(t, `UPDATE capabilities SET reach = 'subset', shared_with = '{initech}'`)
		}, workspace.RevokedGone},
		{"still in the subset", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.exec(t, `UPDATE capabilities SET reach = 'subset', shared_with = '{initech,acme}'`)
		}, ""},
		{"blocked", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			wantCode(t, b.store.Block(t.Context(), b.boss, v.Source, v.ID, v.Version, "leaks"), "")
		}, workspace.RevokedBlocked},
		{"withdrawn keeps resolving", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			wantCode(t, b.store.Withdraw(t.Context(), b.boss, v.Source, v.ID, v.Version), "")
		}, ""},
		{"secret removed", func(t *testing.T, b *bundle, v catalog.VersionInfo) { b.exec(t, `DELETE FROM secrets`) }, workspace.RevokedSecret},
		{"secret bound otherwise", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			_, err := b.ws.BindSecrets(t.Context(), b.admin, keyOf(v), map[string]string{"KEY": "OTHER"})
			wantCode(t, err, "")
		}, workspace.RevokedSecret},
		{"own secret stands in", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.exec(t, `DELETE FROM secrets`)
			b.secret(t, b.member, b.member.Subject, "K")
		}, ""},
		{"somebody else's secret does not", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.exec(t, `DELETE FROM secrets`)
			b.secret(t, b.admin, b.admin.Subject, "K")
		}, workspace.RevokedSecret},
		{"policy", func(t *testing.T, b *bundle, v catalog.VersionInfo) { b.deny(t, "code__*") }, workspace.RevokedPolicy},
		{"policy on another", func(t *testing.T, b *bundle, v catalog.VersionInfo) { b.deny(t, "mcp__*") }, ""},
		{"write opt-in withdrawn", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			no := false
			in := adopt(v)
			in.EnableWrite = &no
			b.adopted(t, b.admin, in)
		}, workspace.RevokedWrite},
		{"write narrowed to another tool", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			in := adopt(v)
			in.WriteTools = []string{"something_else"}
			b.adopted(t, b.admin, in)
		}, workspace.RevokedWrite},
		{"egress withdrawn", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			in := adopt(v)
			in.Egress = []string{}
			b.adopted(t, b.admin, in)
		}, workspace.RevokedEgress},
		{"consent gone", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.exec(t, `UPDATE adoptions SET consented = '{}'`)
		}, workspace.RevokedConsent},
		{"membership ended", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.exec(t, `DELETE FROM memberships WHERE subject = $1`, b.member.Subject)
		}, workspace.RevokedMembership},
		{"re-pinned", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			yes := true
			in := adopt(b.publish(t, b.boss, "", code("Tool", edited), ""))
			in.EnableWrite = &yes
			b.adopted(t, b.admin, in)
		}, ""},
		{"re-pinned, the former version blocked", func(t *testing.T, b *bundle, v catalog.VersionInfo) {
			b.adopted(t, b.admin, adopt(b.publish(t, b.boss, "", code("Tool", edited), "")))
			b.exec(t, `UPDATE capability_versions SET blocked_at = now() WHERE version = '1.0.0'`)
		}, workspace.RevokedBlocked},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			v, call := carriedTool(t, b)
			c.revoke(t, b, v)
			err := b.authorize(t, b.member, call)
			f := wantCode(t, err, c.code)
			if err != nil && f.Kind != fault.Revoked {
				t.Errorf("kind %s", f.Kind)
			}
		})
	}
}

func (b *bundle) deny(t *testing.T, match string) {
	t.Helper()
	_, err := b.ws.Change(t.Context(), b.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.Policy = []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: match}}
		return nil
	})
	wantCode(t, err, "")
}

func TestCallsThatWereNeverGranted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, call := carriedTool(t, b)
	change := func(fn func(*workspace.Call)) workspace.Call { c := call; fn(&c); return c }
	reading := capability.Actor{Workspace: "acme", Subject: b.member.Subject, Role: capability.RoleMember, Scope: capability.ScopeWrite}
	elsewhere := capability.Actor{Workspace: "globex", Subject: b.member.Subject, Role: capability.RoleAdmin}
	cases := []struct {
		name  string
		actor capability.Actor
		call  workspace.Call
		kind  fault.Kind
		code  string
	}{
		{"a token that only writes", reading, call, fault.Denied, "scope_too_narrow"},
		{"no member there", elsewhere, call, fault.Revoked, workspace.RevokedMembership},
		{"nobody", capability.Actor{}, call, fault.Revoked, workspace.RevokedMembership},
		{"another digest", b.member, change(func(c *workspace.Call) { c.Digest = "sha256:0" }), fault.Revoked, workspace.RevokedDigest},
		{"another version", b.member, change(func(c *workspace.Call) { c.Version = "7.0.0" }), fault.Revoked, workspace.RevokedDigest},
		{"a key of one thing with the pin of another", b.member, change(func(c *workspace.Call) { c.Key = capability.CapabilityKey("acme", "x") }), fault.Revoked, workspace.RevokedGone},
		{"no key", b.member, change(func(c *workspace.Call) { c.Key = "Tool" }), fault.Revoked, workspace.RevokedGone},
		{"an unknown server", b.member, workspace.Call{Key: capability.RawServerKey("x")}, fault.Revoked, workspace.RevokedServer},
		{"an unknown default", b.member, workspace.Call{Key: capability.DefaultKey("x")}, fault.Revoked, workspace.RevokedGone},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := b.authorize(t, c.actor, c.call)
			if f := wantCode(t, err, c.code); f.Kind != c.kind {
				t.Errorf("kind %s", f.Kind)
			}
		})
	}
}

func TestAuthorizeOtherKindsOfRows(t *testing.T) {
	t.Parallel()
	b := setup(t)
	servers := func(list ...capability.RawServer) {
		_, err := b.ws.Change(t.Context(), b.member, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
			c.MCPServers = list
			return nil
		})
		wantCode(t, err, "")
	}
	wiki := capability.RawServer{Name: "wiki", URL: "https://wiki.example.com/mcp"}
	servers(wiki)
	raw := b.row(t, b.member, capability.RawServerKey("wiki")).Call(workspace.Function{Raw: "read_page"})
	wantCode(t, b.authorize(t, b.member, raw), "")
	writing := raw
	writing.Write = true
	wantCode(t, b.authorize(t, b.member, writing), workspace.RevokedWrite)
	wiki.URL = "https://elsewhere.example.com/mcp"
	servers(wiki)
	wantCode(t, b.authorize(t, b.member, raw), workspace.RevokedServerEntry)
	servers()
	wantCode(t, b.authorize(t, b.member, raw), workspace.RevokedServer)

	s, err := b.ws.CreateSkill(t.Context(), b.member, skillInput("Skill", "Text."))
	wantCode(t, err, "")
	skill := b.row(t, b.member, s.Key()).Call(workspace.Function{})
	wantCode(t, b.authorize(t, b.member, skill), "")
	b.set(t, b.viewer, s.Key(), false)
	wantCode(t, b.authorize(t, b.viewer, skill), workspace.RevokedSwitch)
	wantCode(t, b.ws.DeleteSkill(t.Context(), b.member, s.ID, 0), "")
	wantCode(t, b.authorize(t, b.member, skill), "") // waits for the next turn
	draft, err := b.ws.CreateSkill(t.Context(), b.admin, draftInput("Skill", "Hidden."))
	wantCode(t, err, "")
	wantCode(t, b.authorize(t, b.member, workspace.Call{Key: draft.Key()}), workspace.RevokedGone)

	b.secret(t, b.admin, "", "SEARCH_KEY")
	r := b.row(t, b.member, capability.DefaultKey("web_search"))
	builtin := r.Call(r.Functions[0])
	wantCode(t, b.authorize(t, b.member, builtin), "")
	_, err = b.ws.Change(t.Context(), b.member, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
		c.DisabledDefaults = []string{"web_search"}
		return nil
	})
	wantCode(t, err, "")
	wantCode(t, b.authorize(t, b.member, builtin), workspace.RevokedSwitch)
}

func TestAuthorizeWhatAMemberSwitchedOnHimself(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.member, within, code("Tool", writes), "")
	for _, actor := range []capability.Actor{b.member, b.viewer} {
		b.set(t, actor, keyOf(v), true)
	}
	r := b.row(t, b.member, keyOf(v))
	call := r.Call(r.Functions[0])
	wantCode(t, b.authorize(t, b.member, call), "")
	wantCode(t, b.authorize(t, b.viewer, call), workspace.RevokedWrite)
	wantCode(t, b.authorize(t, b.admin, call), workspace.RevokedAdoption)
	_, err := b.ws.SetSwitch(t.Context(), b.member, keyOf(v), nil)
	wantCode(t, err, "")
	wantCode(t, b.authorize(t, b.member, call), workspace.RevokedAdoption)
}

func TestRequiredHookRunsWhateverTheSwitchSays(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, hook("Guard", capability.FailClosed), "")
	b.adopted(t, b.member, adopt(v))
	b.exec(t, `INSERT INTO overlays (workspace, subject, key, enabled) VALUES ('acme', $1, $2, false)`, b.member.Subject, string(keyOf(v)))
	wantCode(t, b.authorize(t, b.member, b.row(t, b.member, keyOf(v)).Call(workspace.Function{})), "")
}

func TestAuthorizeIsOneStatement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, call := carriedTool(t, b)
	wantCode(t, b.authorize(t, b.member, call), "")
	err := b.inTx(t, func(tx pgx.Tx) {
		ctx, counter := pg.Counted(t.Context())
		wantCode(t, b.ws.Authorize(ctx, tx, b.member, call), "")
		if counter.Count() != 1 {
			t.Errorf("%d statements", counter.Count())
		}
	})
	wantCode(t, err, "")
}

func TestCheckThatCannotBeMadeRefuses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, call := carriedTool(t, b)
	tx, err := b.db.Begin(t.Context())
	wantCode(t, err, "")
	wantCode(t, errors.Join(tx.Rollback(t.Context())), "")
	if f := wantCode(t, b.ws.Authorize(t.Context(), tx, b.member, call), "authorization_unavailable"); f.Kind != fault.Unavailable {
		t.Errorf("kind %s", f.Kind)
	}
}

// No call starts after a revocation has committed: whoever of the two commits
// first, the order that the database saw is the order that holds. The calls
// write their start in the transaction of the check; the revocations write
// theirs in the transaction that revokes.
func TestNoCallStartsAfterARevocation(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		revoke func(ctx context.Context, b *bundle, v catalog.VersionInfo) error
	}{
		{"un-adopted", func(ctx context.Context, b *bundle, v catalog.VersionInfo) error {
			_, err := b.ws.Unadopt(ctx, b.admin, v.Source, v.ID)
			return err
		}},
		{"switched off for the first time", func(ctx context.Context, b *bundle, v catalog.VersionInfo) error {
			off := false
			_, err := b.ws.SetSwitch(ctx, b.member, keyOf(v), &off)
			return err
		}},
		{"policy", func(ctx context.Context, b *bundle, v catalog.VersionInfo) error {
			_, err := b.ws.Change(ctx, b.admin, workspace.AnyVersion, "", func(c *capability.AgentConfig) error {
				c.Policy = []capability.PolicyRule{{Effect: capability.PolicyDeny, Match: "*"}}
				return nil
			})
			return err
		}},
		{"blocked", func(ctx context.Context, b *bundle, v catalog.VersionInfo) error {
			return b.store.Block(ctx, b.boss, v.Source, v.ID, v.Version, "leaks")
		}},
		{"tombstoned", func(ctx context.Context, b *bundle, v catalog.VersionInfo) error {
			return b.store.Delete(ctx, b.boss, v.Source, v.ID)
		}},
		{"membership ended", func(ctx context.Context, b *bundle, v catalog.VersionInfo) error {
			_, err := b.db.Exec(ctx, `DELETE FROM memberships WHERE subject = $1`, b.member.Subject)
			return err
		}},
		{"secret removed", func(ctx context.Context, b *bundle, v catalog.VersionInfo) error {
			_, err := b.db.Exec(ctx, `DELETE FROM secrets`)
			return err
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			v, call := carriedTool(t, b)
			// A call that has begun holds the revocation back until it commits.
			started, release := make(chan struct{}), make(chan struct{})
			var order []string
			var mu sync.Mutex
			note := func(what string) { mu.Lock(); order = append(order, what); mu.Unlock() }
			var wg sync.WaitGroup
			wg.Go(func() {
				err := b.db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
					if err := b.ws.Authorize(ctx, tx, b.member, call); err != nil {
						return err
					}
					close(started)
					<-release
					note("started")
					return nil
				})
				if err != nil {
					t.Errorf("the call that came first: %v", err)
				}
			})
			<-started
			wg.Go(func() {
				if err := c.revoke(t.Context(), b, v); err != nil {
					t.Error(err)
				}
				note("revoked")
			})
			b.untilSomebodyWaits(t)
			close(release)
			wg.Wait()
			if len(order) != 2 || order[0] != "started" {
				t.Errorf("order %v", order)
			}
			if err := b.authorize(t, b.member, call); !fault.Is(err, fault.Revoked) {
				t.Errorf("after the revocation: %v", err)
			}
		})
	}
}

// untilSomebodyWaits returns once a backend of this database waits for a lock.
func (b *bundle) untilSomebodyWaits(t testing.TB) {
	t.Helper()
	const waiting = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
	for waits := false; !waits; runtime.Gosched() {
		if err := b.db.QueryRow(t.Context(), waiting).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
}

// The other way round: a check that meets a revocation under way waits for it
// and sees it, the first switch of a key included, of which no row was there
// to lock.
func TestCheckWaitsForARevocationUnderWay(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"switched off": {
			`UPDATE memberships SET overlay_revision = overlay_revision + 1 WHERE subject = $1`,
			`INSERT INTO overlays (workspace, subject, key, enabled) SELECT 'acme', $1, 'capability:globex/tool', false`,
		},
		"un-adopted": {
			`UPDATE workspaces SET config_version = config_version + 1 WHERE slug = 'acme' AND $1 <> ''`,
			`INSERT INTO agent_configs (workspace, version, config) SELECT 'acme', config_version, '{}' FROM workspaces WHERE slug = 'acme' AND $1 <> ''`,
			`DELETE FROM adoptions WHERE $1 <> ''`,
		},
		"blocked":      {`UPDATE capability_versions SET blocked_at = now() WHERE $1 <> ''`},
		"tombstoned":   {`UPDATE capabilities SET tombstoned_at = now() WHERE $1 <> ''`},
		"no secret":    {`DELETE FROM secrets WHERE $1 <> ''`},
		"no member":    {`DELETE FROM memberships WHERE subject = $1::uuid`},
		"switched row": {`UPDATE adoptions SET consented = '{}' WHERE $1 <> ''`},
	}
	for name, statements := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			_, call := carriedTool(t, b)
			tx, err := b.db.Begin(t.Context())
			wantCode(t, err, "")
			for _, sql := range statements {
				if _, err := tx.Exec(t.Context(), sql, b.member.Subject); err != nil {
					t.Fatalf("%s: %v", sql, err)
				}
			}
			answer := make(chan error, 1)
			go func() {
				answer <- b.db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
					return b.ws.Authorize(ctx, tx, b.member, call)
				})
			}()
			b.untilSomebodyWaits(t)
			wantCode(t, tx.Commit(t.Context()), "")
			if err := <-answer; !fault.Is(err, fault.Revoked) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A tool that nobody classified writes, whatever the runtime calls it.
func TestUnclassifiedToolsWrite(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.publish(t, b.boss, public, mcp("S", map[string]capability.ToolClass{"get": "read"}), "")
	b.adopted(t, b.member, adopt(v))
	r := b.row(t, b.member, keyOf(v))
	for tool, code := range map[string]string{"get": "", "GET": workspace.RevokedWrite, "drop": workspace.RevokedWrite, "": workspace.RevokedWrite} {
		err := b.authorize(t, b.member, r.Call(workspace.Function{Raw: tool}))
		if fault.HasCode(err, code) != (code != "") || (err == nil) != (code == "") {
			t.Errorf("%q: %v", tool, err)
		}
	}
}

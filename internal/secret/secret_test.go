package secret_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/pg"
	"capstore/internal/secret"
)

func TestResolvePrefersOnesOwn(t *testing.T) {
	t.Parallel()
	v := build(t)
	v.set(t, v.member, "API_KEY", "the workspace's")
	v.set(t, v.member, "SHARED", "shared")
	v.setOwn(t, v.viewer, "API_KEY", "the viewer's own")
	v.setOwn(t, v.other, "PRIVATE", "another's own")

	ctx, counter := pg.Counted(t.Context())
	got, missing := reveal(t, ctx, v.secrets, v.viewer, "SHARED", "API_KEY", "PRIVATE", "ABSENT", "ABSENT")
	if diff := cmp.Diff(map[string]string{"API_KEY": "the viewer's own", "SHARED": "shared"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ABSENT", "PRIVATE"}, missing); diff != "" {
		t.Error(diff)
	}
	if n := counter.Count(); n != 1 {
		t.Errorf("%d statements, want 1", n)
	}
	got, _ = reveal(t, t.Context(), v.secrets, v.member, "API_KEY")
	if got["API_KEY"] != "the workspace's" {
		t.Errorf("a member without an own one gets %q", got)
	}
}

func TestOutsidersResolveAndListNothing(t *testing.T) {
	t.Parallel()
	v := build(t)
	v.set(t, v.member, "API_KEY", canary)
	forged := v.alien
	forged.Workspace = "acme"
	got, missing := reveal(t, t.Context(), v.secrets, forged, "API_KEY")
	if len(got) != 0 || !cmp.Equal(missing, []string{"API_KEY"}) {
		t.Errorf("got %v, missing %v", got, missing)
	}
	if list, err := v.secrets.List(t.Context(), forged); err != nil || len(list) != 0 {
		t.Errorf("got %+v, %v", list, err)
	}
	if got, missing := reveal(t, t.Context(), v.secrets, v.alien, "API_KEY"); len(got) != 0 || len(missing) != 1 {
		t.Errorf("in his own workspace: %v", got)
	}
}

func TestListTellsEverythingButValues(t *testing.T) {
	t.Parallel()
	v := build(t)
	v.set(t, v.member, "B_KEY", canary)
	v.set(t, v.other, "A_KEY", canary)
	v.setOwn(t, v.member, "B_KEY", canary)
	v.setOwn(t, v.other, "C_KEY", canary)
	v.set(t, v.member, "B_KEY", canary+"2")
	list, err := v.secrets.List(t.Context(), v.member)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Name                string
		Personal, MayChange bool
		Revision            int64
		CreatedBy           string
	}
	var got []row
	for _, i := range list {
		got = append(got, row{i.Name, i.Personal, i.MayChange, i.Revision, i.CreatedBy})
	}
	want := []row{
		{"A_KEY", false, false, 1, v.other.Subject},
		{"B_KEY", true, true, 1, v.member.Subject},
		{"B_KEY", false, true, 2, v.member.Subject},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhoMaySetAndDelete(t *testing.T) {
	t.Parallel()
	readOnly := func(a capability.Actor) capability.Actor { a.Scope = capability.ScopeRead; return a }
	for name, c := range map[string]struct {
		actor    func(v *vault) capability.Actor
		personal bool
		name     string
		code     string // "" when it is allowed
	}{
		"member makes":               {func(v *vault) capability.Actor { return v.member }, false, "NEW", ""},
		"viewer makes":               {func(v *vault) capability.Actor { return v.viewer }, false, "NEW", "role_too_low"},
		"member replaces his":        {func(v *vault) capability.Actor { return v.member }, false, "TAKEN", ""},
		"member replaces another's":  {func(v *vault) capability.Actor { return v.other }, false, "TAKEN", "not_owner"},
		"admin replaces another's":   {func(v *vault) capability.Actor { return v.admin }, false, "TAKEN", ""},
		"viewer's own":               {func(v *vault) capability.Actor { return v.viewer }, true, "TAKEN", ""},
		"own beside the workspace's": {func(v *vault) capability.Actor { return v.other }, true, "TAKEN", ""},
		"by a reading token":         {func(v *vault) capability.Actor { return readOnly(v.member) }, false, "NEW", "scope_too_narrow"},
		"own by a reading token":     {func(v *vault) capability.Actor { return readOnly(v.member) }, true, "NEW", "scope_too_narrow"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := build(t)
			v.set(t, v.member, "TAKEN", canary)
			actor := c.actor(v)
			_, err := v.secrets.Set(t.Context(), actor, secret.NewSecret{Name: c.name, Value: secret.NewValue("next"), Personal: c.personal})
			if c.code != "" {
				wantCode(t, err, c.code)
				if c.name == "TAKEN" {
					wantCode(t, v.secrets.Delete(t.Context(), actor, c.name, c.personal), c.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := reveal(t, t.Context(), v.secrets, actor, c.name); got[c.name] != "next" {
				t.Errorf("got %q", got)
			}
			if err := v.secrets.Delete(t.Context(), actor, c.name, c.personal); err != nil {
				t.Fatal(err)
			}
			wantCode(t, v.secrets.Delete(t.Context(), actor, c.name, c.personal), "not_found")
		})
	}
}

func TestSecretInput(t *testing.T) {
	t.Parallel()
	v := build(t)
	set := func(name, value string) (secret.Stored, error) {
		return v.secrets.Set(t.Context(), v.member, secret.NewSecret{Name: name, Value: secret.NewValue(value)})
	}
	for name, c := range map[string]struct{ name, value, path, code string }{
		"no name":        {"", "x", "/name", "bad_name"},
		"small letters":  {"api_key", "x", "/name", "bad_name"},
		"digit first":    {"1KEY", "x", "/name", "bad_name"},
		"header in name": {"K\r\nX", "x", "/name", "bad_name"},
		"no value":       {"KEY", "", "/value", "required"},
		"only a newline": {"KEY", "\r\n", "/value", "required"},
		"only spaces":    {"KEY", "  ", "/value", "required"},
		"NUL":            {"KEY", "a\x00b", "/value", "control_characters"},
		"escape":         {"KEY", "a\x1bb", "/value", "control_characters"},
		"bytes":          {"KEY", "a\xffb", "/value", "bad_text"},
		"too long":       {"KEY", strings.Repeat("x", 64<<10+1), "/value", "too_long"},
	} {
		_, err := set(c.name, c.value)
		if err != nil && c.value != "" && strings.Contains(err.Error(), c.value) && len(c.value) > 2 {
			t.Errorf("%s: the fault tells the value", name)
		}
		wantField(t, err, c.path, c.code)
	}
	pem := "-----BEGIN KEY-----\nabc\n-----END KEY-----\n"
	for name, c := range map[string]struct {
		value, stored string
		notices       []secret.Notice
	}{
		"plain":         {"tok", "tok", nil},
		"pasted":        {"tok\n", "tok", []secret.Notice{secret.NoticeTrimmed}},
		"from Windows":  {"tok\r\n", "tok", []secret.Notice{secret.NoticeTrimmed}},
		"spaced":        {" tok", " tok", []secret.Notice{secret.NoticeSpaces}},
		"several lines": {pem, pem, []secret.Notice{secret.NoticeNotForHeaders}},
		"Korean":        {"비밀", "비밀", []secret.Notice{secret.NoticeNotForHeaders}},
		"longest":       {strings.Repeat("x", 64<<10), strings.Repeat("x", 64<<10), nil},
	} {
		set, err := set("KEY", c.value)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.notices, set.Notices); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if got, _ := reveal(t, t.Context(), v.secrets, v.member, "KEY"); got["KEY"] != c.stored {
			t.Errorf("%s: stored %q", name, got["KEY"])
		}
	}
}

func TestManyMakersOfOneName(t *testing.T) {
	t.Parallel()
	v := build(t)
	var wg sync.WaitGroup
	errs := make(chan error, 10)
	for i := range cap(errs) {
		actor := v.member
		if i%2 == 1 {
			actor = v.other
		}
		wg.Go(func() {
			_, err := v.secrets.Set(t.Context(), actor, secret.NewSecret{Name: "KEY", Value: secret.NewValue("x" + actor.Subject)})
			errs <- err
		})
	}
	wg.Wait()
	close(errs)
	won := 0
	for err := range errs {
		if err == nil {
			won++
		} else if !fault.HasCode(err, "not_owner") {
			t.Error(err)
		}
	}
	list, err := v.secrets.List(t.Context(), v.admin)
	if err != nil || won != 5 || len(list) != 1 || list[0].Revision != 5 {
		t.Errorf("%d won, %+v, %v; want the first maker's five", won, list, err)
	}
}

// The value is nowhere but in the ciphertext, and every mutation left a trace
// and a hint.
func TestNothingTellsTheValue(t *testing.T) {
	t.Parallel()
	v := build(t)
	v.set(t, v.member, "KEY", canary)
	v.set(t, v.member, "KEY", canary)
	v.setOwn(t, v.member, "KEY", canary)
	err := v.db.Tx(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		return secret.Used(ctx, tx, v.member, "code__tidy", []string{"KEY"})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.secrets.Delete(t.Context(), v.member, "KEY", false); err != nil {
		t.Fatal(err)
	}
	var actions, changes []string
	var dump string
	err = v.db.QueryRow(t.Context(), `SELECT (SELECT array_agg(action ORDER BY id) FROM audit), (SELECT array_agg(key ORDER BY id) FROM changes WHERE topic = 'secrets'),
		(SELECT json_agg(a) FROM audit a)::text || (SELECT json_agg(c) FROM changes c)::text || (SELECT json_agg(s) FROM secrets s)::text`).Scan(&actions, &changes, &dump)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"secret.create", "secret.replace", "secret.create", "secret.use", "secret.delete"}, actions); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"", "", v.member.Subject, ""}, changes); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(dump, canary) {
		t.Error("the value is in the database in the clear")
	}
}

func TestCiphertextIsBoundToItsRow(t *testing.T) {
	t.Parallel()
	v := build(t)
	v.set(t, v.member, "A_KEY", "a")
	v.set(t, v.member, "B_KEY", "b")
	_, err := v.db.Exec(t.Context(), `UPDATE secrets SET ciphertext = (SELECT ciphertext FROM secrets WHERE name = 'A_KEY') WHERE name = 'B_KEY'`)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = v.secrets.Resolve(t.Context(), "acme", v.member.Subject, []string{"B_KEY"})
	wantCode(t, err, "secret_key_wrong")
}

// Of two people who add the same secret, the second one hears of the first.
func TestANewSecretReplacesNothing(t *testing.T) {
	t.Parallel()
	v := build(t)
	var wg sync.WaitGroup
	results := make(chan error, 10)
	for i := range cap(results) {
		wg.Go(func() {
			in := secret.NewSecret{Name: "KEY", Value: secret.NewValue(strings.Repeat("x", i+1)), New: true}
			set, err := v.secrets.Set(t.Context(), v.admin, in)
			if err == nil && (set.Revision != 1 || !set.MayChange || set.CreatedBy != v.admin.Subject) {
				t.Errorf("stored %+v", set)
			}
			results <- err
		})
	}
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		if err == nil {
			won++
			continue
		}
		wantCode(t, err, "secret_taken")
		wantField(t, err, "/name", "secret_taken")
	}
	if won != 1 {
		t.Errorf("%d were stored, want 1", won)
	}
	v.setOwn(t, v.admin, "KEY", "one's own of the name is another secret")
}

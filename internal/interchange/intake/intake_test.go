package intake_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/interchange"
	"capstore/internal/interchange/intake"
	"capstore/internal/netguard"
	"capstore/internal/pg"
	"capstore/internal/pg/pgtest"
	"capstore/internal/secret"
)

// house is a store with one workspace, its admin and a member.
type house struct {
	t     *testing.T
	db    *pg.DB
	store *catalog.Service
	ada   capability.Actor
	max   capability.Actor
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, db: pgtest.New(t)}
	h.store = catalog.New(h.db, catalog.Options{})
	people := identity.New(h.db)
	must(t, people.EnsureWorkspace(t.Context(), "acme", "Acme"))
	actor := func(email string, role capability.Role) capability.Actor {
		u, err := people.EnsureUser(t.Context(), identity.NewUser{Email: email, Name: email})
		must(t, err)
		must(t, people.EnsureMember(t.Context(), "acme", u.Subject, role))
		who, err := people.PrincipalOf(t.Context(), u.Subject, "acme")
		must(t, err)
		return who.Actor()
	}
	h.ada, h.max = actor("ada@acme.test", capability.RoleAdmin), actor("max@acme.test", capability.RoleMember)
	return h
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func skill(name, text string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + ".\n---\n\n" + text + "\n"
}

// folder is an import of files.
func folder(t *testing.T, files map[string]string) interchange.Import {
	t.Helper()
	tree := fstest.MapFS{}
	for p, text := range files {
		tree[p] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
	}
	found, err := interchange.FromFolder(tree, "in", interchange.Options{})
	must(t, err)
	return found
}

// run imports and returns a line for each item.
func (h *house) run(actor capability.Actor, found interchange.Import, o intake.Options) map[string]string {
	h.t.Helper()
	out := map[string]string{}
	counts, err := intake.Run(h.t.Context(), h.store, actor, found, o, func(o intake.Outcome) {
		line := string(o.Status)
		if o.Version != "" && o.Fault == nil {
			line += " " + o.ID + "@" + o.Version
		}
		if o.Follows != "" && o.Status == intake.Made {
			line += " after " + o.Follows
		}
		if o.Fault != nil {
			line += " " + o.Fault.Code
		}
		out[o.Item.Path] = line
	})
	must(h.t, err)
	if counts.Found != counts.Made+counts.Unchanged+counts.Refused+counts.Ignored || counts.Found != len(out) {
		h.t.Errorf("%+v for %d items", counts, len(out))
	}
	return out
}

// A preview says what the import then does, and twins are told apart by their
// order in the import alone.
func TestPreviewSaysWhatHappens(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run(h.max, folder(t, map[string]string{"old/SKILL.md": skill("old", "One."), "same/SKILL.md": skill("same", "Same.")}), intake.Options{Reach: capability.ReachWorkspace})
	h.run(h.ada, folder(t, map[string]string{"theirs/SKILL.md": skill("theirs", "Ada's.")}), intake.Options{})
	files := map[string]string{
		"a/SKILL.md": skill("fresh", "New."), "b/SKILL.md": skill("fresh", "New."), "c/SKILL.md": skill("Fresh", "Other."), "d/SKILL.md": skill("fre\u0455h", "Looks alike."),
		"old/SKILL.md": skill("old", "Two."), "same/SKILL.md": skill("same", "Same."), "theirs/SKILL.md": skill("theirs", "Mine."), "none/SKILL.md": "",
		"suite/SKILL.md": skill("suite", "Suite."), "suite/inner/SKILL.md": skill("inner", "Inner."),
	}
	want := map[string]string{
		"a/SKILL.md": "made fresh@1.0.0", "b/SKILL.md": "unchanged fresh@1.0.0", "c/SKILL.md": "refused twin_in_import", "d/SKILL.md": "refused twin_in_import",
		"old/SKILL.md": "made old@1.0.1 after 1.0.0", "same/SKILL.md": "unchanged same@1.0.0", "theirs/SKILL.md": "refused id_taken", "none/SKILL.md": "refused empty_document",
		"suite/SKILL.md": "made suite@1.0.0", "suite/inner/SKILL.md": "ignored",
	}
	if diff := cmp.Diff(want, h.run(h.max, folder(t, files), intake.Options{Preview: true})); diff != "" {
		t.Error("preview", diff)
	}
	if diff := cmp.Diff(want, h.run(h.max, folder(t, files), intake.Options{Reach: capability.ReachWorkspace})); diff != "" {
		t.Error("import", diff)
	}
	c, err := h.store.Get(t.Context(), h.ada, "acme", "fresh")
	must(t, err)
	if c.Access.Reach != capability.ReachWorkspace || !strings.Contains(string(c.Latest.Provenance), `"path":"a/SKILL.md"`) {
		t.Errorf("made as %+v from %s", c.Access, c.Latest.Provenance)
	}
	for path, line := range h.run(h.max, folder(t, files), intake.Options{}) {
		if strings.HasPrefix(line, "made") {
			t.Errorf("the second run: %s %s", path, line)
		}
	}
}

// A line of versions is published in order, under its own numbers, into the
// same reach; what is there of it already stays.
func TestLinesKeepTheirNumbers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	version := func(number, text string) interchange.ExportedVersion {
		return interchange.ExportedVersion{
			Version: number, Name: "Hi", Description: "Says hi.", Spec: []byte(fmt.Sprintf(`{"type":"command","template":%q}`, text)), Note: "note " + number, Tags: []string{"t" + number},
		}
	}
	document := func(versions ...interchange.ExportedVersion) interchange.Import {
		var b bytes.Buffer
		w := interchange.NewExportWriter(&b)
		must(t, w.Add(interchange.Exported{Source: "far", ID: "hi", Tags: []string{"greeting"}, Versions: versions}))
		must(t, w.Close())
		found, err := interchange.FromDocument(b.Bytes(), "hi.capstore.json", interchange.Options{})
		must(t, err)
		return found
	}
	line := func(versions ...string) map[string]string {
		out := map[string]string{}
		for _, v := range versions {
			number, rest, _ := strings.Cut(v, " ")
			out["hi.capstore.json#far/hi@"+number] = rest
		}
		return out
	}
	back := []interchange.ExportedVersion{version("1.0.0", "a"), version("1.1.0", "b"), version("2.0.0", "a")}
	want := line("1.0.0 made hi@1.0.0", "1.1.0 made hi@1.1.0 after 1.0.0", "2.0.0 made hi@2.0.0 after 1.1.0")
	if diff := cmp.Diff(want, h.run(h.max, document(back...), intake.Options{Preview: true})); diff != "" {
		t.Error("preview", diff)
	}
	h.run(h.max, document(back[0]), intake.Options{Reach: capability.ReachWorkspace})
	got := h.run(h.max, document(back...), intake.Options{Reach: capability.ReachPrivate})
	if got["hi.capstore.json#far/hi@1.0.0"] != "unchanged hi@1.0.0" || !strings.HasPrefix(got["hi.capstore.json#far/hi@2.0.0"], "made hi@2.0.0") {
		t.Errorf("with the first one there: %v", got)
	}
	c, err := h.store.Get(t.Context(), h.ada, "acme", "hi")
	must(t, err)
	if c.Access.Reach != capability.ReachWorkspace || c.Latest.Version != "2.0.0" || c.Latest.Note != "note 2.0.0" || c.Latest.Tags[0] != "t2.0.0" || c.Tags[0] != "greeting" {
		t.Errorf("%+v %+v", c, c.Latest.VersionInfo)
	}
	changed := back[1]
	changed.Spec = []byte(`{"type":"command","template":"z"}`)
	if got := h.run(h.max, document(changed), intake.Options{}); got["hi.capstore.json#far/hi@1.1.0"] != "refused version_exists" {
		t.Errorf("a taken number: %v", got)
	}
}

// What is exported of a workspace is imported into another store as it was.
func TestWorkspaceThereAndBack(t *testing.T) {
	t.Parallel()
	h, there := newHouse(t), newHouse(t)
	files := map[string]string{}
	for i := range 230 { // more than a page, and a batch, hold
		name := fmt.Sprintf("skill-%03d", i)
		files[name+"/SKILL.md"] = skill(name, "Text of "+name)
	}
	h.run(h.max, folder(t, files), intake.Options{Reach: capability.ReachWorkspace})
	h.run(h.max, folder(t, map[string]string{"x/SKILL.md": skill("skill-007", "Second.")}), intake.Options{})
	var b bytes.Buffer
	n, err := intake.WriteZip(&b, h.store.Lines(t.Context(), h.ada, "acme"))
	must(t, err)
	found, err := interchange.FromUploads([]interchange.Upload{{Name: "acme.zip", Data: b.Bytes()}}, interchange.Options{})
	must(t, err)
	got := there.run(there.max, found, intake.Options{})
	if n != 230 || len(got) != 231 || got["skill-007.capstore.json#acme/skill-007@1.0.1"] != "made skill-007@1.0.1 after 1.0.0" {
		t.Errorf("%d exported, %d found, %q", n, len(got), got["skill-007.capstore.json#acme/skill-007@1.0.1"])
	}
}

// One who may publish nothing is told so before anything is tried; an error that
// is not about an item ends the import with what was done whole.
func TestWhatEndsAnImport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer := h.max
	viewer.Role = capability.RoleViewer
	one := folder(t, map[string]string{"a/SKILL.md": skill("a", "A.")})
	for name, tc := range map[string]struct {
		actor capability.Actor
		opts  intake.Options
	}{"viewer": {viewer, intake.Options{}}, "public": {h.max, intake.Options{Reach: capability.ReachPublic}}} {
		_, err := intake.Run(t.Context(), h.store, tc.actor, one, tc.opts, func(intake.Outcome) { t.Errorf("%s: something was done", name) })
		if !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	files := map[string]string{}
	for i := range 250 {
		files[fmt.Sprintf("s-%03d/SKILL.md", i)] = skill(fmt.Sprintf("s-%03d", i), "x")
	}
	ctx, cancel := context.WithCancel(t.Context())
	told := 0
	counts, err := intake.Run(ctx, h.store, h.max, folder(t, files), intake.Options{Progress: func(int, int) { cancel() }}, func(intake.Outcome) { told++ })
	if err == nil || counts.Made == 0 || counts.Made != told || counts.Made == 250 {
		t.Errorf("stopped with %+v, %d told (%v)", counts, told, err)
	}
	again, err := intake.Run(t.Context(), h.store, h.max, folder(t, files), intake.Options{}, func(intake.Outcome) {})
	if err != nil || again.Unchanged < counts.Made || again.Made+again.Unchanged != 250 {
		t.Errorf("going on: %+v %v", again, err)
	}
}

// An address that the guard refuses is asked for by somebody, and that is kept.
func TestARefusedAddressIsAudited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	guard, err := netguard.New(nil)
	must(t, err)
	staging := intake.NewStaging(h.db, nil)
	for _, raw := range []string{"http://169.254.169.254/latest/?token=hush", "ftp://files.example.com/a.zip"} {
		if _, err := staging.Fetch(t.Context(), h.max, guard, raw); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", raw, err)
		}
	}
	var kept []string
	must(t, h.db.QueryRow(t.Context(), `SELECT array_agg(target || ' ' || detail) FROM audit WHERE action = 'import.address_refused' AND subject = $1::uuid`, h.max.Subject).Scan(&kept))
	if diff := cmp.Diff([]string{"169.254.169.254 {}"}, kept); diff != "" {
		t.Error(diff)
	}
}

// What is sent waits sealed, for its sender alone, and gives way to what is sent
// later.
func TestStaging(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	secrets, err := secret.Open(t.Context(), h.db, secret.Config{KeyFile: filepath.Join(t.TempDir(), "key")})
	must(t, err)
	staging := intake.NewStaging(h.db, secrets)
	sent := []interchange.Upload{{Name: "a.json", Data: []byte("hush-hush")}}
	id, err := staging.Put(t.Context(), h.max, sent, "https://files.example.com/a.json")
	must(t, err)
	got, err := staging.Get(t.Context(), h.max, id)
	must(t, err)
	if diff := cmp.Diff(sent, got.Uploads); diff != "" || got.Origin != "https://files.example.com/a.json" {
		t.Error(diff)
	}
	var plain bool
	must(t, h.db.QueryRow(t.Context(), `SELECT position('hush'::bytea IN ciphertext) > 0 FROM staged_imports`).Scan(&plain))
	if plain {
		t.Error("it lies in the clear")
	}
	gone := func(actor capability.Actor, id string) {
		t.Helper()
		if _, err := staging.Get(t.Context(), actor, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%v", err)
		}
	}
	gone(h.ada, id)
	gone(h.max, "x")
	_, err = secrets.Rotate(t.Context())
	must(t, err)
	gone(h.max, id) // the key is gone, and with it what was sealed for an hour
	var last string
	for range 4 {
		last, err = staging.Put(t.Context(), h.max, sent, "")
		must(t, err)
	}
	var kept int
	must(t, h.db.QueryRow(t.Context(), `SELECT count(*) FROM staged_imports`).Scan(&kept))
	if kept != 3 {
		t.Errorf("%d wait", kept)
	}
	_, err = staging.Change(t.Context(), h.max, last, func(s *intake.State) { s.Left, s.Over = []string{"x"}, true })
	must(t, err)
	got, err = staging.Get(t.Context(), h.max, last)
	must(t, err)
	if len(got.Uploads) != 0 || got.State.Left[0] != "x" {
		t.Errorf("once it is over %+v is kept", got)
	}
	_, err = h.db.Exec(t.Context(), `UPDATE staged_imports SET expires_at = now()`)
	must(t, err)
	gone(h.max, last)
}

// counting is a file system that knows how many documents were opened.
type counting struct {
	fstest.MapFS
	opened *int
}

func (c counting) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, ".md") {
		*c.opened++
	}
	return c.MapFS.Open(name)
}

// However long an import is, only a batch of it is held: what was opened is no
// further ahead of what was dealt with.
func TestOnlyABatchIsHeld(t *testing.T) {
	t.Parallel()
	h, opened, told, ahead := newHouse(t), 0, 0, 0
	tree := fstest.MapFS{}
	for i := range 650 {
		name := fmt.Sprintf("s-%03d", i)
		tree[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(skill(name, "x")), Mode: 0o644}
	}
	found, err := interchange.FromFolder(counting{tree, &opened}, "in", interchange.Options{})
	must(t, err)
	if opened != 0 {
		t.Errorf("%d were opened to be listed", opened)
	}
	_, err = intake.Run(t.Context(), h.store, h.max, found, intake.Options{Preview: true}, func(intake.Outcome) {
		told++
		ahead = max(ahead, opened-told)
	})
	must(t, err)
	if told != 650 || ahead > 100 {
		t.Errorf("%d told, %d held", told, ahead)
	}
}

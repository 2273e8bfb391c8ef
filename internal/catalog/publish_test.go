package catalog_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/fault"
)

func TestPublishNew(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := code("Count Words", "print(1)")
	p.Tags = []string{" text ", "Text", "count"}
	got := b.publish(t, b.author, p)
	v := got.Version
	if !got.Created || v.Source != "acme" || v.ID != "count-words" || v.Version != "1.0.0" || !v.Latest || v.Author.Name != "Ben" {
		t.Errorf("published %+v", got)
	}
	c, err := b.store.Get(t.Context(), b.author, "acme", "count-words")
	wantCode(t, err, "")
	if c.Access.Reach != capability.ReachPrivate || len(c.Tags) != 2 || c.Latest.Content.Digest() != v.Digest {
		t.Errorf("got %+v", c)
	}
	page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Counts: true})
	wantCode(t, err, "")
	if len(page.Items) != 1 || page.Items[0].Name != "Count Words" || page.Total != (catalog.Count{N: 1}) || !page.Items[0].Own {
		t.Errorf("page %+v", page)
	}
	for _, q := range []string{"count", "cou", "WORDS", "word", "says count", "count-w"} {
		for _, sort := range []catalog.Sort{catalog.SortCreated, catalog.SortNewest, catalog.SortAdopted, catalog.SortRelevance} {
			page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Q: q, Sort: sort, Counts: true})
			wantCode(t, err, "")
			if len(page.Items) != 1 || page.Total.N != 1 {
				t.Errorf("%q by %s found %+v", q, sort, page)
			}
		}
	}
	page, err = b.store.Browse(t.Context(), b.admin, catalog.Query{Counts: true})
	wantCode(t, err, "")
	if len(page.Items) != 0 || page.Total.N != 0 {
		t.Errorf("an admin browses another's private one: %+v", page)
	}
}

func TestTwentyWritersAtOnce(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name                       string
		body                       func(i int) string
		created, repeated, refused int
	}{
		{"equal content", func(int) string { return "same" }, 1, 19, 0},
		{"different content", func(i int) string { return "body " + string(rune('a'+i)) }, 1, 0, 19},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			var mu sync.Mutex
			var wg sync.WaitGroup
			var created, repeated, refused int
			for i := range 20 {
				wg.Go(func() {
					p := code("Race", c.body(i))
					p.Version, p.Visibility = "1.0.0", capability.ReachWorkspace
					out, err := b.store.Publish(t.Context(), b.author, p)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case fault.HasCode(err, "version_exists"):
						refused++
					case err != nil:
						t.Errorf("writer %d: %v", i, err)
					case out.Created:
						created++
					default:
						repeated++
					}
				})
			}
			wg.Wait()
			if created != c.created || repeated != c.repeated || refused != c.refused {
				t.Errorf("created %d, repeated %d, refused %d", created, repeated, refused)
			}
			versions, err := b.store.Versions(t.Context(), b.author, "acme", "race")
			wantCode(t, err, "")
			if len(versions) != 1 {
				t.Errorf("there are %d versions", len(versions))
			}
		})
	}
}

func TestPublishRefusesBadInput(t *testing.T) {
	t.Parallel()
	b := setup(t)
	shared := code("Taken", "print(1)")
	shared.Visibility = capability.ReachWorkspace
	b.publish(t, b.author, shared)
	tests := []struct {
		name  string
		by    capability.Actor
		build func(p *catalog.Publication)
		path  string // of a field fault; "" compares the fault's code
		code  string
	}{
		{"id", b.author, func(p *catalog.Publication) { p.ID = "No Id" }, "/id", "bad_id"},
		{"id with a slash", b.author, func(p *catalog.Publication) { p.ID = "a/b" }, "/id", "bad_id"},
		{"no name", b.author, func(p *catalog.Publication) { p.Name = "" }, "/name", "required"},
		{"name with bidi control", b.author, func(p *catalog.Publication) { p.Name = "pay\u202ecod" }, "/name", "not_plain_text"},
		{"long description", b.author, func(p *catalog.Publication) { p.Description = strings.Repeat("x", 1025) }, "/description", "too_long"},
		{"no spec", b.author, func(p *catalog.Publication) { p.Spec = nil }, "/spec", "required"},
		{"spec cut off", b.author, func(p *catalog.Publication) { p.Spec = p.Spec[:20] }, "/spec", "bad_json"},
		{"unknown kind", b.author, func(p *catalog.Publication) { p.Spec = json.RawMessage(`{"type":"plugin"}`) }, "/spec/type", "unknown_kind"},
		{"unknown field", b.author, func(p *catalog.Publication) {
			p.Spec = json.RawMessage(`{"type":"command","template":"x","color":"red"}`)
		}, "/spec/color", "unknown_field"},
		{"reach", b.author, func(p *catalog.Publication) { p.Visibility = "everyone" }, "/visibility", "not_allowed"},
		{"targets of no subset", b.author, func(p *catalog.Publication) { p.SharedWith = []string{"globex"} }, "/sharedWith", "not_allowed"},
		{"target that is not mine", b.author, func(p *catalog.Publication) {
			p.Visibility, p.SharedWith = capability.ReachSubset, []string{"globex", "initech"}
		}, "/sharedWith/1", "not_a_member"},
		{"tag too long", b.author, func(p *catalog.Publication) { p.Tags = []string{strings.Repeat("t", 61)} }, "/tags/0", "too_long"},
		{"label too long", b.author, func(p *catalog.Publication) { p.VersionTags = []string{strings.Repeat("t", 61)} }, "/versionTags/0", "too_long"},
		{"version", b.author, func(p *catalog.Publication) { p.Version = "v1.2" }, "/version", "bad_version"},
		{"build metadata", b.author, func(p *catalog.Publication) { p.Version = "1.2.3+b1" }, "/version", "bad_version"},
		{"bump", b.author, func(p *catalog.Publication) { p.Bump = "huge" }, "/bump", "not_allowed"},
		{"version and bump", b.author, func(p *catalog.Publication) { p.Version, p.Bump = "2.0.0", "major" }, "/bump", "one_of"},
		{"note", b.author, func(p *catalog.Publication) { p.Note = strings.Repeat("n", 1001) }, "/note", "too_long"},
		{"note with NUL", b.author, func(p *catalog.Publication) { p.Note = "a\x00b" }, "/note", "invalid_text"},
		{"provenance", b.author, func(p *catalog.Publication) { p.Provenance = json.RawMessage(`{"from"`) }, "/provenance", "malformed"},
		{"viewer", b.viewer, func(*catalog.Publication) {}, "", "role_too_low"},
		{"public by a member", b.author, func(p *catalog.Publication) { p.Visibility = capability.ReachPublic }, "", "public_needs_admin"},
		{"existing by a colleague", b.person(t, "Col", "acme", capability.RoleMember), func(p *catalog.Publication) { p.ID = "taken" }, "", "not_owner"},
		{"reach on existing", b.author, func(p *catalog.Publication) { p.ID, p.Visibility = "taken", capability.ReachSubset }, "/visibility", "reach_on_existing"},
		{"same reach on existing", b.author, func(p *catalog.Publication) { p.ID, p.Visibility = "taken", capability.ReachWorkspace }, "/visibility", "reach_on_existing"},
		{"version below the newest", b.author, func(p *catalog.Publication) { p.ID, p.Version = "taken", "0.9.0" }, "/version", "version_not_newer"},
		{"number of other content", b.author, func(p *catalog.Publication) { p.ID, p.Version = "taken", "1.0.0" }, "", "version_exists"},
		{"look-alike name", b.admin, func(p *catalog.Publication) { p.ID, p.Name = "other", "T\u0430ken" }, "", "name_taken"},
		{"name in another case", b.admin, func(p *catalog.Publication) { p.ID, p.Name = "other", "TAKEN" }, "", "name_taken"},
		{"another latest", b.author, func(p *catalog.Publication) { p.ID, p.IfMatch = "taken", "sha256:0" }, "", "changed_since"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := code("Fresh", "print(2)")
			tt.build(&p)
			_, err := b.store.Publish(t.Context(), tt.by, p)
			if tt.path != "" {
				wantField(t, err, tt.path, tt.code)
			} else {
				wantCode(t, err, tt.code)
			}
			_, err = b.store.Get(t.Context(), b.author, "acme", "fresh")
			wantCode(t, err, "not_found")
		})
	}
}

func TestPublishListsEveryFault(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.store.Publish(t.Context(), b.author, catalog.Publication{
		ID: "Bad", Visibility: "all", Version: "1", Spec: json.RawMessage(`{"type":"code","colour":1}`),
	})
	for path, code := range map[string]string{
		"/id": "bad_id", "/name": "required", "/description": "required", "/visibility": "not_allowed", "/version": "bad_version",
		"/spec/colour": "unknown_field",
	} {
		wantField(t, err, path, code)
	}
}

func TestMembersPublishToEveryoneWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	b := setupWith(t, catalog.Options{Policy: capability.Policy{AllowMemberPublic: true}})
	p := code("Open", "print(1)")
	p.Visibility = capability.ReachPublic
	b.publish(t, b.author, p)
	_, err := b.store.Get(t.Context(), b.outsider, "acme", "open")
	wantCode(t, err, "")
}

// Releases and pre-releases as they are published, one by one.
func TestWhichVersionIsTheLatest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	steps := []struct{ version, code, latest string }{
		{"1.9.0", "", "1.9.0"},
		{"1.10.0", "", "1.10.0"},
		{"1.9.5", "version_not_newer", "1.10.0"},
		{"2.0.0-alpha.1", "", "1.10.0"},
		{"2.0.0-alpha.beta", "", "1.10.0"},
		{"2.0.0-alpha-1", "", "1.10.0"},
		{"2.0.0-rc.1", "", "1.10.0"},
		{"1.10.0+build.7", "bad_version", "1.10.0"},
		{"01.2.3", "bad_version", "1.10.0"},
		{"2.0.0", "", "2.0.0"},
		{"999999999999999999999999999999.0.0", "", "999999999999999999999999999999.0.0"},
	}
	for i, step := range steps {
		p := code("Numbers", "body "+string(rune('a'+i)))
		p.Version = step.version
		_, err := b.store.Publish(t.Context(), b.author, p)
		wantCodeIn(t, err, step.code)
		c, err := b.store.Get(t.Context(), b.author, "acme", "numbers")
		wantCode(t, err, "")
		if c.Latest.Version != step.latest {
			t.Errorf("after %s the latest is %s, want %s", step.version, c.Latest.Version, step.latest)
		}
	}
}

func wantCodeIn(t *testing.T, err error, code string) {
	t.Helper()
	for _, f := range fieldsOf(err) {
		if f.Code == code {
			return
		}
	}
	wantCode(t, err, code)
}

func fieldsOf(err error) []fault.Field {
	if err == nil {
		return nil
	}
	return fault.From(err).Fields
}

func TestRepublishing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	first := code("Again", "v1")
	first.Visibility = capability.ReachWorkspace
	b.publish(t, b.author, first)
	if got := b.publish(t, b.author, first); got.Created || !got.NoChanges || got.Version.Version != "1.0.0" {
		t.Errorf("the same request again: %+v", got)
	}
	bumped := code("Again", "v1")
	bumped.Version = "3.0.0"
	if got := b.publish(t, b.author, bumped); got.Created || !got.NoChanges || got.Version.Version != "1.0.0" {
		t.Errorf("equal content under a new number: %+v", got)
	}
	next := code("Again", "v2")
	next.Bump, next.Tags = capability.BumpMajor, []string{"fresh"}
	if got := b.publish(t, b.author, next); !got.Created || got.Version.Version != "2.0.0" {
		t.Errorf("a major bump: %+v", got)
	}
	// Content that was the newest before is news again.
	back := code("Again", "v1")
	if got := b.publish(t, b.author, back); !got.Created || got.Version.Version != "2.0.1" {
		t.Errorf("going back: %+v", got)
	}
	c, err := b.store.Get(t.Context(), b.viewer, "acme", "again")
	wantCode(t, err, "")
	if c.Access.Reach != capability.ReachWorkspace || len(c.Tags) != 1 {
		t.Errorf("metadata became %+v", c)
	}
	back.IfMatch = c.Latest.Digest
	back.Spec = code("Again", "v3").Spec
	if got := b.publish(t, b.author, back); got.Version.Version != "2.0.2" {
		t.Errorf("with the digest of the latest: %+v", got)
	}
}

func TestAnIDTakenBySomethingUnseenTellsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publish(t, b.author, code("Hidden", "v1"))
	_, unseen := b.store.Publish(t.Context(), b.admin, code("Hidden", "v2"))
	wantCode(t, unseen, "id_taken")
	wantCode(t, b.store.Delete(t.Context(), b.author, "acme", "hidden"), "")
	_, deleted := b.store.Publish(t.Context(), b.admin, code("Hidden", "v2"))
	if unseen.Error() != deleted.Error() {
		t.Errorf("unseen says %v, deleted %v", unseen, deleted)
	}
}

func TestKindMayChange(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.publish(t, b.author, code("Morph", "v1"))
	p := catalog.Publication{Name: "Morph", Description: "Now a command.", Spec: json.RawMessage(`{"type":"command","template":"Say $1"}`)}
	b.publish(t, b.author, p)
	d, err := b.store.Diff(t.Context(), b.author, "acme", "morph", "1.0.0", "1.0.1", nil)
	wantCode(t, err, "")
	if !d.Changes.TypeChanged {
		t.Error("the diff does not say that the kind changed")
	}
	page, err := b.store.Browse(t.Context(), b.author, catalog.Query{Kinds: []capability.Kind{capability.KindCommand}})
	wantCode(t, err, "")
	if len(page.Items) != 1 {
		t.Errorf("found under the new kind: %d", len(page.Items))
	}
	_, err = b.store.Diff(t.Context(), b.author, "acme", "morph", "1.0.0", "7.0.0", nil)
	wantCode(t, err, "not_found")
}

package outward_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/interchange"
	"capstore/internal/workspace"

	"github.com/google/go-cmp/cmp"
)

const marketPath = "/registry/acme/marketplace.json"

type market struct {
	Name    string
	Plugins []struct {
		Name, Version, Category string
		Source                  json.RawMessage
	}
}

func (m market) pins() []string {
	var out []string
	for _, p := range m.Plugins {
		out = append(out, p.Category+" "+p.Name+"@"+p.Version)
	}
	slices.Sort(out)
	return out
}

// archives are the paths and sums of the plugins' archives, by name.
func (m market) archives(t *testing.T) map[string][2]string {
	t.Helper()
	out := map[string][2]string{}
	for _, p := range m.Plugins {
		var src struct{ Source, URL, SHA256 string }
		must(t, json.Unmarshal(p.Source, &src))
		path, ok := strings.CutPrefix(src.URL, "https://store.example.com")
		if !ok || src.Source != "archive" {
			t.Errorf("%s comes from %s", p.Name, p.Source)
		}
		out[p.Name] = [2]string{path, src.SHA256}
	}
	return out
}

func fill(s *site) {
	s.t.Helper()
	for id, spec := range map[string]string{"look": serverSpec, "boxed": imageSpec, "guard": hookSpec, "explain": commandSpec, "tidy": skillSpec, "tool": codeSpec} {
		s.publish(ada, "acme", id, "1.0.0", capability.ReachWorkspace, spec)
	}
	s.publish(mia, "acme", "mias", "1.0.0", capability.ReachPrivate, commandSpec)
	s.publish(gus, "globex", "ledger", "1.2.0", capability.ReachPublic, commandSpec)
}

// What a workspace publishes can be installed: the archive is the one that the
// list vouches for, and holds the capability as it was.
func TestMarketplace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fill(s)
	c := s.as(ada, "acme")
	var m market
	c.get(marketPath).into(&m)
	want := []string{"command explain@1.0.0", "hook guard@1.0.0", "mcp look@1.0.0", "skill tidy@1.0.0"}
	if diff := cmp.Diff(want, m.pins()); diff != "" || m.Name != "capstore-acme" {
		t.Error(m.Name, diff)
	}
	for name, at := range m.archives(t) {
		a := c.get(at[0]).want(http.StatusOK)
		if sumOf(a.body) != at[1] {
			t.Errorf("%s is not what the list vouches for", name)
		}
		i, err := interchange.FromArchive(bytes.NewReader(a.body), int64(len(a.body)), "x.zip", interchange.Options{})
		must(t, err)
		v, err := s.store.Version(t.Context(), s.actor(ada, "acme"), "acme", name, "1.0.0")
		must(t, err)
		found := ""
		for _, item := range i.Items() {
			if item.Status == interchange.Ready {
				found = item.Content.Digest()
			}
		}
		if found != v.Digest {
			t.Errorf("%s does not come back as it was", name)
		}
	}
	if got := c.get("/registry/acme/plugins/globex/ledger/1.2.0.zip").files(); !strings.Contains(got[".claude-plugin/plugin.json"], `"globex-ledger"`) {
		t.Errorf("a foreign one is %v", got)
	}
	c.get("/registry/acme/plugins/acme/boxed/1.0.0.zip").want(http.StatusNotFound)
	c.get("/registry/acme/plugins/acme/tool/1.0.0.zip").want(http.StatusNotFound)
	c.get(marketPath + "?of=everything").want(http.StatusBadRequest)
}

// What the member's agent carries is listed as it is pinned.
func TestMarketplaceOfWhatIsCarried(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fill(s)
	actor := s.actor(ada, "acme")
	s.publish(gus, "globex", "ledger", "1.3.0", "", strings.Replace(commandSpec, "Explain", "Book", 1))
	_, err := s.spaces.Adopt(t.Context(), actor, workspace.AdoptInput{Source: "globex", ID: "ledger", Version: "1.2.0"})
	must(t, err)
	_, err = s.spaces.CreateSkill(t.Context(), actor, workspace.SkillInput{Name: "closing", Description: "Closes.", Spec: &capability.SkillSpec{Instructions: "Close."}})
	must(t, err)
	c := s.as(ada, "acme")
	var m market
	c.get(marketPath + "?of=carried").into(&m)
	got := m.pins()
	if len(got) != 2 || got[0] != "command globex-ledger@1.2.0" || !strings.HasPrefix(got[1], "skill closing@0.0.0-d") {
		t.Fatalf("carried are %v", got)
	}
	for name, at := range m.archives(t) {
		if a := c.get(at[0]).want(http.StatusOK); sumOf(a.body) != at[1] {
			t.Errorf("%s is not what the list vouches for", name)
		}
	}
	var other market
	s.as(mia, "acme").get(marketPath + "?of=carried").into(&other)
	if diff := cmp.Diff(got, other.pins()); diff != "" {
		t.Error(diff)
	}
	// An edit of the library is another version, and the old one is gone.
	skill, err := s.spaces.Skill(t.Context(), actor, "closing")
	must(t, err)
	_, err = s.spaces.UpdateSkill(t.Context(), actor, "closing", skill.Revision, workspace.SkillInput{Name: "closing", Description: "Closes.", Spec: &capability.SkillSpec{Instructions: "Close it."}})
	must(t, err)
	c.get(m.archives(t)["closing"][0]).want(http.StatusNotFound)
}

// A version that was blocked or withdrawn, and a capability that ended, are gone
// at once, also for whoever has the archive's address.
func TestRevokedAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	actor := s.actor(ada, "acme")
	for _, id := range []string{"blocked", "withdrawn", "ended", "hidden"} {
		s.publish(ada, "acme", id, "1.0.0", capability.ReachWorkspace, skillSpec)
	}
	c := s.as(mia, "acme")
	var m market
	c.get(marketPath).into(&m)
	if len(m.Plugins) != 4 {
		t.Fatalf("%v", m.pins())
	}
	must(t, s.store.Block(t.Context(), actor, "acme", "blocked", "1.0.0", "It leaks."))
	must(t, s.store.Withdraw(t.Context(), actor, "acme", "withdrawn", "1.0.0"))
	must(t, s.store.Delete(t.Context(), actor, "acme", "ended"))
	private := capability.ReachPrivate
	must(t, s.store.Update(t.Context(), actor, "acme", "hidden", catalog.Patch{Reach: &private}))
	for _, path := range []string{"plugins", "skills"} {
		for _, id := range []string{"blocked", "withdrawn", "ended", "hidden"} {
			c.get("/registry/acme/" + path + "/acme/" + id + "/1.0.0.zip").want(http.StatusNotFound)
		}
	}
	var after market
	c.get(marketPath).into(&after)
	if len(after.Plugins) != 0 {
		t.Errorf("still listed: %v", after.pins())
	}
}

// An unchanged answer costs no body.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fill(s)
	c := s.as(ada, "acme")
	for _, path := range []string{marketPath, "/registry/acme/marketplace.zip", "/registry/acme/plugins/acme/tidy/1.0.0.zip", "/registry/acme/skills", "/registry/acme/skills/acme/tidy/1.0.0.zip"} {
		first := c.get(path).want(http.StatusOK)
		again := c
		again.header = c.header.Clone()
		again.header.Set("If-None-Match", first.header.Get("ETag"))
		if got := again.get(path).want(http.StatusNotModified); len(got.body) != 0 {
			t.Errorf("%s: %d bytes", path, len(got.body))
		}
		if second := c.get(path).want(http.StatusOK); !bytes.Equal(first.body, second.body) || first.header.Get("ETag") == "" {
			t.Errorf("%s differs the second time", path)
		}
	}
}

// The whole marketplace as a folder reads as one.
func TestMarketplaceFolder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fill(s)
	files := s.as(ada, "acme").get("/registry/acme/marketplace.zip").files()
	var m market
	must(t, json.Unmarshal([]byte(files["capstore-acme/.claude-plugin/marketplace.json"]), &m))
	if len(m.Plugins) != 4 {
		t.Fatalf("%v", m.pins())
	}
	for _, p := range m.Plugins {
		var source string
		must(t, json.Unmarshal(p.Source, &source))
		at := "capstore-acme/" + strings.TrimPrefix(source, "./") + "/.claude-plugin/plugin.json"
		if !strings.Contains(files[at], `"name": "`+p.Name+`"`) || !strings.Contains(files[at], `"version": "1.0.0"`) {
			t.Errorf("%s: %s", at, files[at])
		}
	}
}

func TestSkills(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	fill(s)
	c := s.as(ada, "acme")
	for _, path := range []string{"/registry/acme/skills", "/registry/acme/.well-known/agent-skills/index.json"} {
		var index struct {
			Schema string `json:"$schema"`
			Skills []struct{ Name, Type, Description, URL, Digest, Version string }
		}
		c.get(path).into(&index)
		if len(index.Skills) != 1 || index.Skills[0].Name != "tidy" || index.Skills[0].Type != "archive" || index.Schema == "" {
			t.Fatalf("%+v", index)
		}
		a := c.get(strings.TrimPrefix(index.Skills[0].URL, "https://store.example.com"))
		if "sha256:"+sumOf(a.want(http.StatusOK).body) != index.Skills[0].Digest {
			t.Error("the archive is not what the index vouches for")
		}
		if files := a.files(); files["tidy/a.txt"] != "a" || !strings.Contains(files["tidy/SKILL.md"], "Do it.") {
			t.Errorf("%v", files)
		}
	}
	c.get("/registry/acme/skills/acme/explain/1.0.0.zip").want(http.StatusNotFound)
}

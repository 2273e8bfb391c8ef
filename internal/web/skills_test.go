package web_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/internal/interchange"
	"capstore/internal/workspace"
	"capstore/views"
)

// skill is the skill as the member sees it.
func (s *site) skill(email, ws, id string) workspace.Skill {
	s.t.Helper()
	skill, err := s.Workspace.Skill(s.t.Context(), s.actor(email, ws), id)
	must(s.t, err)
	return skill
}

func TestSkillIsWrittenStampedAndPublished(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.get("/acme/settings/skills").status(200).says("main", "No skills yet")
	wrong := member.post("/acme/settings/skills/new", "name", "", "description", "d", "spec.instructions", "").status(http.StatusUnprocessableEntity)
	wrong.find("#field-name-error")
	wrong.find("#field-spec-instructions-error")
	member.post("/acme/settings/skills/new", "name", "closing", "description", "How to close.", "spec.instructions", "# Close\r\nThen rest.", "draft", "1").
		leadsTo(views.SkillPath("acme", "closing"))
	if got := member.get("/acme/settings/skills").row("closing"); !strings.Contains(got, "draft") || !strings.Contains(got, "never stamped") {
		t.Errorf("the row says %q", got)
	}
	s.as(ada).get(views.SkillPath("acme", "closing")).status(http.StatusNotFound)
	member.post(views.ShareSkillPath("acme", "closing")).leadsTo(views.SkillPath("acme", "closing"))
	s.as(ada).get(views.SkillPath("acme", "closing")).status(200).says("main", "Then rest.", "On: the workspace carries it")

	member.get(views.PublishSkillPath("acme", "closing")).status(200).says("main", "Never stamped")
	member.post(views.StampSkillPath("acme", "closing"), "revision", fmt.Sprint(s.skill(max, "acme", "closing").Revision), "note", "first").leadsTo(views.SkillPath("acme", "closing"))
	member.get(views.SkillPath("acme", "closing")).says("main", "closing is stamped as 1.0.0.")
	member.get(views.PublishSkillPath("acme", "closing")).status(200).find("input[name=visibility]")
	member.post(views.PublishSkillPath("acme", "closing"), "visibility", "workspace", "tags", "money, month").
		leadsTo(views.CapabilityPath("acme", "acme", "closing"))
	got, err := s.Catalog.Get(t.Context(), s.actor(ada, "acme"), "acme", "closing")
	must(t, err)
	if diff := cmp.Diff([]string{"money", "month"}, got.Tags); diff != "" || got.Access.Reach != capability.ReachWorkspace {
		t.Errorf("published as %s with %s", got.Access.Reach, diff)
	}
	member.get(views.PublishSkillPath("acme", "closing")).status(200).says("main", "The store has this skill already.")
}

func TestEditingASkill(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.Workspace.CreateSkill(t.Context(), s.actor(max, "acme"), workspace.SkillInput{
		Name: "guide", Description: "A guide.", Version: "1.0.0",
		Spec: &capability.SkillSpec{Instructions: "One.\n", Files: []capability.File{{Path: "a.txt", Content: "a\n"}, {Path: "b.bin", Encoding: "base64", Content: "AAEC"}}},
	})
	must(t, err)
	member, path := s.as(max), views.EditSkillPath("acme", "guide")
	form := member.get(path).status(200)
	sent := form.fields("form#author")
	member.post(path, sent...).leadsTo(views.SkillPath("acme", "guide"))
	if got := s.skill(max, "acme", "guide"); got.Revision != 1 {
		t.Errorf("saving the form as it came cut revision %d: %s", got.Revision, cmp.Diff("One.\n", got.Content.Spec.(*capability.SkillSpec).Instructions))
	}
	member.post(path, with(sent, "spec.instructions", "Two.\n")...).leadsTo(views.SkillPath("acme", "guide"))
	edited := s.skill(max, "acme", "guide")
	spec := edited.Content.Spec.(*capability.SkillSpec)
	if edited.Revision != 2 || spec.Instructions != "Two.\n" || len(spec.Files) != 2 || spec.Files[1].Content != "AAEC" {
		t.Errorf("saved revision %d: %+v", edited.Revision, spec)
	}
	member.get("/acme/settings/skills").says("main", "changed since 1.0.0")

	stale := member.post(path, with(sent, "spec.instructions", "Three.")...).status(http.StatusConflict)
	stale.says("main", "Somebody else saved in the meantime", "Two.", "Three.")
	if got := stale.find("input[name=revision]").AttrOr("value", ""); got != "2" {
		t.Errorf("saving again would start from %q", got)
	}
	diff := member.get(views.SkillTabPath("acme", "guide", views.TabSkillStamps)).status(200)
	diff.says("main", "From 1.0.0 to now", "Two.")
	member.get(views.SkillDiffPath("acme", "guide", "1.0.0", "9.9.9")).status(http.StatusNotFound)
	s.as(vera).post(path, with(sent, "revision", "2", "spec.instructions", "x")...).status(http.StatusForbidden)
	s.as(vera).get(views.SkillPath("acme", "guide")).status(200).none(`a[href="` + path + `"]`)
}

// fields are the names and values that the form would send.
func (a *answer) fields(form string) []string {
	a.t.Helper()
	var out []string
	for _, field := range a.find(form).Find("input[name], textarea[name], select[name]").EachIter() {
		name, kind := field.AttrOr("name", ""), field.AttrOr("type", "")
		_, checked := field.Attr("checked")
		switch {
		case kind == "file", (kind == "checkbox" || kind == "radio") && !checked:
		case field.Is("textarea"):
			out = append(out, name, strings.ReplaceAll(field.Text(), "\n", "\r\n"))
		case field.Is("select"):
			out = append(out, name, field.Find("option[selected]").AttrOr("value", ""))
		default:
			out = append(out, name, field.AttrOr("value", ""))
		}
	}
	return out
}

// with is the sent fields with some of them changed.
func with(sent []string, changes ...string) []string {
	out := append([]string(nil), sent...)
	for i := 0; i+1 < len(changes); i += 2 {
		for j := 0; j+1 < len(out); j += 2 {
			if out[j] == changes[i] {
				out[j+1] = changes[i+1]
			}
		}
	}
	return out
}

func TestStampingShowsWhatIsFrozen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.Workspace.CreateSkill(t.Context(), s.actor(max, "acme"), workspace.SkillInput{
		Name: "guide", Description: "A guide.", Version: "1.2.0", Spec: &capability.SkillSpec{Instructions: "One."},
	})
	must(t, err)
	member, path := s.as(max), views.StampSkillPath("acme", "guide")
	page := member.get(path).status(200)
	page.says("main", "1.2.1", "1.3.0", "2.0.0", "No difference")
	member.post(path, "revision", "1", "bump", "exact", "version", "1.0.0").status(http.StatusUnprocessableEntity).find("#field-version-error")
	member.post(path, "revision", "1", "bump", "exact", "version", "1.2.0").status(http.StatusConflict).says("main", "1.2.0 is stamped already")
	member.post(path, "revision", "7", "bump", "minor").status(http.StatusConflict).says("main", "changed since you opened it")
	member.post(path, "revision", "x").status(http.StatusBadRequest)
	member.post(path, "revision", "1", "bump", "minor").leadsTo(views.SkillPath("acme", "guide"))
	if got := s.skill(max, "acme", "guide").Stamp.Version; got != "1.3.0" {
		t.Errorf("stamped as %s", got)
	}
	s.as(vera).post(path, "revision", "1", "bump", "minor").status(http.StatusForbidden)
}

func TestACopiedSkillSaysWhereItIsFrom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.publish(gus, "globex", catalog.Publication{ID: "tone", Name: "tone", Description: "Tone.", Spec: textSkill(t, "Be kind."), Visibility: capability.ReachWorkspace})
	s.promote(gus, "globex", "tone", capability.ReachPublic)
	_, err := s.Workspace.TakeFromStore(t.Context(), s.actor(max, "acme"), workspace.TakeInput{Source: "globex", ID: "tone", Version: "1.0.0"})
	must(t, err)
	page := s.as(max).get(views.SkillPath("acme", "tone")).status(200)
	page.find(`a[href="/acme/store/globex/tone?version=1.0.0"]`)
	if got := s.as(max).get("/acme/settings/skills").row("tone"); !strings.Contains(got, "copied from globex/tone@1.0.0") {
		t.Errorf("the row says %q", got)
	}
}

func TestDeletingASkillAsksAboutExactlyThisText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	_, err := s.Workspace.CreateSkill(t.Context(), s.actor(max, "acme"), workspace.SkillInput{
		Name: "guide", Description: "A guide.", Version: "1.0.0", Spec: &capability.SkillSpec{Instructions: "One."},
	})
	must(t, err)
	member, path := s.as(max), views.DeleteSkillPath("acme", "guide")
	member.get(path).status(200).says("main", "Delete guide?", "1 stamp")
	member.post(path, "revision", "2").status(http.StatusConflict)
	member.post(path, "revision", "1").leadsTo("/acme/settings/skills")
	member.get(views.SkillPath("acme", "guide")).status(http.StatusNotFound)
}

func TestASkillIsBroughtInAsAFile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	bring := func(name string, data []byte) *answer {
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		part, err := w.CreateFormFile("file", name)
		must(t, err)
		_, err = part.Write(data)
		must(t, err)
		must(t, w.Close())
		return member.do(http.MethodPost, views.ImportSkillPath("acme"), &body, "Content-Type", w.FormDataContentType())
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for path, text := range map[string]string{"dance/SKILL.md": "---\nname: dance\ndescription: How to dance.\n---\nStep.\n", "dance/steps.txt": "1 2 3"} {
		f, err := z.Create(path)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err)
	}
	must(t, z.Close())
	bring("dance.zip", archive.Bytes()).leadsTo(views.SkillPath("acme", "dance"))
	spec := s.skill(max, "acme", "dance").Content.Spec.(*capability.SkillSpec)
	if spec.Instructions != "Step." || len(spec.Files) != 1 {
		t.Errorf("brought in as %+v", spec)
	}
	sent := member.get(views.ExportSkillPath("acme", "dance")).status(200)
	back, err := interchange.FromUpload([]byte(sent.Body), "dance.zip", interchange.Options{})
	must(t, err)
	item, err := back.Only()
	must(t, err)
	if diff := cmp.Diff(s.skill(max, "acme", "dance").Content, item.Content); diff != "" {
		t.Errorf("handed over and read again it differs: %s", diff)
	}
	bring("dance.zip", archive.Bytes()).status(http.StatusUnprocessableEntity).says("#field-file-error", "taken")
	bring("nothing.md", []byte("no front matter")).status(http.StatusUnprocessableEntity).find("#field-file-error")
	member.post(views.ImportSkillPath("acme")).status(http.StatusUnprocessableEntity).says("main", "Choose a file first")
}

package web_test

import (
	"bytes"
	"encoding/base64"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"capstore/internal/capability"
	"capstore/internal/catalog"
	"capstore/views"
)

// latest is the newest version of what the workspace publishes.
func (s *site) latest(email, ws, id string) catalog.VersionDetail {
	s.t.Helper()
	held, err := s.Catalog.Get(s.t.Context(), s.actor(email, ws), ws, id)
	must(s.t, err)
	return *held.Latest
}

// codeForm is a complete form of a code tool.
var codeForm = []string{
	"op", "publish", "name", "Shout", "description", "Writes in capitals.", "tags", "text, loud", "spec.language", "python",
	"spec.code", "print('A')\r\nprint('B')\r\n", "spec.isReadOnly", "true", "spec.parametersSchema", `{"type": "object"}`,
	"spec.egress", "api.example.com\r\nb.example.com", "spec.timeoutSec", "20", "spec.serves", "text live-data",
	"spec.requiredSecrets.0.name", "API_KEY", "spec.requiredSecrets.0.description", "From the console",
	"spec.requiredSecrets.1.name", "", "spec.examples.0.input", `{"a": 1}`, "spec.examples.0.name", "One",
	"visibility", "workspace", "note", "First.",
}

func TestWritingACodeTool(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.get("/acme/store/new").status(200).find(`main a[href="/acme/store/new?kind=code"]`)
	form := member.get("/acme/store/new?kind=code").status(200)
	form.find("textarea[name='spec.code'][data-editor=python]")
	form.find("input[name=visibility][value=public][disabled]")
	member.post("/acme/store/new?kind=code", codeForm...).leadsTo("/acme/store/acme/shout")

	held, err := s.Catalog.Get(t.Context(), s.actor(max, "acme"), "acme", "shout")
	must(t, err)
	readOnly := true
	want := &capability.CodeSpec{
		Language: "python", Code: "print('A')\nprint('B')\n", ParametersSchema: []byte(`{"type":"object"}`), IsReadOnly: &readOnly,
		TimeoutSec: 20, Egress: []string{"api.example.com", "b.example.com"},
		RequiredSecrets: []capability.RequiredSecret{{Name: "API_KEY", Description: "From the console"}},
		Examples:        []capability.Example{{Name: "One", Input: []byte(`{"a":1}`)}},
		Leans:           capability.Leans{Serves: []string{"text", "live-data"}},
	}
	if diff := cmp.Diff(capability.Spec(want), held.Latest.Content.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if held.Access.Reach != capability.ReachWorkspace || held.Latest.Version != "1.0.0" || held.Latest.Note != "First." || !cmp.Equal(held.Tags, []string{"text", "loud"}) {
		t.Errorf("got reach %s, version %s, note %q, tags %q", held.Access.Reach, held.Latest.Version, held.Latest.Note, held.Tags)
	}
}

func TestEveryFaultStandsAtItsField(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.as(max).post("/acme/store/new?kind=code",
		"op", "publish", "id", "Not An Id", "spec.language", "python", "spec.code", "print(1)", "spec.isReadOnly", "true",
		"spec.parametersSchema", "{\"type\": ", "spec.timeoutSec", "soon", "spec.egress", "ok.example.com\nhttp://no",
		"spec.requiredSecrets.0.name", "", "spec.requiredSecrets.3.name", "bad name", "visibility", "subset",
	).status(http.StatusUnprocessableEntity)
	for _, field := range []string{"name", "description", "spec-parametersschema", "spec-timeoutsec", "spec-egress", "spec-requiredsecrets-0-name"} {
		page.find("#field-" + field + "[aria-invalid=true]")
		page.find(`[role=alert] a[href="#field-` + field + `"], [aria-live] a[href="#field-` + field + `"]`)
	}
	page.says("#field-spec-egress-error", "Line 2")
	page.says("main", "Choose at least one workspace")
	if got := page.find("input[name='spec.requiredSecrets.0.name']").AttrOr("value", ""); got != "bad name" {
		t.Errorf("the row holds %q", got)
	}
	page.find("form[data-dirty]")
	page.none("input[name='spec.requiredSecrets.1.name']")
}

func TestRowsComeAndGoWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	page := member.post("/acme/store/new?kind=mcp", "op", "add:spec.settings", "name", "Kept", "spec.settings.0.name", "region", "spec.settings.0.required", "on").status(200)
	page.find("input[name='spec.settings.1.name']")
	page.find("input[name='spec.settings.0.required'][checked]")
	page = member.post("/acme/store/new?kind=mcp", "op", "remove:spec.settings.0", "name", "Kept", "spec.settings.0.name", "region", "spec.settings.1.name", "zone").status(200)
	if got := page.find("input[name='spec.settings.0.name']").AttrOr("value", ""); got != "zone" {
		t.Errorf("the row left is %q", got)
	}
	page.none("input[name='spec.settings.1.name']")
	if got := page.find("input[name=name]").AttrOr("value", ""); got != "Kept" {
		t.Errorf("the name became %q", got)
	}
	for _, op := range []string{"add:spec.none", "remove:spec.settings.99", "remove:x", "remove:spec.settings.-1"} {
		member.post("/acme/store/new?kind=mcp", "op", op, "spec.settings.0.name", "zone").status(200).find("input[name='spec.settings.0.name'][value=zone]")
	}
}

func TestWritingAnMCPServer(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(max).post("/acme/store/new?kind=mcp",
		"op", "publish", "name", "tickets", "description", "Tickets.", "transport", "url", "spec.url", "https://{region}.example.com/mcp", "spec.image", "left/over",
		"spec.auth", "secret", "spec.provides", "list read\r\nclose write\r\nother", "spec.write", "on",
		"spec.requiredSecrets.0.name", "TOKEN", "spec.requiredSecrets.0.header", "X-Token", "spec.settings.0.name", "region", "spec.settings.0.default", "eu",
		"visibility", "subset", "sharedWith", "globex",
	).leadsTo("/acme/store/acme/tickets")
	want := &capability.MCPSpec{
		URL: "https://{region}.example.com/mcp", Auth: "secret", Provides: []string{"list", "close", "other"}, Write: true,
		ToolClasses:     map[string]capability.ToolClass{"list": "read", "close": "write"},
		RequiredSecrets: []capability.RequiredSecret{{Name: "TOKEN", Header: "X-Token"}},
		Settings:        []capability.Setting{{Name: "region", Default: "eu"}},
	}
	if diff := cmp.Diff(capability.Spec(want), s.latest(max, "acme", "tickets").Content.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	again := s.as(max).get("/acme/store/acme/tickets/edit").status(200)
	sent := append(again.fields("#author"), "op", "publish")
	s.as(max).post("/acme/store/acme/tickets/edit", sent...).leadsTo("/acme/store/acme/tickets")
	if got := s.latest(max, "acme", "tickets").Version; got != "1.0.0" {
		t.Errorf("publishing what was there made version %s", got)
	}
}

func TestACommandByItsForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	bad := member.post("/acme/store/new?kind=command", "op", "publish", "name", "tidy", "description", "Tidies.")
	bad.status(http.StatusUnprocessableEntity).find("#field-spec-template[aria-invalid=true]")
	bad.says("#field-spec-template-error", "required")
	member.post("/acme/store/new?kind=command", "op", "publish", "name", "tidy", "description", "Tidies.", "spec.template", "Tidy $ARGUMENTS").
		leadsTo("/acme/store/acme/tidy")
	if diff := cmp.Diff(capability.Spec(&capability.CommandSpec{Template: "Tidy $ARGUMENTS"}), s.latest(max, "acme", "tidy").Content.Spec); diff != "" {
		t.Error(diff)
	}
	member.get("/acme/store/new?kind=nonsense").status(http.StatusNotFound)
}

func TestANameOrIDThatIsTakenIsToldAtItsField(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.post("/acme/store/new?kind=code", codeForm...).status(http.StatusSeeOther)
	other := append(append([]string{}, codeForm...), "id", "other")
	member.post("/acme/store/new?kind=code", other...).status(http.StatusConflict).find("#field-name[aria-invalid=true]")
	page := member.post("/acme/store/new?kind=code", append(with(codeForm, "name", "Different", "visibility", "private"), "id", "shout")...)
	page.status(http.StatusUnprocessableEntity).find("#field-id[aria-invalid=true]")
	page.none("#field-visibility-error")
}

func TestAMemberMayNotPublishToEveryone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	public := with(codeForm, "visibility", "public")
	s.as(max).post("/acme/store/new?kind=code", public...).status(http.StatusUnprocessableEntity).says("#field-visibility-error", "admin")
	s.as(vera).post("/acme/store/new?kind=code", codeForm...).status(http.StatusForbidden)
	viewer := s.as(vera).get("/acme/store/new?kind=code").status(200)
	viewer.find("button[aria-disabled=true]")
	s.as(ada).post("/acme/store/new?kind=code", public...).leadsTo("/acme/store/acme/shout")
}

func TestEditingMakesTheNextVersion(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	member.post("/acme/store/new?kind=code", codeForm...).status(http.StatusSeeOther)
	page := member.get("/acme/store/acme/shout/edit").status(200)
	page.says("main", "Patch · 1.0.1", "Minor · 1.1.0", "Major · 2.0.0")
	page.none("input[name=visibility], input[name=id]")
	sent := append(page.fields("#author"), "op", "publish")
	member.post("/acme/store/acme/shout/edit", sent...).leadsTo("/acme/store/acme/shout")
	if got := s.latest(max, "acme", "shout"); got.Version != "1.0.0" {
		t.Fatalf("nothing was changed, yet there is %s", got.Version)
	}
	member.post("/acme/store/acme/shout/edit", with(sent, "bump", "minor", "spec.code", "print('C')")...).leadsTo("/acme/store/acme/shout")
	if got := s.latest(max, "acme", "shout"); got.Version != "1.1.0" {
		t.Fatalf("version %s", got.Version)
	}
	// The form that was open all along: refused once, with the difference.
	stale := member.post("/acme/store/acme/shout/edit", with(sent, "spec.code", "print('D')")...).status(http.StatusConflict)
	stale.find(`a[href="` + views.VersionDiffPath("acme", "acme", "shout", "1.0.0", "1.1.0", false) + `"]`)
	stale.says("textarea[name='spec.code']", "print('D')")
	again := append(stale.fields("#author"), "op", "publish")
	member.post("/acme/store/acme/shout/edit", again...).leadsTo("/acme/store/acme/shout")
	if got := s.latest(max, "acme", "shout"); got.Version != "1.1.1" {
		t.Errorf("version %s", got.Version)
	}
	member.post("/acme/store/acme/shout/edit", with(append(again, "version", "1.0.5"), "bump", "exact")...).
		status(http.StatusUnprocessableEntity).find("#field-version[aria-invalid=true]")
}

func TestWhoMayEdit(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(max).post("/acme/store/new?kind=code", codeForm...).status(http.StatusSeeOther)
	s.as(vera).get("/acme/store/acme/shout/edit").status(http.StatusForbidden)
	s.as(ada).get("/acme/store/acme/shout/edit").status(200)
	s.as(gus).get("/globex/store/acme/shout/edit").status(http.StatusNotFound)
	s.as(max).get("/acme/store/acme/none/edit").status(http.StatusNotFound)
}

func TestCheckingAndTryingPublishNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	bad := member.post("/acme/store/new?kind=code", with(codeForm, "op", "check", "spec.code", "print(")...)
	bad.status(http.StatusUnprocessableEntity).find("#field-spec-code[aria-invalid=true]")
	member.post("/acme/store/new?kind=code", with(codeForm, "op", "check")...).status(200).says("#author-live", "Nothing in it needs correcting.")
	member.post("/acme/store/new?kind=code", append(with(codeForm, "op", "try"), "tryInput", "{")...).
		status(http.StatusUnprocessableEntity).find("#field-tryinput[aria-invalid=true]")
	live := member.htmx().post("/acme/store/new?kind=code", with(codeForm, "op", "publish", "name", "")...).status(200)
	live.find(`#author-live a[href="#field-name"]`)
	live.none("form, html > head > title")
	member.get("/acme/store/acme/shout").status(http.StatusNotFound)
	member.post("/acme/store/new?kind=skill", "op", "try").status(http.StatusNotFound)
}

// upload sends a form with files; each file is a field, a name and its bytes.
func (c *client) upload(path string, pairs []string, files ...[3]string) *answer {
	c.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i+1 < len(pairs); i += 2 {
		must(c.t, w.WriteField(pairs[i], pairs[i+1]))
	}
	for _, f := range files {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="` + f[0] + `"; filename="` + f[1] + `"`}, "Content-Type": {"application/octet-stream"},
		})
		must(c.t, err)
		_, err = part.Write([]byte(f[2]))
		must(c.t, err)
	}
	must(c.t, w.Close())
	return c.do(http.MethodPost, path, &body, "Content-Type", w.FormDataContentType())
}

func TestASkillKeepsItsFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	binary := "\x00\x01\xff"
	page := member.upload("/acme/store/new?kind=skill", []string{"op", views.OpFile(views.FileUpload, 0), "name", "guide", "description", "A guide.", "spec.instructions", "# Guide"},
		[3]string{"upload", "logo.bin", binary}, [3]string{"upload", "run.py", "print(1)\r\n"}).status(200)
	page.says(".tree-box", "logo.bin", "3 B", "2 files")
	page = member.post("/acme/store/new?kind=skill", append(page.fields("#author"), "op", views.OpFile(views.FileOpen, 1))...).status(200)
	sent := append(page.fields("#author"), "op", "publish", "spec.metadata.0.key", "author", "spec.metadata.0.value", "Max")
	sent = with(sent, views.FilesPath, "scripts/run.py")
	member.post("/acme/store/new?kind=skill", append(sent, views.FilesRun, "on")...).leadsTo("/acme/store/acme/guide")
	want := &capability.SkillSpec{
		Instructions: "# Guide", Metadata: map[string]string{"author": "Max"}, Files: []capability.File{
			{Path: "logo.bin", MediaType: "application/octet-stream", Encoding: "base64", Content: base64.StdEncoding.EncodeToString([]byte(binary))},
			{Path: "scripts/run.py", MediaType: "text/x-python", Encoding: "utf-8", Content: "print(1)\r\n", Executable: true},
		},
	}
	if diff := cmp.Diff(capability.Spec(want), s.latest(max, "acme", "guide").Content.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	// The next version keeps the bytes without sending them.
	edit := member.get("/acme/store/acme/guide/edit").status(200)
	if strings.Contains(edit.Body, base64.StdEncoding.EncodeToString([]byte(binary))) {
		t.Error("the page carries the bytes of a file that it keeps")
	}
	next := with(append(edit.fields("#author"), "op", "publish"), "spec.instructions", "# Guide, longer")
	member.post("/acme/store/acme/guide/edit", next...).leadsTo("/acme/store/acme/guide")
	want.Instructions = "# Guide, longer"
	got := s.latest(max, "acme", "guide")
	if diff := cmp.Diff(capability.Spec(want), got.Content.Spec); diff != "" || got.Version != "1.0.1" {
		t.Errorf("version %s (-want +got):\n%s", got.Version, diff)
	}
}

func TestASkillFromAFileStaysItselfUntilItsTextChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	raw := "---\nname: guide\ndescription: A guide.\n# a remark\n---\n\n# Guide\r\n"
	s.publish(max, "acme", catalog.Publication{Name: "guide", Description: "A guide.", Spec: capability.EncodeSpec(
		&capability.SkillSpec{Instructions: "# Guide", Raw: raw, Files: []capability.File{{Path: "a.txt", Content: "a\r\n"}}})})
	member := s.as(max)
	sent := append(member.get("/acme/store/acme/guide/edit").status(200).fields("#author"), "op", "publish")
	member.post("/acme/store/acme/guide/edit", sent...).leadsTo("/acme/store/acme/guide")
	if got := s.latest(max, "acme", "guide"); got.Version != "1.0.0" {
		t.Errorf("nothing was changed, yet there is %s", got.Version)
	}
	open := member.post("/acme/store/acme/guide/edit", with(sent, "op", views.OpFile(views.FileOpen, 0))...).status(200)
	member.post("/acme/store/acme/guide/edit", append(with(open.fields("#author"), views.FilesPath, "b.txt"), "op", "publish")...).leadsTo("/acme/store/acme/guide")
	if spec := s.latest(max, "acme", "guide").Content.Spec.(*capability.SkillSpec); spec.Raw != raw || spec.Files[0].Content != "a\r\n" {
		t.Errorf("another path for a file changed the original to %q and the file to %q", spec.Raw, spec.Files[0].Content)
	}
	sent = append(member.get("/acme/store/acme/guide/edit").fields("#author"), "op", "publish")
	member.post("/acme/store/acme/guide/edit", with(sent, "spec.instructions", "# New")...).leadsTo("/acme/store/acme/guide")
	if spec := s.latest(max, "acme", "guide").Content.Spec.(*capability.SkillSpec); spec.Raw != "" || spec.Instructions != "# New" {
		t.Errorf("the original is %q beside the text %q", spec.Raw, spec.Instructions)
	}
}

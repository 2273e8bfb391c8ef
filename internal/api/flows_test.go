package api_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/ops"
)

// at follows the steps into the answer: a string is a key, a number an index.
func (a *answer) at(steps ...any) any {
	a.t.Helper()
	var v any
	a.into(&v)
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			v = v.(map[string]any)[s]
		case int:
			v = v.([]any)[s]
		}
	}
	return v
}

// is checks what lies at the steps.
func (a *answer) is(want any, steps ...any) *answer {
	a.t.Helper()
	if got := a.at(steps...); got != want {
		a.t.Fatalf("%v is %v, want %v in %s", steps, got, want, a.Body)
	}
	return a
}

const skillSpec = `{"type":"skill","instructions":"# Do it\n\nCarefully."}`

// TestSkills walks a skill of the library from its first word to the store.
func TestSkills(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	made := c.post(acme+"/skills", `{"name":"Pack a box","description":"How to pack.","draft":true,"spec":`+skillSpec+`}`).want(http.StatusCreated)
	made.is("pack-a-box", "id").is(true, "draft").is(nil, "latestStamp").is(true, "unstamped")
	if got := made.Header.Get("Location"); got != acme+"/skills/pack-a-box" {
		t.Errorf("Location %q", got)
	}
	address := acme + "/skills/pack-a-box"
	s.as(mia).get(address).refused(http.StatusNotFound, "not_found")
	c.post(address+"/share", nil).want(http.StatusOK).is(false, "draft")
	s.as(mia).get(address).want(http.StatusOK).is("# Do it\n\nCarefully.", "spec", "instructions")

	c.post(address+"/publish", `{}`).refused(http.StatusConflict, "not_stamped")
	c.post(address+"/versions", `{"note":"first"}`).want(http.StatusCreated).is("1.0.0", "version")
	c.post(address+"/versions", `{"version":"1.0.0"}`).want(http.StatusConflict)
	seen := c.get(address).want(http.StatusOK).is(false, "unstamped")
	edit := `{"name":"Pack a box","description":"How to pack well.","spec":` + skillSpec + `}`
	c.plus("If-Match", seen.Header.Get("ETag")).put(address, edit).want(http.StatusOK).is(true, "unstamped")
	c.plus("If-Match", seen.Header.Get("ETag")).put(address, edit).refused(http.StatusPreconditionFailed, "stale_revision")
	c.put(address, `{"name":"","description":"x","spec":{"type":"code"}}`).want(http.StatusUnprocessableEntity)
	c.get(address+"/versions").want(http.StatusOK).is("first", "items", 0, "note")

	c.put(acme+"/agent/skills/skill:pack-a-box", `{"enabled":false}`).want(http.StatusOK).is("off_you", "reason")
	c.get(acme+"/agent/skills").want(http.StatusOK).is("skill:pack-a-box", "items", 0, "key").is(false, "items", 0, "enabled")
	c.put(acme+"/agent/tools/skill:pack-a-box", `{"enabled":true}`).refused(http.StatusNotFound, "not_found")
	c.put(acme+"/agent/skills/skill:pack-a-box", `{}`).want(http.StatusUnprocessableEntity).is("/enabled", "errors", 0, "path")

	c.post(address+"/publish", `{"visibility":"workspace"}`).want(http.StatusCreated).is("1.0.0", "version")
	c.plus("If-Match", seen.Header.Get("ETag")).send(http.MethodDelete, address, nil).refused(http.StatusPreconditionFailed, "stale_revision")
	c.send(http.MethodDelete, address, nil).want(http.StatusNoContent)
	c.post(acme+"/skills", `{"from":{"source":"acme","id":"pack-a-box","name":"Pack it"}}`).want(http.StatusCreated).
		is("acme", "origin", "source").is("1.0.0", "latestStamp", "version").is("Pack it", "name")
}

// TestExportedComesBackTheSame exports a skill, imports it elsewhere and
// compares the digests, by each way to send a file.
func TestExportedComesBackTheSame(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	published := c.post(acme+"/capabilities", `{"name":"pack-a-box","description":"How to pack.","visibility":"workspace","spec":`+skillSpec+`}`).want(http.StatusCreated)
	export := c.get(acme + "/capabilities/pack-a-box/versions/1.0.0/export?format=skill").want(http.StatusOK)
	if got := export.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") || !strings.HasPrefix(export.Body, "PK") {
		t.Fatalf("exported as %q", got)
	}
	zip := s.with(gus, "globex", capability.ScopeWrite).plus("Content-Type", "application/zip")
	zip.post(globex+"/capabilities/import?preview=true", export.Body).want(http.StatusOK).is("made", "items", 0, "status")
	zip.get(globex+"/capabilities/pack-a-box").refused(http.StatusNotFound, "not_found")
	zip.post(globex+"/capabilities/import", export.Body).want(http.StatusOK).is(1.0, "made").is(published.at("digest"), "items", 0, "digest")
	zip.post(globex+"/capabilities/import", export.Body).want(http.StatusOK).is(1.0, "unchanged")

	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	must(t, w.WriteField("note", "not a file"))
	part, err := w.CreateFormFile("file", "pack.skill")
	must(t, err)
	_, err = part.Write([]byte(export.Body))
	must(t, err)
	must(t, w.Close())
	c.plus("Content-Type", w.FormDataContentType()).post(acme+"/skills/import", form.String()).want(http.StatusOK).is("pack-a-box", "items", 0, "id")
	c.plus("Content-Type", "multipart/form-data; boundary=x").post(acme+"/skills/import", "--x--").refused(http.StatusBadRequest, "no_file")
	markdown := c.plus("Content-Type", "text/markdown")
	markdown.post(acme+"/skills/import", "---\nname: other\ndescription: Another: one.\n---\nDo it.").want(http.StatusOK).is(1.0, "repaired")
	markdown.post(acme+"/skills/import", "---\nname: other\n---\nDo it.").want(http.StatusOK).is(1.0, "refused")
}

// TestOwnExport takes a tool with its versions to another workspace, by each
// of the ways out.
func TestOwnExport(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	first := c.post(acme+"/capabilities", codeTool("tool", with("tags", []string{"box"}))).want(http.StatusCreated).at("digest")
	second := c.post(acme+"/capabilities", codeTool("tool", with("visibility", nil), withCode("print('[2]')"), with("note", "Counts."))).want(http.StatusCreated).at("digest")
	c.get(acme+"/capabilities/tool/versions/1.0.0/export?format=skill").refused(http.StatusUnprocessableEntity, "no_place_in_format")
	c.get(acme+"/capabilities/nothing/export").refused(http.StatusNotFound, "not_found")

	one := c.get(acme + "/capabilities/tool/versions/1.0.0/export").want(http.StatusOK)
	line := c.get(acme + "/capabilities/tool/export").want(http.StatusOK)
	theirs := s.with(gus, "globex", capability.ScopeWrite).plus("Content-Type", "application/json")
	theirs.post(globex+"/capabilities/import", one.Body).want(http.StatusOK).is(1.0, "made").is(first, "items", 0, "digest")
	theirs.post(globex+"/capabilities/import?preview=true", line.Body).want(http.StatusOK).
		is(1.0, "unchanged").is(1.0, "made").is("1.0.1", "items", 1, "version").is("1.0.0", "items", 1, "follows")
	theirs.post(globex+"/capabilities/import", line.Body).want(http.StatusOK).is(1.0, "made").is(second, "items", 1, "digest")
	theirs.get(globex+"/capabilities/tool/versions").want(http.StatusOK).is("Counts.", "items", 0, "note")
	theirs.get(globex+"/capabilities/tool").want(http.StatusOK).is("box", "tags", 0)

	whole := c.get(acme + "/export").want(http.StatusOK)
	if got := whole.Header.Get("Content-Disposition"); !strings.Contains(got, "acme.capstore.zip") {
		t.Errorf("named %q", got)
	}
	theirs.plus("Content-Type", "application/zip").post(globex+"/capabilities/import", whole.Body).want(http.StatusOK).is(2.0, "unchanged").is(0.0, "made")
}

// TestImportSupplies gives an image to a server that came with a command.
func TestImportSupplies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max).plus("Content-Type", "application/json")
	const configuration = `{"mcpServers": {"notes": {"command": "npx", "args": ["-y", "notes-mcp"]}, /* by hand */ "box": {"url": "https://box.example.com/mcp"}}}`
	found := c.post(acme+"/capabilities/import?name=mcp.json&preview=true", configuration).want(http.StatusOK).is(1.0, "refused").is(1.0, "made").object()
	for _, item := range found["items"].([]any) {
		item := item.(map[string]any)
		if item["status"] != "refused" {
			continue
		}
		path := item["path"].(string)
		c.post(acme+"/capabilities/import?name=mcp.json&image="+url.QueryEscape(path+"=ghcr.io/example/notes:1.2"), configuration).
			want(http.StatusOK).is(2.0, "made")
		c.post(acme+"/capabilities/import?name=mcp.json&path="+url.QueryEscape(path)+"&url="+url.QueryEscape(path+"=https://notes.example.com/mcp"), configuration).
			want(http.StatusOK).is(1.0, "made").is(1.0, "ignored")
	}
	c.post(acme+"/capabilities/import?image=nothing", configuration).refused(http.StatusBadRequest, "bad_parameter")
}

// TestCopy makes a capability of others one's own, once under each name.
func TestCopy(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	theirs := s.with(gus, "globex", capability.ScopeWrite)
	theirs.post(globex+"/capabilities", codeTool("Tool", with("visibility", "public"))).want(http.StatusCreated)
	c := s.as(max)
	c.post(acme+"/capabilities/copy", `{"source":"globex","id":"tool"}`).want(http.StatusCreated).
		is("acme", "source").is("globex/tool@1.0.0", "provenance", "copiedFrom")
	c.get(acme+"/capabilities/tool").want(http.StatusOK).is("private", "visibility")
	theirs.post(globex+"/capabilities", codeTool("Tool", with("visibility", nil), withCode("print('[2]')"))).want(http.StatusCreated)
	c.post(acme+"/capabilities/copy", `{"source":"globex","id":"tool"}`).refused(http.StatusConflict, "name_taken")
	c.post(acme+"/capabilities/copy", `{"source":"globex","id":"tool","version":"1.0.0","name":"Second"}`).want(http.StatusCreated).is("second", "id")
}

// TestSecretsStayIn stores a value and looks for it in every answer that an
// admin can get.
func TestSecretsStayIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(ada)
	const canary = "canary-3f9a1c"
	c.post(acme+"/secrets", `{"name":"KEY","value":"`+canary+`\n"}`).want(http.StatusCreated).is("newline_trimmed", "notices", 0)
	c.put(acme+"/secrets/KEY", `{"value":"`+canary+`"}`).want(http.StatusOK).is(2.0, "revision")
	c.put(acme+"/secrets/KEY", `{"value":"`+canary+`","personal":true}`).want(http.StatusCreated)
	c.put(acme+"/secrets/KEY", `{"value":["`+canary+`"]}`).want(http.StatusUnprocessableEntity)
	c.put(acme+"/secrets/low", `{"value":"`+canary+`"}`).want(http.StatusUnprocessableEntity)
	for _, op := range ops.All(s.Services) {
		path := strings.ReplaceAll(op.Path, "{workspace}", "acme")
		if op.Method == http.MethodGet && !strings.Contains(path, "{") {
			if a := c.get("/api/v1" + path).want(http.StatusOK); strings.Contains(a.Body, canary) {
				t.Errorf("%s gives the value away: %s", op.Name, a.Body)
			}
		}
	}
	if got := len(c.get(acme + "/secrets").at("items").([]any)); got != 2 {
		t.Errorf("%d secrets, want one of the workspace and one personal", got)
	}
	c.send(http.MethodDelete, acme+"/secrets/KEY?personal=true", nil).want(http.StatusNoContent)
	c.send(http.MethodDelete, acme+"/secrets/KEY?personal=true", nil).refused(http.StatusNotFound, "not_found")
}

// TestMembers is the administration of who belongs.
func TestMembers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin, member := s.as(ada), s.as(max)
	if got := len(member.get(acme + "/members").want(http.StatusOK).at("items").([]any)); got != 4 {
		t.Errorf("%d members, want 4", got)
	}
	member.post(acme+"/invitations", `{"role":"admin"}`).refused(http.StatusForbidden, "role_too_low")
	admin.post(acme+"/invitations", `{"role":"king"}`).want(http.StatusUnprocessableEntity)
	opened := admin.post(acme+"/invitations", `{"role":"viewer","email":"`+lone+`"}`).want(http.StatusCreated)
	if list := admin.get(acme + "/invitations").want(http.StatusOK); strings.Contains(list.Body, opened.at("token").(string)) {
		t.Error("the list shows the link's token")
	}
	admin.send(http.MethodDelete, acme+"/invitations/"+opened.at("id").(string), nil).want(http.StatusNoContent)
	admin.put(acme+"/members/"+s.subject(vera), `{"role":"member"}`).want(http.StatusNoContent)
	admin.send(http.MethodDelete, acme+"/members/"+s.subject(ada), nil).want(http.StatusConflict) // the last admin
	admin.send(http.MethodDelete, acme+"/members/"+s.subject(mia), nil).want(http.StatusNoContent)
	member.send(http.MethodDelete, acme+"/members/"+s.subject(max), nil).want(http.StatusNoContent)
	member.get(acme + "/members").want(http.StatusUnauthorized)
}

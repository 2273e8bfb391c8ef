package web_test

import (
	"strings"
	"testing"
)

const hostile = `<script>alert(1)</script><img src=x onerror=alert(1)>"'`

func TestMembersAsAnAdminSeesThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.as(ada)
	page := admin.get("/acme/settings/members").status(200)
	if n := page.find(".data-table tbody tr").Length(); n != 3 {
		t.Errorf("%d members, want 3", n)
	}
	page.find("a[href='/acme/settings/members/invite'][data-variant=primary]")
	if n := len(page.Statements); n > 5 {
		t.Errorf("%d statements: %q", n, page.Statements)
	}
	role := "/acme/settings/members/" + s.subject(max) + "/role"
	admin.post(role, "role", "admin").leadsTo("/acme/settings/members")
	undo := admin.get("/acme/settings/members").status(200).find("form[action='" + role + "'] input[type=hidden][name=role]")
	if got := undo.AttrOr("value", ""); got != "member" {
		t.Errorf("undo sets the role %q", got)
	}
	admin.post(role, "role", "emperor").status(422).find("main li")
	remove := "/acme/settings/members/" + s.subject(max) + "/remove"
	admin.get(remove).status(200).find("form[action='" + remove + "'] button[data-variant=destructive]")
	admin.post(remove).leadsTo("/acme/settings/members")
	admin.post(remove).status(404)
	s.as(max).get("/acme/settings/members").status(404)
}

func TestRenameWorkspace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	bad := s.as(ada).post("/acme/settings/name", "name", strings.Repeat("long ", 20)).status(422)
	bad.find("#field-name[aria-invalid=true]")
	s.as(ada).post("/acme/settings/name", "name", "Acme Freight").leadsTo("/acme/settings/members")
	if got := s.as(vera).get("/?all=1").text("a.row-link[href='/acme/store']") + s.as(vera).get("/acme/settings/members").text(".crumbs a"); got == "" {
		t.Error("no workspace is shown")
	} else if !strings.Contains(got, "Acme Freight") {
		t.Errorf("the workspace is called %q", got)
	}
	s.as(max).post("/acme/settings/name", "name", "Mine").status(403)
}

func TestTheLastAdminStays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.as(ada)
	own := "/acme/settings/members/" + s.subject(ada)
	admin.post(own+"/role", "role", "viewer").status(409)
	admin.post(own + "/remove").status(409)
	admin.get("/acme/settings/members").status(200).find("a[href='/acme/settings/members/invite']")
}

func TestMembersAsOthersSeeThem(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.invite("viewer", "secret@acme.test")
	viewer := s.as(vera)
	page := viewer.get("/acme/settings/members").status(200)
	if why := page.text("#" + page.find("button[aria-disabled=true]").AttrOr("aria-describedby", "none")); !strings.Contains(why, "Ada") {
		t.Errorf("the invite button does not say whom to ask: %q", why)
	}
	page.none("select[name=role]")
	if strings.Contains(page.Body, "secret@acme.test") {
		t.Error("a viewer sees whom the admin invites")
	}
	viewer.get("/acme/settings/members/invite").status(403)
	viewer.post("/acme/settings/members/invite", "role", "admin").status(403)
	viewer.post("/acme/settings/members/"+s.subject(vera)+"/role", "role", "admin").status(403)
	viewer.post("/acme/settings/members/" + s.subject(max) + "/remove").status(403)
	leave := "/acme/settings/members/" + s.subject(vera) + "/remove"
	viewer.get(leave).status(200)
	viewer.post(leave).leadsTo("/")
	viewer.get("/acme/settings/members").status(404)
}

func TestInvitationsAreRevoked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	link := s.invite("member", "")
	admin := s.as(ada)
	list := admin.get("/acme/settings/members").status(200)
	token := strings.TrimPrefix(link, "/invite/")
	if strings.Contains(list.Body, token) {
		t.Error("the link is shown again")
	}
	revoke := list.find("form[action*='/invitations/']").AttrOr("action", "")
	s.as(max).post(revoke).status(403)
	admin.post(revoke).leadsTo("/acme/settings/members")
	s.stranger().get(link).status(404)
	admin.post("/acme/settings/members/invite", "role", "member", "email", "no address").status(422).find("#field-email[aria-invalid=true]")
}

func TestHostileNamesStayText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(max).post("/account", "name", hostile, "locale", "", "theme", "").leadsTo("/account")
	s.workspace("evil", hostile)
	s.join("evil", ada, "admin")
	admin := s.as(ada)
	for _, path := range []string{"/?all=1", "/acme/settings/members", "/acme/settings/members/" + s.subject(max) + "/remove", "/account/tokens/new"} {
		page := admin.get(path).status(200)
		page.none("script:not([src]), img, [onerror]")
		if !strings.Contains(page.Doc.Text(), "<script>alert(1)") && !strings.Contains(page.Body, "&lt;script&gt;alert(1)") {
			t.Errorf("%s does not show the name", path)
		}
	}
}

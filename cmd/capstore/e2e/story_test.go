package e2e_test

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/views/browsertest"
)

// TestTheMainJob goes from finding a capability to the answer of a call, in a
// workspace that has nothing yet, with script and without.
func TestTheMainJob(t *testing.T) {
	for name, view := range map[string]browsertest.View{"with script": {}, "without": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, true)
			s.found(t)
			r := reader{t, s, browsertest.Open(t), view}
			r.finds()
			r.reads()
			r.adopts()
			r.switches()
			r.runs()
			r.press("Sign out")
			r.promotes()
			for _, trouble := range r.tab.Troubles() {
				if !strings.Contains(trouble, "422") { // the browser logs a refused form itself
					t.Error(trouble)
				}
			}
		})
	}
}

// found makes a third workspace, in which Jun is a member and Tom may read.
func (s *site) found(t *testing.T) {
	t.Helper()
	if err := s.Identity.EnsureWorkspace(t.Context(), "initech", "Initech"); err != nil {
		t.Fatal(err)
	}
	for email, role := range map[string]capability.Role{member: capability.RoleMember, viewer: capability.RoleViewer} {
		if err := s.Identity.EnsureMember(t.Context(), "initech", s.actor(t, email, "acme").Subject, role); err != nil {
			t.Fatal(err)
		}
	}
}

// finds signs in and searches; with script the list follows the typing.
func (r reader) finds() {
	r.t.Helper()
	r.visit("/")
	r.press("Jun Park")
	r.follow("Initech")
	r.sees("Store")
	r.fill("Search by name", "invoice")
	if r.view.NoScript {
		r.press("Search")
	}
	r.sees("found")
	r.follow("invoice_check")
	r.sees("globex/invoice-check")
}

// reads looks at the source and at what changed between two versions.
func (r reader) reads() {
	r.t.Helper()
	r.follow("Source")
	r.sees("hmac.new(key, text, hashlib.sha256)")
	r.follow("Versions")
	r.chooses("From", "1.0.0")
	r.chooses("To", "1.1.0")
	r.press("Compare")
	r.sees("Takes more parameters: vatPercent")
	r.sees("ROUND_HALF_UP")
}

// adopts is refused without consent and keeps nothing half-done.
func (r reader) adopts() {
	r.t.Helper()
	r.follow("Adopt")
	r.sees("This runs code of globex")
	r.fill("Or a new value", "made-up-signing-key")
	r.press("Adopt 1.2.0")
	r.sees("The source must be agreed to first.")
	r.fill("Or a new value", "made-up-signing-key")
	r.tick("I have read it")
	r.press("Adopt 1.2.0")
	r.sees("In your workspace")
}

// switches it off and on for himself alone.
func (r reader) switches() {
	r.t.Helper()
	r.follow("Settings")
	r.follow("Tools")
	r.sees("On: adopted by the workspace")
	r.press("invoice_check")
	r.sees("Off: you switched it off")
	r.press("invoice_check")
	r.sees("On: ")
}

// runs it with one of its examples and reads the answer.
func (r reader) runs() {
	r.t.Helper()
	r.follow("Chat")
	r.follow("Tools")
	r.follow("code__invoice_check")
	r.follow("With tax, and a cent too much")
	r.until("the example stands in the form", `[...document.querySelectorAll("[name^='arg.']")].some(field => field.value)`)
	r.press("Run")
	r.until("the conversation is there", `/chat\/[0-9a-f-]{36}/.test(location.pathname)`)
	r.seesAfterReload("difference")
	r.sees("signature")
}

// promotes makes something public as an admin of its workspace.
func (r reader) promotes() {
	r.t.Helper()
	r.press("Elif Aydin")
	r.sees("Store")
	r.follow("Mine")
	r.follow("standup")
	r.press("More actions")
	r.follow("Manage")
	r.tick("Public")
	r.press("See what this changes")
	r.sees("Everyone who is signed in can see it.")
	r.press("Set the reach to Public")
	r.sees("Public · now")
}

// TestWithoutTheRight holds that a page says why not and who can, and that the
// server refuses whoever asks all the same.
func TestWithoutTheRight(t *testing.T) {
	s := serve(t, true)
	s.found(t)
	tab := browsertest.Open(t)
	for _, tc := range []struct {
		as, page, says string
		form           string
		values         url.Values
	}{
		{viewer, "/initech/store/globex/iban-check", "member", "/initech/store/globex/iban-check/adopt", url.Values{"version": {"1.0.0"}}},
		{member, "/acme/store/acme/parcel-label/manage", "takes an admin", "/acme/store/acme/parcel-label/manage/reach", url.Values{"visibility": {"public"}, "seen": {"public:"}, "op": {"apply"}, "revision": {"1"}}},
		{viewer, "/acme/store/new?kind=command", "member", "/acme/store/new?kind=command", url.Values{"name": {"mine"}, "description": {"Mine."}, "template": {"x"}, "op": {"publish"}}},
	} {
		s.become(t, tab, tc.as)
		r := reader{t, s, tab, browsertest.View{}}
		r.visit(tc.page)
		r.sees(tc.says)
		// The form is shown again with the reason, or the page says it.
		if status := s.post(t, tc.as, tc.form, tc.values); status != http.StatusForbidden && status != http.StatusUnprocessableEntity {
			t.Errorf("%s as %s: status %d, want a refusal", tc.form, tc.as, status)
		}
	}
	carried, err := s.Workspace.Carried(t.Context(), s.actor(t, member, "initech"))
	if err != nil {
		t.Fatal(err)
	}
	if len(carried.Config.Capabilities) > 0 {
		t.Errorf("adopted all the same: %+v", carried.Config.Capabilities)
	}
	label, err := s.Catalog.Get(t.Context(), s.actor(t, member, "acme"), "acme", "parcel-label")
	if err != nil || label.Access.Reach != capability.ReachWorkspace {
		t.Errorf("promoted all the same: %s (%v)", label.Access.Reach, err)
	}
	if _, err := s.Catalog.Get(t.Context(), s.actor(t, admin, "acme"), "acme", "mine"); !fault.Is(err, fault.NotFound) {
		t.Errorf("published all the same (%v)", err)
	}
}

// post sends a form as one of the demo's people and returns the status.
func (s *site) post(t *testing.T, as, path string, form url.Values) int {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(path string, form url.Values) int {
		res, err := client.PostForm(s.url+path, form)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	send("/demo/login", url.Values{"email": {as}})
	return send(path, form)
}

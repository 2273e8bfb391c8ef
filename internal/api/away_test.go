package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestDatabaseAway: programs hear that they may try again, and nothing of why.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := s.stranger().plus("Content-Type", "application/x-www-form-urlencoded")
	cookie, _, _ := strings.Cut(form.post("/static/sign-in", "email="+max).want(200).Header.Get("Set-Cookie"), ";")
	byToken, bySession := s.as(max), s.stranger().plus("Cookie", cookie)
	s.db.Close()
	for _, c := range []*client{byToken, bySession} {
		for _, a := range []*answer{c.get("/api/v1/me"), c.get(acme + "/capabilities"), c.post(acme+"/capabilities", codeTool("x"))} {
			p := a.want(http.StatusServiceUnavailable).object()
			if p["code"] == "internal" || strings.Contains(a.Body, "pool") {
				t.Errorf("answer %s", a.Body)
			}
		}
	}
	s.stranger().get("/api/v1/me").refused(http.StatusUnauthorized, "sign_in_needed")
}

package web_test

import (
	"net/http"
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// A capability's page offers the formats that have a place for its kind, and
// each comes back by the import page as what is there already.
func TestExportsComeBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	member := s.as(max)
	for _, p := range []catalog.Publication{
		{Name: "guide", Description: "A guide.", Spec: textSkill(t, "One.")},
		{Name: "board", Description: "A board.", Spec: []byte(`{"type":"mcp","url":"https://board.example.com/mcp","auth":"secret","requiredSecrets":[{"name":"KEY","description":"The key."}]}`)},
		{Name: "hello", Description: "Says hello.", Spec: []byte(`{"type":"command","template":"Say hello to $1"}`)},
	} {
		p.Visibility = capability.ReachWorkspace
		s.publish(max, "acme", p)
	}
	s.publish(max, "acme", catalog.Publication{Name: "guide", Description: "A guide.", Spec: textSkill(t, "Two.")})
	formats := map[string]int{"guide": 4, "board": 5, "hello": 2}
	for id, want := range formats {
		links := member.get("/acme/store/acme/" + id).status(200).find(`a[href*="/export"]`)
		if links.Length() != want {
			t.Errorf("%s is offered in %d formats, want %d", id, links.Length(), want)
		}
		for _, link := range links.EachIter() {
			href := link.AttrOr("href", "")
			file := member.get(href).status(200)
			if got := file.Header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") {
				t.Errorf("%s is shown: %s", href, got)
			}
			back := member.sends(nil, [3]string{"file", "x", file.Body})
			back.page.none("input[name=listed]")
			back.page.find("[data-fate=unchanged]")
		}
	}
	member.get("/acme/store/acme/hello/export?version=1.0.0&format=skill").status(http.StatusUnprocessableEntity)
	member.get("/acme/store/acme/hello/export?version=9.0.0&format=capstore").status(http.StatusNotFound)
	member.get("/acme/store/acme/none/export").status(http.StatusNotFound)
	s.as(gus).get("/globex/store/acme/hello/export").status(http.StatusNotFound)
}

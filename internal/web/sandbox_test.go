package web_test

import (
	"strings"
	"testing"

	"capstore/internal/capability"
	"capstore/internal/catalog"
)

// Where nothing isolates code, each page on which it would run says so and whose
// turn it is; every other page works.
func TestPagesWithoutASandbox(t *testing.T) {
	s := newSite(t)
	v := s.publish(max, "acme", catalog.Publication{
		Name: "greeter", Description: "Greets.", Spec: greetSpec(t, nil), Visibility: capability.ReachWorkspace,
	})
	s.pin(max, "acme", v)
	t.Setenv("PATH", t.TempDir())
	member := s.as(max)

	chat := member.post("/acme/chat", "tool", "code__greeter", "arg.name", "Kim").status(303)
	page := member.get(chat.Header.Get("Location")).status(200)
	try := member.post("/acme/store/acme/greeter/try?version=1.0.0", "arg.name", "Kim")
	if try.Status >= 500 && try.Status != 503 {
		t.Errorf("a try: %d", try.Status)
	}
	for name, got := range map[string]string{"the chat": page.text("main"), "a try": try.text("main")} {
		if !strings.Contains(got, "bubblewrap") || !strings.Contains(got, "Whoever runs this server") {
			t.Errorf("%s does not say what is missing and whose turn it is: %s", name, got)
		}
	}
	for _, path := range []string{"/acme/store/acme/greeter", "/acme/chat?pick=1", "/acme/settings/tools", "/acme/settings/tools/capability:acme%2Fgreeter"} {
		if got := member.get(path).status(200).text("main"); !strings.Contains(got, "bubblewrap") {
			t.Errorf("%s does not say that code does not run here: %s", path, got)
		}
	}
	for _, path := range []string{"/acme/store", "/acme/store/acme/greeter/adopt", "/acme/settings/members"} {
		member.get(path).status(200)
	}
}

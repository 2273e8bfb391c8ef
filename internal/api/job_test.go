package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"capstore/internal/capability"
)

// TestPublishAndRead walks a capability from its first version to its end.
func TestPublishAndRead(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)

	first := c.post(acme+"/capabilities", codeTool("Add up")).want(http.StatusCreated)
	if got, want := first.Header.Get("Location"), acme+"/capabilities/add-up/versions/1.0.0"; got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	v := first.object()
	if v["source"] != "acme" || v["id"] != "add-up" || v["version"] != "1.0.0" || v["digest"] == "" {
		t.Errorf("published %v", v)
	}
	again := c.post(acme+"/capabilities", codeTool("Add up", with("visibility", nil))).want(http.StatusOK).object()
	if again["noChanges"] != true {
		t.Errorf("again: %v", again)
	}
	next := codeTool("Add up", with("visibility", nil), with("id", "add-up"), with("bump", "minor"), withCode("print('[]')"))
	c.plus("If-Match", first.Header.Get("ETag")).post(acme+"/capabilities", next).want(http.StatusCreated)
	next["spec"].(map[string]any)["code"] = "print('[1]')"
	c.plus("If-Match", first.Header.Get("ETag")).post(acme+"/capabilities", next).refused(http.StatusPreconditionFailed, "changed_since")

	diff := c.get(acme + "/capabilities/add-up/diff?base=1.0.0&candidate=1.1.0").want(http.StatusOK).object()
	change := diff["changes"].([]any)[0].(map[string]any)
	if diff["base"] != "1.0.0" || diff["candidate"] != "1.1.0" || diff["typeChanged"] != false || change["path"] != "/spec/code" || change["op"] != "changed" {
		t.Errorf("diff %v", diff)
	}
	if effect := diff["effects"].([]any)[0].(map[string]any); effect["code"] != "code_changed" || diff["suggestedBump"] != "patch" {
		t.Errorf("effects %v, suggested %v", diff["effects"], diff["suggestedBump"])
	}
	versions := c.get(acme + "/capabilities/add-up/versions").want(http.StatusOK).object()["items"].([]any)
	if len(versions) != 2 || versions[0].(map[string]any)["version"] != "1.1.0" {
		t.Errorf("versions %v", versions)
	}
	c.put(acme+"/capabilities/add-up/versions/1.0.0/tags", map[string]any{"tags": []string{"old"}}).want(http.StatusOK)
	c.put(acme+"/capabilities/add-up/versions/1.0.0/tags", map[string]any{"tags": []string{"older"}, "seen": []string{}}).refused(http.StatusConflict, "changed_since")
	c.put(acme+"/capabilities/add-up/versions/1.0.0/tags", map[string]any{"tags": []string{"older"}, "seen": []string{"old"}}).want(http.StatusOK)
	c.post(acme+"/capabilities/add-up/versions/1.0.0/block", map[string]any{"reason": "wrong"}).want(http.StatusOK)
	if got := c.post(acme+"/capabilities/add-up/versions/1.0.0/unblock", nil).want(http.StatusOK).object(); got["state"] != "live" {
		t.Errorf("unblocked: %v", got)
	}
	c.send(http.MethodDelete, acme+"/capabilities/add-up/versions/1.0.0", nil).want(http.StatusNoContent)

	seen := c.get(acme + "/capabilities/add-up").want(http.StatusOK)
	c.plus("If-Match", seen.Header.Get("ETag")).send(http.MethodPatch, acme+"/capabilities/add-up", map[string]any{"tags": []string{"sums"}}).want(http.StatusOK)
	c.plus("If-Match", seen.Header.Get("ETag")).send(http.MethodPatch, acme+"/capabilities/add-up", map[string]any{"tags": []string{"other"}}).
		refused(http.StatusPreconditionFailed, "changed_since")
	c.send(http.MethodPatch, acme+"/capabilities/add-up", map[string]any{"visibility": "public"}).refused(http.StatusForbidden, "public_needs_admin")
	s.as(ada).send(http.MethodPatch, acme+"/capabilities/add-up", map[string]any{"visibility": "public", "deprecated": map[string]any{"note": "old"}}).want(http.StatusOK)
	if got := s.as(ada).send(http.MethodPatch, acme+"/capabilities/add-up", map[string]any{"deprecated": nil}).want(http.StatusOK).object(); got["deprecated"] != nil {
		t.Errorf("still deprecated: %v", got)
	}
	c.send(http.MethodDelete, acme+"/capabilities/add-up", nil).want(http.StatusNoContent)
	c.get(acme+"/capabilities/add-up").refused(http.StatusNotFound, "not_found")
}

// TestAdoptAndSwitch is the main job: adopt foreign code with consent and a
// secret, switch it, and try it.
func TestAdoptAndSwitch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	tool := codeTool("Sign", with("visibility", "public"), withCode("import json\nprint(json.dumps({'n': 12345678901234567890}))"))
	tool["spec"].(map[string]any)["requiredSecrets"] = []any{map[string]any{"name": "SIGNING_KEY"}}
	digest := s.with(gus, "globex", capability.ScopeAgent).post(globex+"/capabilities", tool).want(http.StatusCreated).object()["digest"]

	c := s.as(max)
	found := c.get(acme + "/capabilities?q=sign&scope=store&kind=code").want(http.StatusOK).object()["items"].([]any)
	if n := len(c.get(acme + "/capabilities?q=sign&scope=store&kind=code").Statements); n > 4 {
		t.Errorf("a page of the store takes %d statements, want 4 at most", n)
	}
	if len(found) != 1 || found[0].(map[string]any)["source"] != "globex" {
		t.Fatalf("found %v", found)
	}
	adoption := map[string]any{"source": "globex", "id": "sign", "version": "1.0.0"}
	problem := c.post(acme+"/agent/capabilities", adoption).refused(http.StatusConflict, "consent_required")
	if problem.Facts["digest"] != digest {
		t.Fatalf("consent asked for %v, want the digest %v", problem.Facts, digest)
	}
	adoption["consentDigest"] = digest
	c.post(acme+"/agent/capabilities", adoption).want(http.StatusOK)

	key := acme + "/agent/tools/capability:globex/sign" // however the slash is sent
	row := c.get(acme + "/agent/tools/capability:globex%2Fsign").want(http.StatusOK).object()
	if row["enabled"] != false || row["reason"] != "needs_setup" || row["needs"].([]any)[0].(map[string]any)["name"] != "SIGNING_KEY" {
		t.Fatalf("row %v", row)
	}
	c.put(acme+"/secrets/KEY_OF_ACME", map[string]any{"value": "s3cret"}).want(http.StatusCreated)
	c.put(key+"/secrets", map[string]any{"secretBindings": map[string]any{"SIGNING_KEY": "KEY_OF_ACME"}}).want(http.StatusOK)
	if row := c.get(key).want(http.StatusOK).object(); row["enabled"] != true || row["reason"] != "on_adopted" || row["override"] != nil {
		t.Fatalf("row %v", row)
	}
	if row := c.put(key, map[string]any{"enabled": false}).want(http.StatusOK).object(); row["enabled"] != false || row["override"] != false || row["reason"] != "off_you" {
		t.Fatalf("row %v", row)
	}
	if row := c.put(key, map[string]any{"enabled": nil}).want(http.StatusOK).object(); row["enabled"] != true || row["override"] != nil {
		t.Fatalf("row %v", row)
	}
	probed := c.post(key+"/probe", nil).want(http.StatusOK).object()["functions"].([]any)
	if probed[0].(map[string]any)["name"] != "code__Sign" {
		t.Fatalf("probed %v", probed)
	}
	c.send(http.MethodDelete, acme+"/agent/capabilities/globex/sign", nil).want(http.StatusNoContent)
	c.get(key).refused(http.StatusNotFound, "not_found")
	history := c.get(acme + "/agent/versions?limit=1").want(http.StatusOK).object()
	if history["nextCursor"] == "" || len(history["items"].([]any)) != 1 {
		t.Fatalf("history %v", history)
	}
}

// TestALongDiffInParts walks through a difference that is too long for one
// answer.
func TestALongDiffInParts(t *testing.T) {
	t.Parallel()
	c := newSite(t).as(max)
	tool := codeTool("Long", withCode(strings.Repeat("x = 1\n", 3000)))
	c.post(acme+"/capabilities", tool).want(http.StatusCreated)
	c.post(acme+"/capabilities", codeTool("Long", with("id", "long"), with("visibility", nil), withCode(strings.Repeat("x = 2\n", 3000)))).want(http.StatusCreated)
	const diff = acme + "/capabilities/long/diff?base=1.0.0&candidate=1.0.1"
	path, given := diff, 0.0
	for range 4 {
		changes := c.get(path).want(http.StatusOK).object()["changes"].([]any)
		text := changes[0].(map[string]any)["text"].(map[string]any)
		if from, _ := text["from"].(float64); len(changes) != 1 || from != given {
			t.Fatalf("%d changes, from %v after %v", len(changes), text["from"], given)
		}
		given += text["given"].(float64)
		if given == text["added"].(float64)+text["removed"].(float64) {
			return
		}
		path = fmt.Sprintf("%s&path=/spec/code&from=%v", diff, given)
	}
	t.Errorf("%v changed lines were given in four parts", given)
}

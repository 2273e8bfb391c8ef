package api_test

import (
	"net/http"
	"testing"
)

// TestModels walks a model's life, and what its choice means for a member.
func TestModels(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin, member := s.as(ada), s.as(max)

	member.get(acme+"/models").want(200).holds(0, "items")
	member.get(acme+"/agent/model").want(200).is("none", "from").is(nil, "model").is(nil, "problem")

	house := map[string]any{"provider": "openai", "baseUrl": "https://models.example.com/v1/", "model": "Qwen/Qwen3-8B", "secret": "HOUSE_KEY", "priceInput": 0.25, "priceOutput": 1, "contextTokens": 32768}
	member.post(acme+"/models", house).refused(403, "role_too_low")
	made := admin.post(acme+"/models", house).want(201)
	made.is("qwen-qwen3-8b", "name").is("https://models.example.com/v1", "baseUrl").is(0.25, "priceInput").is(nil, "priceCached").is(false, "usable").is(32768.0, "contextTokens")
	if got := made.Header.Get("Location"); got != acme+"/models/qwen-qwen3-8b" {
		t.Errorf("at %q", got)
	}
	admin.post(acme+"/models", house).refused(409, "model_exists")
	tag := made.Header.Get("ETag")

	one := acme + "/models/qwen-qwen3-8b"
	house["model"], house["secret"] = "Qwen/Qwen3-32B", ""
	admin.plus("If-Match", tag).put(one, house).want(200).is("Qwen/Qwen3-32B", "model").is(true, "usable")
	admin.plus("If-Match", tag).put(one, house).refused(http.StatusPreconditionFailed, "stale_revision")
	member.get(one).want(200).is("Qwen/Qwen3-32B", "model")
	member.put(one, house).refused(403, "role_too_low")
	member.get(acme+"/models/nothing").refused(404, "not_found")
	admin.put(acme+"/models/nothing", map[string]any{}).refused(422, "invalid")

	member.put(acme+"/agent/model", map[string]any{"model": "qwen-qwen3-8b"}).want(200).is("qwen-qwen3-8b", "model").is("member", "from").is("qwen-qwen3-8b", "own")
	member.get(one).want(200).is(1.0, "chosenBy")
	for name, body := range map[string]any{"nothing": map[string]any{}, "empty": map[string]any{"model": ""}, "unknown": map[string]any{"model": "gpt"}} {
		t.Run(name, func(t *testing.T) {
			c := *member
			c.t = t
			c.put(acme+"/agent/model", body).refused(422, "invalid")
		})
	}
	member.post(one+"/test", nil).want(200).is(false, "answers").is("model_unreachable", "problem", "code")
	member.post(acme+"/models/nothing/test", nil).refused(404, "not_found")
	admin.send(http.MethodDelete, one, nil).want(204)
	member.get(acme+"/agent/model").want(200).is("model_gone", "problem", "code").is("qwen-qwen3-8b", "model").holds(0, "available")
	member.put(acme+"/agent/model", map[string]any{"model": nil}).want(200).is("none", "from").is(nil, "own")
}

// TestModelFaults lists every fault of a model at once.
func TestModelFaults(t *testing.T) {
	t.Parallel()
	admin := newSite(t).as(ada)
	p := admin.post(acme+"/models", map[string]any{
		"name": "My model", "provider": "anthropic", "model": "x", "baseUrl": "http://10.0.0.1", "secret": "sk-ant", "priceInput": -1, "priceOutput": 1e-9,
	}).refused(422, "invalid")
	want := map[string]string{"/name": "bad_model_name", "/baseUrl": "address_refused", "/secret": "bad_secret_name", "/priceInput": "bad_price", "/priceOutput": "bad_price"}
	for _, f := range p.Errors {
		if want[f.Path] != f.Code {
			t.Errorf("%s %s", f.Path, f.Code)
		}
		delete(want, f.Path)
	}
	if len(want) > 0 {
		t.Errorf("not told: %v", want)
	}
}

// TestUsage is a workspace in which nothing happened yet.
func TestUsage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.as(ada).get(acme+"/usage?days=7").want(200).is(true, "everyone").holds(7, "days").is("", "total", "cost")
	s.as(max).get(acme+"/usage").want(200).is(false, "everyone").holds(30, "days")
	s.as(ada).get(acme+"/usage?days=367").refused(422, "invalid")
}

// holds checks how long the list at the steps is.
func (a *answer) holds(n int, steps ...any) *answer {
	a.t.Helper()
	if list, ok := a.at(steps...).([]any); !ok || len(list) != n {
		a.t.Fatalf("%v is not a list of %d in %s", steps, n, a.Body)
	}
	return a
}

package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"capstore/internal/capability"
)

// TestBadBodies holds every body that cannot be accepted to its one answer,
// and to leaving nothing behind.
func TestBadBodies(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	valid := `{"name":"X","description":"Y","spec":{"type":"command","template":"hi"}}`
	for name, tc := range map[string]struct {
		body   string
		status int
		code   string
		place  string // in the detail
	}{
		"not JSON":        {`{"name": nope}`, 400, "bad_json", "byte"},
		"cut off":         {`{"name": "x"`, 400, "bad_json", "byte"},
		"empty":           {``, 400, "bad_json", "byte"},
		"duplicate key":   {`{"name":"a","name":"b"}`, 400, "duplicate_key", "/name"},
		"inner duplicate": {`{"spec":{"type":"code","type":"mcp"}}`, 400, "duplicate_key", "/spec/type"},
		"trailing data":   {valid + ` {}`, 400, "trailing_data", "byte"},
		"invalid UTF-8":   {"{\"name\":\"\xff\"}", 400, "invalid_utf8", "byte"},
		"too deep":        {`{"spec":` + strings.Repeat(`[`, 70) + strings.Repeat(`]`, 70) + `}`, 400, "too_deep", "/spec"},
		"endless number":  {`{"spec":{"timeoutSec":1e999999999}}`, 400, "number_out_of_range", "/spec/timeoutSec"},
		"a list":          {`[]`, 422, "invalid", ""},
		"null":            {`null`, 422, "invalid", ""},
		"too long":        {`{"name":"` + strings.Repeat("x", 17<<20) + `"}`, 413, "body_too_large", "16777216"},
	} {
		t.Run(name, func(t *testing.T) {
			c := *c
			c.t = t
			p := c.post(acme+"/capabilities", tc.body).refused(tc.status, tc.code)
			if !strings.Contains(p.Detail, tc.place) {
				t.Errorf("detail %q does not name %q", p.Detail, tc.place)
			}
		})
	}
	if got := c.get(acme + "/capabilities?scope=mine").want(http.StatusOK).object()["items"].([]any); len(got) != 0 {
		t.Errorf("left behind: %v", got)
	}
}

// TestEveryFaultAtOnce sends several kinds of fault in one body.
func TestEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, tc := range map[string]struct {
		body string
		want []string // path and code
	}{
		"nothing": {`{}`, []string{"/description required", "/name required", "/spec required"}},
		"unknown fields": {
			`{"nmae":"x","description":"y","spec":{"type":"command","template":"t","bogus":1}}`,
			[]string{"/name required", "/nmae unknown_field", "/spec/bogus unknown_field"},
		},
		"wrong types": {
			`{"name":1,"description":"y","tags":"a","spec":{"type":"command","template":"t"}}`,
			[]string{"/name wrong_type", "/tags wrong_type"},
		},
		"faults of the content": {
			`{"name":"x","description":"","spec":{"type":"code","language":"cobol","code":"","parametersSchema":{"type":"object"},"isReadOnly":true}}`,
			[]string{"/description required", "/spec/code required", "/spec/language not_allowed"},
		},
		"version": {
			`{"name":"x","description":"y","version":"v1.0","spec":{"type":"command","template":"t"}}`,
			[]string{"/version"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := *s.as(max)
			c.t = t
			p := c.post(acme+"/capabilities", tc.body).refused(http.StatusUnprocessableEntity, "invalid")
			var got []string
			for _, f := range p.Errors {
				got = append(got, f.Path+" "+f.Code)
			}
			for _, want := range tc.want {
				if !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, want) }) {
					t.Errorf("no %s among %q", want, got)
				}
			}
			if len(got) != len(tc.want) {
				t.Errorf("faults %q, want %q", got, tc.want)
			}
		})
	}
}

// TestVersionFaults are the rows on versions that need a line to exist.
func TestVersionFaults(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	c.post(acme+"/capabilities", codeTool("Tool", with("version", "2.0.0"))).want(http.StatusCreated)
	next := func(version, code string) *answer {
		return c.post(acme+"/capabilities", codeTool("Tool", with("visibility", nil), with("version", version), withCode(code)))
	}
	next("2.0.0", "print('[2]')").refused(http.StatusConflict, "version_exists")
	if got := next("1.0.0", "print('[2]')").want(http.StatusUnprocessableEntity).object(); got["code"] == "" {
		t.Errorf("below the newest: %v", got)
	}
	next("2.0.0+build", "print('[2]')").want(http.StatusUnprocessableEntity)
	c.post(acme+"/capabilities", codeTool("Tool", with("id", "tool"), withCode("print('[3]')"))).want(http.StatusUnprocessableEntity)
}

// TestMediaTypes holds bodies of other types to one answer.
func TestMediaTypes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	for name, tc := range map[string]struct{ header, value string }{
		"form":       {"Content-Type", "application/x-www-form-urlencoded"},
		"text":       {"Content-Type", "text/plain"},
		"charset":    {"Content-Type", "application/json; charset=euc-kr"},
		"malformed":  {"Content-Type", "application/json; ="},
		"compressed": {"Content-Encoding", "gzip"},
	} {
		t.Run(name, func(t *testing.T) {
			c := *c.plus(tc.header, tc.value)
			c.t = t
			c.post(acme+"/capabilities", codeTool("x")).refused(http.StatusUnsupportedMediaType, "unsupported_media_type")
		})
	}
	c.plus("Content-Type", "application/json; charset=UTF-8").post(acme+"/capabilities", codeTool("y")).want(http.StatusCreated)
	c.plus("Content-Type", "application/x-www-form-urlencoded").post(acme+"/capabilities/import", "# no file").refused(http.StatusUnsupportedMediaType, "unsupported_media_type")
}

// TestQueries holds the query to what an operation takes.
func TestQueries(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(max)
	for query, code := range map[string]string{
		"kinds=code":           "unknown_parameter",
		"limit=ten":            "bad_parameter",
		"limit=1&limit=2":      "bad_parameter",
		"kind=gizmo":           "bad_parameter",
		"scope=all":            "bad_parameter",
		"q=%00":                "bad_parameter",
		"q=%ff":                "bad_parameter",
		"q=%zz":                "bad_query",
		"cursor=bm90IGEgb25l":  "",
		"limit=99999999999999": "bad_parameter",
	} {
		p := c.get(acme + "/capabilities?" + query).want(http.StatusBadRequest).object()
		if code != "" && p["code"] != code {
			t.Errorf("%s: %v, want %s", query, p, code)
		}
	}
	if p := c.get(acme+"/capabilities?kinds=code&x=1").refused(400, "unknown_parameter"); !strings.Contains(p.Detail, `"kinds", "x"`) {
		t.Errorf("detail %q names not what is unknown", p.Detail)
	}
	c.get(acme+"/agent?x=1").refused(400, "unknown_parameter")
	c.get(acme+"/capabilities/x/diff?base=1.0.0").refused(400, "missing_parameter")
	for _, limit := range []string{"0", "201", "-1"} {
		if got := c.get(acme + "/capabilities?limit=" + limit); limit != "0" && got.Status != http.StatusUnprocessableEntity {
			t.Errorf("limit %s: %d %s", limit, got.Status, got.Body)
		}
	}
}

// TestRoutes holds what no route has to problem documents.
func TestRoutes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range []*client{s.stranger(), s.as(max)} {
		c.get("/api/").refused(404, "unknown_route")
		c.get("/api/v1").refused(404, "unknown_route")
		c.get("/api/v2/me").refused(404, "unknown_route")
		c.get(acme+"/gizmos").refused(404, "unknown_route")
		a := c.send(http.MethodPost, acme+"/capabilities/x", codeTool("x"))
		a.refused(405, "method_not_allowed")
		if got := a.Header.Get("Allow"); got != "DELETE, GET, HEAD, PATCH" {
			t.Errorf("Allow %q", got)
		}
		c.send("BREW", "/api/v1/me", nil).refused(405, "method_not_allowed")
	}
}

// TestPathValues are those that PostgreSQL could not hold or that are no ids.
func TestPathValues(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(ada)
	for _, value := range []string{"%00", "%ff", "nothing", "a%2Fb", "..%2F..", strings.Repeat("x", 5000), "%F0%9F%98%80"} {
		for _, path := range []string{
			"/capabilities/" + value, "/capabilities/x/versions/" + value, "/skills/" + value, "/agent/tools/" + value,
		} {
			if p := c.get(acme + path).want(404).object(); p["code"] != "not_found" {
				t.Errorf("%s: %v", path, p["code"])
			}
		}
		for _, path := range []string{"/tokens/" + value, "/members/" + value, "/invitations/" + value, "/agent/capabilities/acme/" + value} {
			c.send(http.MethodDelete, acme+path, nil).refused(404, "not_found")
		}
		c.get("/api/v1/workspaces/"+value+"/capabilities").refused(404, "not_found")
	}
}

// TestNulInText sends a character that no text of PostgreSQL can hold in every
// field that is stored.
func TestNulInText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	c := s.as(ada)
	c.post(acme+"/capabilities", codeTool("Tool")).want(http.StatusCreated)
	const nul = "a\x00b"
	for _, field := range []string{"id", "name", "description", "note", "version"} {
		if a := c.post(acme+"/capabilities", codeTool("Other", with(field, nul))); a.Status != http.StatusUnprocessableEntity && a.Status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	for path, body := range map[string]any{
		"PATCH /capabilities/tool":                     map[string]any{"tags": []string{nul}},
		"PATCH /capabilities/tool ":                    map[string]any{"deprecated": map[string]any{"note": nul}},
		"PATCH /capabilities/tool  ":                   map[string]any{"maintainers": []string{nul}},
		"PATCH /capabilities/tool   ":                  map[string]any{"visibility": "subset", "sharedWith": []string{nul}},
		"PUT /capabilities/tool/versions/1.0.0/tags":   map[string]any{"tags": []string{nul}},
		"POST /capabilities/tool/versions/1.0.0/block": map[string]any{"reason": nul},
		"POST /agent/capabilities":                     map[string]any{"source": "acme", "id": nul, "version": "1.0.0"},
		"POST /agent/capabilities ":                    map[string]any{"source": "acme", "id": "tool", "version": "1.0.0", "note": nul},
		"PUT /agent":                                   map[string]any{"config": map[string]any{"instructions": nul}},
		"PUT /secrets/NAME":                            map[string]any{"value": nul},
		"POST /invitations":                            map[string]any{"role": "member", "email": nul},
		"POST /skills":                                 map[string]any{"name": nul, "description": "x", "spec": map[string]any{"type": "skill", "instructions": "x"}},
	} {
		method, address, _ := strings.Cut(path, " ")
		if a := c.send(method, acme+strings.TrimSpace(address), body); a.Status >= 500 {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

// TestCredentials are the ways to come without a right to enter.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.stranger().get(acme+"/capabilities").refused(401, "sign_in_needed")
	if got := s.stranger().get("/api/v1/me").Header.Get("WWW-Authenticate"); !strings.HasPrefix(got, "Bearer") {
		t.Errorf("WWW-Authenticate %q", got)
	}
	s.stranger().plus("Authorization", "Bearer cap_nonsense").get(acme + "/capabilities").want(401)
	s.stranger().plus("Authorization", "Basic YTpi").get(acme+"/capabilities").refused(401, "sign_in_needed")
	s.as(max).get(globex+"/capabilities").refused(404, "not_found") // the token is for acme
	s.as(max).get("/api/v1/workspaces/nowhere/capabilities").refused(404, "not_found")

	read := s.with(max, "acme", capability.ScopeRead)
	read.get(acme + "/capabilities").want(200)
	read.post(acme+"/capabilities", codeTool("x")).refused(403, "scope_too_narrow")
	write := s.with(max, "acme", capability.ScopeWrite)
	write.post(acme+"/capabilities", codeTool("x")).want(201)
	write.post(acme+"/agent/code-tools/try", map[string]any{"source": "acme", "id": "x", "version": "1.0.0"}).refused(403, "scope_too_narrow")
	write.post(acme+"/tokens", map[string]any{"name": "more"}).refused(403, "session_needed")

	me := s.as(max).get("/api/v1/me").want(200).object()
	if me["email"] != max || len(me["memberships"].([]any)) != 2 || me["token"].(map[string]any)["scope"] != "agent" {
		t.Errorf("me: %v", me)
	}
}

// TestSession is the cookie of a page of this site.
func TestSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	form := s.stranger().plus("Content-Type", "application/x-www-form-urlencoded")
	cookie, _, _ := strings.Cut(form.post("/static/sign-in", "email="+max).want(200).Header.Get("Set-Cookie"), ";")
	c := s.stranger().plus("Cookie", cookie)
	if me := c.get("/api/v1/me").want(200).object(); me["token"] != nil || me["email"] != max {
		t.Errorf("me: %v", me)
	}
	issued := c.post(acme+"/tokens", map[string]any{"name": "mine", "scope": "write", "expiresInDays": 3}).want(201).object()
	own := s.stranger().plus("Authorization", "Bearer "+issued["token"].(string))
	if got := own.get(acme + "/tokens").want(200).object()["items"].([]any); len(got) != 1 || strings.Contains(own.get(acme+"/tokens").Body, issued["token"].(string)) {
		t.Errorf("tokens: %v", got)
	}
	own.send(http.MethodDelete, acme+"/tokens/"+issued["id"].(string), nil).want(204)
	own.get("/api/v1/me").want(401)
	c.plus("Sec-Fetch-Site", "cross-site").get("/api/v1/me").refused(403, "cross_site")
	c.plus("Sec-Fetch-Site", "same-origin").get("/api/v1/me").want(200)
	c.plus("Sec-Fetch-Site", "cross-site").post(acme+"/capabilities", codeTool("x")).refused(403, "cross_site")
	s.stranger().plus("Cookie", cookie).plus("Authorization", "Bearer cap_wrong").get("/api/v1/me").want(401)
}

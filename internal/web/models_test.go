package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"capstore/internal/agent/model/modeltest"
	"capstore/internal/workspace"
)

const modelsPage = "/acme/settings/models"

func (s *site) register(email, ws string, in workspace.ModelInput) {
	s.t.Helper()
	_, err := s.Workspace.RegisterModel(s.t.Context(), s.actor(email, ws), in)
	must(s.t, err)
}

var house = workspace.ModelInput{Name: "house", Provider: workspace.ProviderOpenAI, BaseURL: "https://models.example.com/v1", Underlying: "qwen3:8b"}

func TestModelsPageBeginsWithDirectMode(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.as(ada).get(modelsPage).status(200)
	page.find("main a[href='/acme/settings/models/new'][data-variant=primary]")
	page.find("main a[href='/acme/chat']")
	page.find(".subnav a[href='/acme/settings/models'][aria-current=page]")
	s.as(max).get(modelsPage).status(200).none("main a[href='/acme/settings/models/new']")
	presets := s.as(ada).get(modelsPage + "/new").status(200)
	for _, preset := range []string{"anthropic", "openai", "ollama", "lmstudio", "vllm", "other"} {
		presets.find("main a[href='/acme/settings/models/new?preset=" + preset + "']")
	}
	if got := s.as(ada).get(modelsPage+"/new?preset=ollama").status(200).find("#field-baseurl").AttrOr("value", ""); got != "http://127.0.0.1:11434/v1" {
		t.Errorf("the preset's address is %q", got)
	}
}

func TestModelIsAddedWithItsKeyAndTested(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	said := modeltest.New(t, modeltest.Say("ok"))
	admin := s.as(ada)
	admin.post(modelsPage+"/new?preset=anthropic", "model", "claude-sonnet-4-5", "provider", "anthropic", "baseUrl", said.URL,
		"value", secretValue, "newSecret", "ANTHROPIC_API_KEY", "priceInput", "$3", "priceOutput", "15", "contextTokens", "200,000", "then", "test").
		leadsTo(modelsPage + "/claude-sonnet-4-5")
	page := admin.get(modelsPage + "/claude-sonnet-4-5").status(200)
	page.find("[data-tone=success][role=status]")
	if text := page.text("main"); !strings.Contains(text, "ANTHROPIC_API_KEY") || !strings.Contains(text, "$3 in · $15 out") || !strings.Contains(text, "200,000") {
		t.Errorf("the page says %q", text)
	}
	if strings.Contains(page.Body, secretValue) {
		t.Error("the key comes out")
	}
	s.wantSecret(ada, "ANTHROPIC_API_KEY", secretValue)
	if got := said.Requests(); len(got) != 1 || got[0].Model != "claude-sonnet-4-5" || got[0].Header.Get("X-Api-Key") != secretValue {
		t.Errorf("asked %+v", got)
	}
	used := admin.get("/acme/settings/secrets").status(200)
	used.find("main a[href='/acme/settings/models/claude-sonnet-4-5']")
}

func TestModelTestSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	refuses := modeltest.New(t, modeltest.Refuse(http.StatusUnauthorized, "bad key"))
	in := house
	in.BaseURL = refuses.URL
	s.register(ada, "acme", in)
	in.Name, in.Secret = "keyless", "MODEL_KEY"
	s.register(ada, "acme", in)
	admin := s.as(ada)
	for _, name := range []string{"house", "keyless"} {
		admin.post(modelsPage + "/" + name + "/test").leadsTo(modelsPage + "/" + name)
		page := admin.get(modelsPage + "/" + name).status(200)
		if text := page.find("[data-tone=danger]").Text(); strings.TrimSpace(text) == "" {
			t.Errorf("%s: no word of what is wrong", name)
		}
	}
	admin.get(modelsPage + "/keyless").find("main a[href^='/acme/settings/secrets/new?name=MODEL_KEY']")
	admin.post(modelsPage + "/nothing/test").status(404)
}

func TestModelFormIsShownAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	admin := s.as(ada)
	bad := admin.post(modelsPage+"/new?preset=other", "model", "", "provider", "openai", "baseUrl", "http://10.0.0.1", "priceInput", "cheap",
		"value", secretValue, "newSecret", "KEPT_NOWHERE").status(422)
	for _, field := range []string{"model", "baseurl", "priceinput"} {
		bad.find("#field-" + field + "[aria-invalid=true]")
	}
	if strings.Contains(bad.Body, secretValue) {
		t.Error("the key comes back")
	}
	if _, missing, err := s.Secrets.Resolve(t.Context(), "acme", s.subject(ada), []string{"KEPT_NOWHERE"}); err != nil || len(missing) == 0 {
		t.Errorf("a key was stored for a model that was not: %v", err)
	}
	admin.post(modelsPage+"/new?preset=other", "model", "x", "provider", "openai", "baseUrl", house.BaseURL, "value", secretValue, "newSecret", "not a name").
		status(422).find("#field-newsecret[aria-invalid=true]")
	s.register(ada, "acme", house)
	admin.post(modelsPage+"/new?preset=other", "model", "x", "name", "house", "provider", "openai", "baseUrl", house.BaseURL).
		status(422).find("#field-name[aria-invalid=true]")
	admin.post(modelsPage+"/new?preset=other", "model", "x", "provider", "openai", "contextTokens", "many").
		status(422).find("#field-contexttokens[aria-invalid=true]")
}

func TestModelIsChangedAndRemoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.register(ada, "acme", house)
	admin := s.as(ada)
	form := admin.get(modelsPage + "/house/edit").status(200)
	if got := form.find("input[name=revision]").AttrOr("value", ""); got != "1" {
		t.Errorf("revision %q", got)
	}
	edit := []string{"model", "qwen3:32b", "provider", "openai", "baseUrl", house.BaseURL, "revision", "1"}
	admin.post(modelsPage+"/house/edit", edit...).leadsTo(modelsPage + "/house")
	stale := admin.post(modelsPage+"/house/edit", edit...).status(409)
	if got := stale.find("input[name=revision]").AttrOr("value", ""); got != "2" {
		t.Errorf("revision %q after a stale edit, want what is there now", got)
	}
	admin.post("/acme/settings/agent/model", "model", "house").leadsTo(modelsPage)
	admin.get(modelsPage + "/house/remove").status(200).find("main form button[aria-disabled=true]")
	admin.post(modelsPage + "/house/remove").status(409)
	admin.post("/acme/settings/agent/model", "model", "", "next", modelsPage+"/house").leadsTo(modelsPage + "/house")
	admin.post(modelsPage + "/house/remove").leadsTo(modelsPage)
	admin.get(modelsPage + "/house").status(404)
}

func TestModelsTakeAnAdmin(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.register(ada, "acme", house)
	member := s.as(max)
	page := member.get(modelsPage + "/house").status(200)
	page.none("main a[href$='/edit']")
	page.find("main form[action$='/test']")
	member.get(modelsPage).status(200).none("main form[action='/acme/settings/agent/model']")
	for path, pairs := range map[string][]string{
		modelsPage + "/new":          {"model", "x", "provider", "openai"},
		modelsPage + "/house/edit":   {"model", "x", "provider", "openai"},
		modelsPage + "/house/remove": nil,
		"/acme/settings/agent/model": {"model", "house"},
	} {
		member.post(path, pairs...).status(403)
	}
	member.post(modelsPage+"/new", "model", "x", "provider", "openai", "value", secretValue, "newSecret", "SNEAKED").status(403)
	if _, missing, err := s.Secrets.Resolve(t.Context(), "acme", s.subject(max), []string{"SNEAKED"}); err != nil || len(missing) == 0 {
		t.Errorf("a key was stored: %v", err)
	}
}

func TestModelIsChosenOnTheAccountPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.register(ada, "acme", house)
	s.as(lone).get("/account/models").status(200).find("main a[href='/workspaces/new']")
	browser := s.as(max)
	page := browser.get("/account/models").status(200)
	page.find("#model-acme option[value=house]")
	page.none("#model-globex") // nothing is registered there
	if len(page.Statements) > 5 {
		t.Errorf("%d statements: %q", len(page.Statements), page.Statements)
	}
	browser.post("/account/models", "workspace", "acme", "model", "house").leadsTo("/account/models")
	browser.get("/account/models").find("#model-acme option[value=house][selected]")
	chosen, err := s.Workspace.ModelFor(t.Context(), s.actor(max, "acme"), "")
	must(t, err)
	if chosen.From != workspace.FromMember || chosen.Model.Name != "house" {
		t.Errorf("thinks with %s of the %s", chosen.Model.Name, chosen.From)
	}
	must(t, s.Workspace.DeleteModel(t.Context(), s.actor(ada, "acme"), "house", 0))
	gone := browser.get("/account/models").status(200)
	gone.find("#model-acme option[selected]")
	gone.find("main [data-tone=warning]")
	browser.get(modelsPage).status(200).find("main [data-tone=warning]")
	browser.post("/account/models", "workspace", "acme", "model", "house").leadsTo("/account/models")
	browser.get("/account/models").find("main [data-tone=danger]")
	s.as(ada).post("/acme/settings/agent/model", "model", "house").leadsTo(modelsPage)
	browser.post("/account/models", "workspace", "acme", "model", "").leadsTo("/account/models")
	browser.get("/account/models").none("main [data-tone=warning]")
	browser.post("/account/models", "workspace", "nowhere", "model", "house").status(404)
	s.as(ada).post("/account/models", "workspace", "globex", "model", "house").status(404)
}

func TestModelTextsAreShownAsText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	in := house
	in.Underlying = `<script>alert(1)</script>`
	s.register(ada, "acme", in)
	for _, path := range []string{modelsPage, modelsPage + "/house", modelsPage + "/house/edit", "/account/models"} {
		page := s.as(ada).get(path).status(200)
		if slices.Contains(strings.Fields(page.Body), in.Underlying) || strings.Contains(page.Body, "<script>alert") {
			t.Errorf("%s: the model's name is markup", path)
		}
	}
}

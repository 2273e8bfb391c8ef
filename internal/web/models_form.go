package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/httpd"
	"capstore/internal/secret"
	"capstore/internal/workspace"
	"capstore/views"
	"capstore/views/ui"
)

// modelPresets are the beginnings that the form offers.
var modelPresets = []views.ModelPreset{
	{ID: "anthropic", Provider: "anthropic", BaseURL: workspace.ProviderAnthropic.BaseURL(), Example: "claude-sonnet-4-5", Secret: "ANTHROPIC_API_KEY"},
	{ID: "openai", Provider: "openai", BaseURL: workspace.ProviderOpenAI.BaseURL(), Example: "gpt-5", Secret: "OPENAI_API_KEY"},
	{ID: "ollama", Provider: "openai", BaseURL: "http://127.0.0.1:11434/v1", Example: "qwen3:8b"},
	{ID: "lmstudio", Provider: "openai", BaseURL: "http://127.0.0.1:1234/v1", Example: "qwen/qwen3-8b"},
	{ID: "vllm", Provider: "openai", BaseURL: "http://127.0.0.1:8000/v1", Example: "Qwen/Qwen3-8B"},
	{ID: "other", Provider: "openai", Example: "the-model", Secret: "MODEL_API_KEY"},
}

// presetNamed is a preset, the one without assumptions for a name that is none.
func presetNamed(id string) views.ModelPreset {
	if i := slices.IndexFunc(modelPresets, func(p views.ModelPreset) bool { return p.ID == id }); i >= 0 {
		return modelPresets[i]
	}
	return modelPresets[len(modelPresets)-1]
}

func (s *Site) newModelPage(c *Ctx) error {
	preset := c.R.URL.Query().Get("preset")
	if preset == "" {
		return c.Render(http.StatusOK, views.ModelPresetsPage(c.modelSubpage(c.T("models.add")), c.Who.Workspace, modelPresets))
	}
	return s.showNewModel(c, http.StatusOK, views.Form{})
}

func (s *Site) showNewModel(c *Ctx, status int, form views.Form) error {
	return s.showModelForm(c, status, views.ModelForm{Form: form, Preset: presetNamed(c.R.URL.Query().Get("preset"))})
}

// showModelForm completes the form with what is stored, and never with a value
// that was typed.
func (s *Site) showModelForm(c *Ctx, status int, v views.ModelForm) error {
	v.Form.Values.Del("value")
	v.Workspace, v.Reason = c.Who.Workspace, c.modelReason()
	var err error
	if v.Secrets, err = s.secretNames(c); err != nil {
		return err
	}
	v.NewSecret = freeSecret(v.Preset.Secret, v.Secrets)
	title := c.T("models.add")
	if v.Name != "" {
		title = v.Name
	}
	return c.Render(status, views.ModelFormPage(c.modelSubpage(title), v))
}

// freeSecret is a name for a pasted key that no secret has yet.
func freeSecret(wanted string, taken []string) string {
	wanted = cmp.Or(wanted, "MODEL_API_KEY")
	name := wanted
	for n := 2; slices.Contains(taken, name); n++ {
		name = fmt.Sprintf("%s_%d", wanted, n)
	}
	return name
}

func (s *Site) newModel(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	m, err := s.saveModel(c, form, s.Workspace.RegisterModel)
	if status, again := shownAgain(err); again {
		return s.showNewModel(c, status, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	return s.savedModel(c, form, m.Name, c.T("models.added", "name", m.Name))
}

func (s *Site) editModelPage(c *Ctx) error { return s.showEditModel(c, http.StatusOK, views.Form{}) }

func (s *Site) showEditModel(c *Ctx, status int, form views.Form) error {
	m, err := s.Workspace.Model(c.R.Context(), c.Actor(), c.R.PathValue("name"))
	if err != nil {
		return err
	}
	return s.showModelForm(c, status, views.ModelForm{
		Form: form, Name: m.Name, Now: modelRow(c.Who.Workspace, m, workspace.Choices{}),
		Revision: form.Value("revision", strconv.FormatInt(m.Revision, 10)),
		Preset:   views.ModelPreset{Secret: secretOf(m.Name)},
	})
}

// secretOf is what a key of the model could be called.
func secretOf(model string) string {
	name := strings.ToUpper(strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r == ':' {
			return '_'
		}
		return r
	}, model)) + "_KEY"
	if !capability.ValidSecretName(name) {
		return ""
	}
	return name
}

func (s *Site) editModel(c *Ctx) error {
	form, err := c.Form()
	if err != nil {
		return err
	}
	name := c.R.PathValue("name")
	revision, _ := strconv.ParseInt(form.Get("revision"), 10, 64) // none, or nonsense, overwrites
	m, err := s.saveModel(c, form, func(ctx context.Context, actor capability.Actor, in workspace.ModelInput) (workspace.Model, error) {
		return s.Workspace.UpdateModel(ctx, actor, name, revision, in)
	})
	if fault.HasCode(err, "stale_revision") {
		form.Del("revision") // what is shown now is what the next attempt replaces
		return s.showEditModel(c, http.StatusConflict, show(c.Locale, form, err))
	}
	if status, again := shownAgain(err); again {
		return s.showEditModel(c, status, show(c.Locale, form, err))
	}
	if err != nil {
		return err
	}
	return s.savedModel(c, form, m.Name, c.T("models.saved", "name", m.Name))
}

// saveModel keeps a pasted key as a secret, once everything else is right, and
// then the model that uses it.
func (s *Site) saveModel(c *Ctx, form url.Values, write func(context.Context, capability.Actor, workspace.ModelInput) (workspace.Model, error)) (workspace.Model, error) {
	in, err := modelIn(form)
	if err != nil {
		return workspace.Model{}, err
	}
	value := strings.TrimSpace(form.Get("value"))
	if value == "" {
		return write(c.R.Context(), c.Actor(), in)
	}
	if err := s.Workspace.CheckModel(c.R.Context(), c.Actor(), in); err != nil {
		return workspace.Model{}, err
	}
	in.Secret = strings.TrimSpace(form.Get("newSecret"))
	_, err = s.Secrets.Set(c.R.Context(), c.Actor(), secret.NewSecret{Name: in.Secret, Value: secret.NewValue(value), New: true})
	if err != nil {
		return workspace.Model{}, renamed(err, "/name", "/newSecret")
	}
	form.Set("secret", in.Secret) // it is stored whatever comes of the rest
	return write(c.R.Context(), c.Actor(), in)
}

func modelIn(form url.Values) (workspace.ModelInput, error) {
	in := workspace.ModelInput{
		Name: form.Get("name"), Provider: workspace.Provider(form.Get("provider")), BaseURL: form.Get("baseUrl"),
		Underlying: form.Get("model"), Secret: form.Get("secret"),
		Price: workspace.Price{
			Input: typedPrice(form, "priceInput"), Cached: typedPrice(form, "priceCached"), Output: typedPrice(form, "priceOutput"),
		},
	}
	size := strings.NewReplacer(",", "", " ", "", "_", "").Replace(form.Get("contextTokens"))
	if size == "" {
		return in, nil
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		return in, fault.Fields([]fault.Field{{Path: "/contextTokens", Code: "out_of_range", Message: "The context is a number of tokens, or left out."}})
	}
	in.ContextTokens = n
	return in, nil
}

// typedPrice takes the dollar sign that people copy along.
func typedPrice(form url.Values, name string) string {
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(form.Get(name)), "$"))
}

// savedModel leads to the model, by way of a test where one was asked for.
func (s *Site) savedModel(c *Ctx, form url.Values, name, text string) error {
	if form.Get("then") != "test" {
		return c.Done(views.ModelPath(c.Who.Workspace, name), text)
	}
	return s.tellTest(c, name, text+" ")
}

func (s *Site) testModel(c *Ctx) error { return s.tellTest(c, c.R.PathValue("name"), "") }

// tellTest asks the model for a sign of life and says on its page what came of
// it, after the text.
func (s *Site) tellTest(c *Ctx, name, text string) error {
	err := s.Agent.ProbeModel(c.R.Context(), c.Actor(), name)
	f := httpd.Flash{Tone: string(ui.Success), Text: text + c.T("models.answers", "name", name)}
	if problem := fault.From(err); problem != nil {
		switch problem.Kind {
		case fault.NotFound, fault.Internal, fault.Denied, fault.Unauthenticated:
			return err
		}
		f.Tone = string(ui.Danger)
		f.Text = text + strings.TrimSpace(views.FaultText(c.Locale, problem)+" "+views.FaultAction(c.Locale, problem))
	}
	c.site.Root.AddFlash(c.W, c.R, f)
	return c.Redirect(views.ModelPath(c.Who.Workspace, name))
}

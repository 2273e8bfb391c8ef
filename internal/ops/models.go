package ops

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

// ModelItem is a model that agents of the workspace may think with.
type ModelItem struct {
	Name          string    `json:"name" doc:"What is chosen."`
	Provider      string    `json:"provider" enum:"anthropic,openai"`
	BaseURL       string    `json:"baseUrl"`
	Model         string    `json:"model" doc:"As its provider calls it."`
	Secret        string    `json:"secret" doc:"The name of the secret with the key; empty for none."`
	Usable        bool      `json:"usable" doc:"Whether the caller's agent could think with it: its secret is stored."`
	PriceInput    *float64  `json:"priceInput" doc:"US dollars for a million tokens."`
	PriceCached   *float64  `json:"priceCached" doc:"Of input that the provider had in its cache."`
	PriceOutput   *float64  `json:"priceOutput"`
	ContextTokens *int      `json:"contextTokens"`
	ChosenBy      int       `json:"chosenBy" doc:"How many members chose it for themselves."`
	By            Person    `json:"by"`
	CreatedAt     time.Time `json:"createdAt"`
	UpdatedAt     time.Time `json:"updatedAt"`
}

// Model is a registered model.
type Model struct {
	ModelItem

	revision int64
	made     bool
}

// ETag is the model's revision.
func (m Model) ETag() string { return strconv.FormatInt(m.revision, 10) }

// HTTPStatus tells a new model from one that was there.
func (m Model) HTTPStatus() int {
	if m.made {
		return http.StatusCreated
	}
	return http.StatusOK
}

// Location is that of the model.
func (m Model) Location(workspace string) string { return locationOf(workspace, "models", m.Name) }

type namedModel struct {
	Name string `path:"name" doc:"The model's name."`
}

type registerModel struct {
	Body NewModel `body:""`
}

// NewModel is a model with its name.
type NewModel struct {
	Name string `json:"name,omitempty" doc:"Lower-case letters, digits, dots, colons and hyphens; made from the model when left out."`
	ModelSettings
}

// ModelSettings say how a model is reached and what it costs.
type ModelSettings struct {
	Provider      string   `json:"provider" enum:"anthropic,openai" doc:"The protocol; openai is Chat Completions, which most servers speak."`
	BaseURL       string   `json:"baseUrl,omitempty" doc:"The provider's own service when left out."`
	Model         string   `json:"model" doc:"As its provider calls it."`
	Secret        string   `json:"secret,omitempty" doc:"The name of the secret with the key."`
	PriceInput    *float64 `json:"priceInput,omitempty" doc:"US dollars for a million tokens."`
	PriceCached   *float64 `json:"priceCached,omitempty" doc:"Of input that the provider had in its cache."`
	PriceOutput   *float64 `json:"priceOutput,omitempty"`
	ContextTokens *int     `json:"contextTokens,omitempty" doc:"How many tokens it can read at once."`
}

type updateModel struct {
	namedModel
	IfMatch string        `header:"If-Match" doc:"ETag of the model that the change starts from."`
	Body    ModelSettings `body:""`
}

type deleteModel struct {
	namedModel
	IfMatch string `header:"If-Match" doc:"ETag of the model that is meant."`
}

func modelOperations(s Services) []Operation {
	return []Operation{
		declare(Meta{
			Name: "list_models", Method: http.MethodGet, Path: tenant + "/models", Area: AreaModels,
			Action: capability.ActRead, ReadOnly: true, Summary: "The models that the workspace's agents may think with.",
		}, s.models),
		declare(Meta{
			Name: "register_model", Method: http.MethodPost, Path: tenant + "/models", Area: AreaModels, Action: capability.ActSettings,
			Guarded: true, Success: http.StatusCreated, Summary: "Register a model of a provider or of a server of one's own.",
			Example: `{"name": "house", "provider": "openai", "baseUrl": "https://models.example.com/v1", "model": "qwen3:8b", "secret": "MODEL_KEY", "priceInput": 0.25, "priceOutput": 1}`,
		}, s.registerModel),
		declare(Meta{
			Name: "get_model", Method: http.MethodGet, Path: tenant + "/models/{name}", Area: AreaModels,
			Action: capability.ActRead, ReadOnly: true, Summary: "One registered model.",
		}, s.model),
		declare(Meta{
			Name: "update_model", Method: http.MethodPut, Path: tenant + "/models/{name}", Area: AreaModels, Action: capability.ActSettings,
			Guarded: true, Summary: "Replace how a model is reached and what it costs.",
			Example: `{"provider": "openai", "baseUrl": "https://models.example.com/v1", "model": "qwen3:32b", "secret": "MODEL_KEY"}`,
		}, s.updateModel),
		declare(Meta{
			Name: "delete_model", Method: http.MethodDelete, Path: tenant + "/models/{name}", Area: AreaModels, Action: capability.ActSettings,
			Guarded: true, Success: http.StatusNoContent, Summary: "Remove a model that the workspace's agent is not set to.",
		}, s.deleteModel),
		declare(Meta{
			Name: "test_model", Method: http.MethodPost, Path: tenant + "/models/{name}/test", Area: AreaModels,
			Action: capability.ActRun, Summary: "Ask a model for a sign of life, with the key that the caller's agent would use.",
		}, s.testModel),
		declare(Meta{
			Name: "get_agent_model", Method: http.MethodGet, Path: tenant + "/agent/model", Area: AreaAgent,
			Action: capability.ActOwnRead, ReadOnly: true, Summary: "What the member's agent thinks with, and whose choice that is.",
		}, s.agentModel),
		declare(Meta{
			Name: "set_agent_model", Method: http.MethodPut, Path: tenant + "/agent/model", Area: AreaAgent, Action: capability.ActOwn,
			Summary: "Choose what one's own agent thinks with, or follow the workspace again.", Example: `{"model": null}`,
		}, s.setAgentModel),
	}
}

func modelItem(m workspace.Model) ModelItem {
	out := ModelItem{
		Name: m.Name, Provider: string(m.Provider), BaseURL: m.BaseURL, Model: m.Underlying, Secret: m.Secret, Usable: m.Lacks() == "",
		PriceInput: number(m.Price.Input), PriceCached: number(m.Price.Cached), PriceOutput: number(m.Price.Output),
		ChosenBy: m.ChosenBy, By: m.By, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
	if m.ContextTokens > 0 {
		out.ContextTokens = &m.ContextTokens
	}
	return out
}

func modelOf(m workspace.Model, err error) (Model, error) {
	return Model{ModelItem: modelItem(m), revision: m.Revision}, err
}

// number is a stored decimal, nil for none.
func number(text string) *float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil
	}
	return &n
}

// decimal writes a number as it is stored; what is too fine or too large for
// that is refused there by its form.
func decimal(n *float64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

func (b ModelSettings) input(name string) workspace.ModelInput {
	in := workspace.ModelInput{
		Name: name, Provider: workspace.Provider(b.Provider), BaseURL: b.BaseURL, Underlying: b.Model, Secret: b.Secret,
		Price: workspace.Price{Input: decimal(b.PriceInput), Cached: decimal(b.PriceCached), Output: decimal(b.PriceOutput)},
	}
	if b.ContextTokens != nil {
		in.ContextTokens = *b.ContextTokens
	}
	return in
}

func (s Services) models(ctx context.Context, who identity.Principal, _ Nothing) (List[ModelItem], error) {
	models, err := s.Workspace.Models(ctx, who.Actor())
	return listOf(models, modelItem), err
}

func (s Services) model(ctx context.Context, who identity.Principal, in namedModel) (Model, error) {
	return modelOf(s.Workspace.Model(ctx, who.Actor(), in.Name))
}

func (s Services) registerModel(ctx context.Context, who identity.Principal, in registerModel) (Model, error) {
	out, err := modelOf(s.Workspace.RegisterModel(ctx, who.Actor(), in.Body.input(in.Body.Name)))
	out.made = true
	return out, err
}

func (s Services) updateModel(ctx context.Context, who identity.Principal, in updateModel) (Model, error) {
	revision, err := revisionOf(in.IfMatch)
	if err != nil {
		return Model{}, err
	}
	if _, err := s.Workspace.Model(ctx, who.Actor(), in.Name); err != nil {
		return Model{}, err // what is missing is so whatever the body says
	}
	return modelOf(s.Workspace.UpdateModel(ctx, who.Actor(), in.Name, revision, in.Body.input(in.Name)))
}

// ModelTest is what a model said to a question that costs next to nothing.
type ModelTest struct {
	Answers bool          `json:"answers"`
	Problem *ModelProblem `json:"problem" doc:"What is wrong: the address, the key or the model's name."`
}

func (s Services) testModel(ctx context.Context, who identity.Principal, in namedModel) (ModelTest, error) {
	err := s.Agent.ProbeModel(ctx, who.Actor(), in.Name)
	if err == nil {
		return ModelTest{Answers: true}, nil
	}
	switch f := fault.From(err); f.Kind {
	case fault.NotFound, fault.Denied, fault.Internal, fault.Unauthenticated:
		return ModelTest{}, err
	default:
		return ModelTest{Problem: problemOf(f)}, nil
	}
}

func problemOf(f *fault.Fault) *ModelProblem {
	return &ModelProblem{Code: f.Code, Message: f.Message, Action: f.Action}
}

func (s Services) deleteModel(ctx context.Context, who identity.Principal, in deleteModel) (Empty, error) {
	revision, err := revisionOf(in.IfMatch)
	if err != nil {
		return Empty{}, err
	}
	return Empty{}, s.Workspace.DeleteModel(ctx, who.Actor(), in.Name, revision)
}

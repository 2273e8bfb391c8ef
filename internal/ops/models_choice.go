package ops

import (
	"context"

	"capstore/internal/capability"
	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/workspace"
)

type setModel struct {
	Body ModelChoice `body:""`
}

// ModelChoice is what the member's own agent thinks with.
type ModelChoice struct {
	Model Nullable[string] `json:"model" doc:"The name of a registered model; null follows the workspace again."`
}

// AgentModel is what the member's agent thinks with where a conversation chose
// nothing of its own.
type AgentModel struct {
	Model     *string              `json:"model" doc:"The name that holds; null for direct mode, without a model."`
	From      workspace.ChosenFrom `json:"from" enum:"member,workspace,none" doc:"Whose choice holds."`
	Own       *string              `json:"own" doc:"The member's own choice; null follows the workspace."`
	Workspace *string              `json:"workspace" doc:"The workspace's choice."`
	Problem   *ModelProblem        `json:"problem" doc:"Why it cannot be used now."`
	Available []ModelItem          `json:"available"`
}

// ModelProblem is why the chosen model cannot be used, and who can mend it.
type ModelProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Action  string `json:"action"`
}

func (s Services) agentModel(ctx context.Context, who identity.Principal, _ Nothing) (AgentModel, error) {
	choices, err := s.Workspace.ModelChoices(ctx, who.Actor())
	if err != nil {
		return AgentModel{}, err
	}
	models, err := s.Workspace.Models(ctx, who.Actor())
	if err != nil {
		return AgentModel{}, err
	}
	out := AgentModel{Own: orNull(choices.Own), Workspace: orNull(choices.Shared), Available: listOf(models, modelItem).Items}
	chosen, err := choices.Pick(models, "")
	out.Model, out.From = orNull(chosen.Model.Name), chosen.From
	if err != nil {
		out.Problem = problemOf(fault.From(err))
	}
	return out, nil
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (s Services) setAgentModel(ctx context.Context, who identity.Principal, in setModel) (AgentModel, error) {
	if err := capability.May(who.Actor(), capability.ActOwn, capability.Fresh); err != nil {
		return AgentModel{}, err
	}
	if !in.Body.Model.Set {
		return AgentModel{}, refused("/model", "required", "Name a model, or send null to follow the workspace.")
	}
	name := ""
	if in.Body.Model.Value != nil {
		name = *in.Body.Model.Value
		if name == "" {
			return AgentModel{}, refused("/model", "required", "Name a model, or send null to follow the workspace.")
		}
	}
	if err := s.Workspace.ChooseModel(ctx, who.Actor(), name); err != nil {
		return AgentModel{}, err
	}
	return s.agentModel(ctx, who, Nothing{})
}

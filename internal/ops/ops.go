package ops

import (
	"slices"

	"capstore/internal/agent"
	"capstore/internal/catalog"
	"capstore/internal/identity"
	"capstore/internal/secret"
	"capstore/internal/workspace"
)

// Services are what the operations call.
type Services struct {
	Identity  *identity.Service
	Catalog   *catalog.Service
	Workspace *workspace.Service
	Secrets   *secret.Service
	Agent     *agent.Service
}

// Areas of the operations, in the order in which they are documented.
const (
	AreaMe            = "me"
	AreaCapabilities  = "capabilities"
	AreaAgent         = "agent"
	AreaSkills        = "skills"
	AreaModels        = "models"
	AreaSecrets       = "secrets"
	AreaMembers       = "members"
	AreaTokens        = "tokens"
	AreaApprovals     = "approvals"
	AreaConversations = "conversations"
)

// tenant is where every path but that of /me begins.
const tenant = "/workspaces/{workspace}"

// All returns every operation, in the order in which they are documented.
func All(s Services) []Operation {
	return slices.Concat(
		meOperations(s), capabilityOperations(s), versionOperations(s), transferOperations(s),
		agentOperations(s), toolOperations(s), hookOperations(s), codeOperations(s),
		skillOperations(s), stampOperations(s), modelOperations(s), secretOperations(s), memberOperations(s), tokenOperations(s),
		approvalOperations(s), policyOperations(s), definitionOperations(s), usageOperations(s), conversationOperations(s),
		registryOperations(s),
	)
}

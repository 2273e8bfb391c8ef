package web

// settingsRoutes are what the workspace's agent is given: its settings, the
// member's tools and the skill library.
func (s *Site) settingsRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/settings/agent", Access: Member, handler: s.agentPage},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/instructions", Access: Member, handler: s.instructionsPage},
		{Method: "POST", Pattern: "/{workspace}/settings/agent/instructions", Access: Member, handler: s.setInstructions},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/servers/new", Access: Member, handler: s.newServerPage},
		{Method: "POST", Pattern: "/{workspace}/settings/agent/servers/new", Access: Member, handler: s.newServer},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/servers/{name}/remove", Access: Member, handler: s.removeServerPage},
		{Method: "POST", Pattern: "/{workspace}/settings/agent/servers/{name}/remove", Access: Member, handler: s.removeServer},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/adoptions/{source}/{id}/remove", Access: Member, handler: s.endAdoptionPage},
		{Method: "POST", Pattern: "/{workspace}/settings/agent/adoptions/{source}/{id}/remove", Access: Member, handler: s.endAdoption},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/health", Access: Member, handler: s.healthPage},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/health/turns/{turn}", Access: Member, handler: s.turnPage},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/history", Access: Member, handler: s.agentHistoryPage},
		{Method: "GET", Pattern: "/{workspace}/settings/agent/elsewhere", Access: Member, handler: s.elsewherePage},

		{Method: "GET", Pattern: "/{workspace}/settings/tools", Access: Member, handler: s.toolsPage},
		{Method: "GET", Pattern: "/{workspace}/settings/tools/{key}", Access: Member, handler: s.toolPage},
		{Method: "POST", Pattern: "/{workspace}/settings/tools/{key}", Access: Member, handler: s.setSwitch},
		{Method: "POST", Pattern: "/{workspace}/settings/tools/{key}/secrets", Access: Member, handler: s.bindSecrets},
		{Method: "POST", Pattern: "/{workspace}/settings/tools/{key}/probe", Access: Member, handler: s.probeTool},
		{Method: "POST", Pattern: "/{workspace}/settings/tools/{key}/definitions", Access: Member, handler: s.acceptDefinition},

		{Method: "GET", Pattern: "/{workspace}/staged/{digest}", Access: Member, handler: s.stagedFile},
		{Method: "GET", Pattern: "/{workspace}/settings/skills", Access: Member, handler: s.skillsPage},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/new", Access: Member, handler: s.newSkillPage},
		{Method: "POST", Pattern: "/{workspace}/settings/skills/new", Access: Member, Body: maxSkillForm, handler: s.newSkill},
		{Method: "POST", Pattern: "/{workspace}/settings/skills/import", Access: Member, handler: s.importSkill},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/{id}", Access: Member, handler: s.skillPage},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/{id}/file", Access: Member, handler: s.skillFile},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/{id}/edit", Access: Member, handler: s.editSkillPage},
		{Method: "POST", Pattern: "/{workspace}/settings/skills/{id}/edit", Access: Member, Body: maxSkillForm, handler: s.editSkill},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/{id}/stamp", Access: Member, handler: s.stampPage},
		{Method: "POST", Pattern: "/{workspace}/settings/skills/{id}/stamp", Access: Member, handler: s.stampSkill},
		{Method: "POST", Pattern: "/{workspace}/settings/skills/{id}/share", Access: Member, handler: s.shareSkill},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/{id}/publish", Access: Member, handler: s.publishSkillPage},
		{Method: "POST", Pattern: "/{workspace}/settings/skills/{id}/publish", Access: Member, handler: s.publishSkill},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/{id}/export", Access: Member, handler: s.exportSkill},
		{Method: "GET", Pattern: "/{workspace}/settings/skills/{id}/delete", Access: Member, handler: s.deleteSkillPage},
		{Method: "POST", Pattern: "/{workspace}/settings/skills/{id}/delete", Access: Member, handler: s.deleteSkill},
	}
}

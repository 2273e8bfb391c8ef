package web

// Routes lists every page and form, in the order of the site.
func (s *Site) Routes() []Route {
	var all []Route
	for _, area := range [][]Route{s.signInRoutes(), s.peopleRoutes(), s.storeRoutes(), s.adoptRoutes(), s.authorRoutes(), s.importRoutes(), s.manageRoutes(), s.settingsRoutes(), s.modelRoutes(), s.chatRoutes(), s.approvalRoutes(), s.policyRoutes()} {
		all = append(all, area...)
	}
	return all
}

func (s *Site) signInRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/login", Access: Anyone, handler: s.loginPage},
		{Method: "POST", Pattern: "/login", Access: Anyone, handler: s.login},
		{Method: "POST", Pattern: "/logout", Access: Anyone, handler: s.logout},
		{Method: "POST", Pattern: "/demo/login", Access: Anyone, handler: s.demoLogin},
	}
}

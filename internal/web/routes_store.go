package web

// storeRoutes are the pages that read the store.
func (s *Site) storeRoutes() []Route {
	return []Route{
		{Method: "GET", Pattern: "/{workspace}/store", Access: Member, handler: s.storePage},
		{Method: "GET", Pattern: "/{workspace}/store/steps", Access: Member, handler: s.storeSteps},
		{Method: "GET", Pattern: "/{workspace}/store/mine", Access: Member, handler: s.minePage},
		{Method: "GET", Pattern: "/{workspace}/store/unlisted", Access: Member, handler: s.unlistedPage},
		{Method: "GET", Pattern: "/{workspace}/store/left/{id}", Access: Member, handler: s.leftPage},
		{Method: "POST", Pattern: "/{workspace}/store/left/{id}", Access: Member, handler: s.settleLeft},
		{Method: "GET", Pattern: "/{workspace}/store/{source}", Access: Member, handler: s.sourcePage},
		{Method: "GET", Pattern: "/{workspace}/store/{source}/{id}", Access: Member, handler: s.detailPage},
		{Method: "GET", Pattern: "/{workspace}/store/{source}/{id}/file", Access: Member, handler: s.rawFile},
		{Method: "POST", Pattern: "/{workspace}/store/{source}/{id}/versions/{version}/tags", Access: Member, handler: s.tagVersion},
		{Method: "POST", Pattern: "/{workspace}/store/{source}/{id}/try", Access: Member, handler: s.tryCode},
	}
}

package httpd

import (
	"net/http"
	"strings"

	"capstore/internal/fault"
	"capstore/internal/identity"
	"capstore/internal/pg"
)

// signInNeeded is what a request that nobody signed gets.
func signInNeeded() error {
	return fault.New(fault.Unauthenticated, "sign_in_needed", "Nobody is signed in.").
		Do("Sign in, or send a personal access token.")
}

// BySession returns who the request's cookie speaks for in the workspace ("" for
// none), Unauthenticated when nobody is signed in. It needs the sessions'
// LoadAndSave around it.
func (r *Root) BySession(req *http.Request, workspace string) (identity.Principal, error) {
	subject := r.Sessions.Subject(req.Context())
	if subject == "" {
		return identity.Principal{}, signInNeeded()
	}
	return r.Identity.PrincipalOf(req.Context(), subject, workspace)
}

// ByBearer returns who the request's token speaks for in the workspace; found
// is false when it bears none.
func (r *Root) ByBearer(req *http.Request, workspace string) (who identity.Principal, found bool, err error) {
	scheme, token, ok := strings.Cut(req.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return identity.Principal{}, false, nil
	}
	who, err = r.Identity.ByToken(req.Context(), strings.TrimSpace(token), workspace)
	return who, true, err
}

// MemberOnly hides a workspace from whoever is not one of its members, just
// as if there were none of the name.
func MemberOnly(who identity.Principal, err error) (identity.Principal, error) {
	if err == nil && !who.IsMember() {
		return identity.Principal{}, fault.Missing()
	}
	return who, err
}

// Caller returns who a program's request speaks for in the workspace, that of
// its token or, where it bears none, of its session. A token that is presented
// counts alone: a wrong one is not made good by a session. No cookie is set,
// and one counts for pages of this site alone. Whoever is no member of the
// workspace gets what a missing one gives.
func (r *Root) Caller(req *http.Request, workspace string) (identity.Principal, error) {
	who, found, err := r.ByBearer(req, workspace)
	if !found {
		who, err = r.byCookie(req, workspace)
	}
	if workspace != "" {
		return MemberOnly(who, err)
	}
	return who, err
}

// byCookie reads the session without writing one.
func (r *Root) byCookie(req *http.Request, workspace string) (identity.Principal, error) {
	if from := req.Header.Get("Sec-Fetch-Site"); from != "" && from != "same-origin" && from != "none" {
		return identity.Principal{}, fault.Deny("cross_site", "The request came from another site.", "Send a personal access token instead of the session.")
	}
	token := ""
	if c, err := req.Cookie(r.Sessions.Cookie.Name); err == nil {
		token = c.Value
	}
	ctx, err := r.Sessions.Load(req.Context(), token)
	if err != nil {
		return identity.Principal{}, pg.Fault(err)
	}
	return r.BySession(req.WithContext(ctx), workspace)
}

package consent

import (
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/pkce"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// checkRequest checks everything but the client_id. The request that it returns has no id,
// browser or times yet.
func (s *Server) checkRequest(app partner.App, a unstoredRequest) (oauthstore.AuthorizationRequest, error) {
	none, query := oauthstore.AuthorizationRequest{}, a.query
	redirectURI, err := s.checkRedirect(app, query)
	if err != nil {
		return none, err
	}
	if a.problem != nil {
		return none, a.problem
	}
	if err := query.repeated(); err != nil {
		return none, err
	}
	if err := checkResponseType(query); err != nil {
		return none, err
	}
	scopes, err := s.requestedScopes(app, query)
	if err != nil {
		return none, err
	}
	challenge, err := checkChallenge(app, query)
	if err != nil {
		return none, err
	}
	if err := s.checkQueryResource(query); err != nil {
		return none, err
	}
	state, err := query.state()
	if err != nil {
		return none, err
	}
	return oauthstore.AuthorizationRequest{AppID: app.ID, RedirectURI: redirectURI, Scopes: scopes, State: state, CodeChallenge: challenge}, nil
}

func (s *Server) checkRedirect(app partner.App, query authorizeQuery) (string, error) {
	if p := query["redirect_uri"]; p != nil && len(p.values) > 1 {
		return "", repeatedParameter("redirect_uri")
	}
	redirectURI, err := query.one("redirect_uri")
	if err != nil || !s.isRegistered(app, redirectURI) {
		return "", errRedirect
	}
	return redirectURI, nil
}

func checkResponseType(query authorizeQuery) error {
	responseType, err := query.one("response_type")
	switch {
	case err != nil:
		return err
	case responseType == "":
		return invalid("response_type", "is missing")
	case responseType != "code":
		return invalid("response_type", "must be code")
	}
	return nil
}

func (s *Server) requestedScopes(app partner.App, query authorizeQuery) (identity.Scopes, error) {
	text, err := query.one("scope")
	if err != nil {
		return identity.Scopes{}, err
	}
	scopes, err := identity.ParseScopes(text)
	if err != nil {
		return identity.Scopes{}, invalid("scope", "is not a list of scopes with spaces between them")
	}
	if scopes.IsEmpty() {
		if !s.cfg.OptionalScope {
			return identity.Scopes{}, invalid("scope", "is missing")
		}
		scopes = clientmetadata.DefaultScopes(app).Intersect(s.cfg.Scopes.Requestable())
	}
	if scopes.IsEmpty() || !s.mayAsk(app, scopes) {
		return identity.Scopes{}, errScopes
	}
	return scopes, nil
}

// mayAsk reports whether the app has registered the scopes and apps may request them.
func (s *Server) mayAsk(app partner.App, scopes identity.Scopes) bool {
	return app.Scopes.HasAll(scopes) && s.cfg.Scopes.CheckRequestable(scopes) == nil
}

func checkChallenge(app partner.App, query authorizeQuery) (string, error) {
	challenge, err := query.one("code_challenge")
	if err != nil {
		return "", err
	}
	method, err := query.one("code_challenge_method")
	switch {
	case err != nil:
		return "", err
	case challenge == "" && app.Type == partner.Public:
		return "", errPKCE
	case challenge == "" && method == "":
		return "", nil
	case challenge == "":
		return "", invalid("code_challenge", "is missing")
	case method == "":
		return "", invalid("code_challenge_method", "is missing")
	case method != "S256":
		return "", invalid("code_challenge_method", "must be S256")
	case !pkce.IsChallenge(challenge):
		return "", invalid("code_challenge", "is not the base64url form of a SHA-256")
	}
	return challenge, nil
}

// maxResource is how long the resource of an authorization request may be, in bytes. The token
// and device endpoints take any length that fits into a request.
const maxResource = 512

func (s *Server) checkQueryResource(query authorizeQuery) error {
	values := query.all("resource")
	switch {
	case len(values) > 1 || len(values) == 1 && len(values[0]) > maxResource:
		return errTargetLong
	case uri.CheckResource(values, s.apiOrigin) != nil || len(values) == 1 && query["resource"].malformed:
		return errTarget
	}
	return nil
}

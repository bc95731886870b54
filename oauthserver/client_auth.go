package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// authenticatedClient is an app that has proved to be the caller as well as its
// type can. Only prove makes one; whoever holds one need not ask again.
type authenticatedClient struct {
	Client
	// proved: it presented its secret. PUBLIC clients have none.
	proved bool
}

// owns reports whether an artifact was issued to this client.
func (c authenticatedClient) owns(s Standing) bool { return c.ID == s.AppID }

// authenticate finds out who calls. Everything that speaks against the client is
// the same invalid_client; a failed authentication consumes nothing and counts
// toward the lockouts of the endpoint.
func (s *Server) authenticate(ctx context.Context, c call) (authenticatedClient, error) {
	client, err := s.prove(ctx, c)
	if err != nil {
		return authenticatedClient{}, err
	}
	if !client.IsUsable() {
		return authenticatedClient{}, s.refuseClient(ctx, c)
	}
	return client, nil
}

// prove is authenticate without a look at the app's status: introspection
// answers suspended apps too.
func (s *Server) prove(ctx context.Context, c call) (authenticatedClient, error) {
	switch {
	case c.credentials.problem != nil:
		return authenticatedClient{}, c.credentials.problem
	case c.credentials.malformed || c.credentials.clientID == "":
		return authenticatedClient{}, s.refuseClient(ctx, c)
	}
	client, err := s.findClient(ctx, c.credentials.clientID, c.ip, forTokens)
	switch {
	case errors.Is(err, errDocument):
		return authenticatedClient{}, errClient() // an outage elsewhere is nobody's failed guess
	case errors.Is(err, ErrNotFound):
		// The same work as for a client that exists, so that the time it takes
		// does not tell them apart.
		client = Client{Type: Confidential, Secrets: []Digest{{}}}
	case err != nil:
		return authenticatedClient{}, apierror.Failed("find client", err)
	}
	if !client.accepts(c.credentials.secret) {
		return authenticatedClient{}, s.refuseClient(ctx, c)
	}
	return authenticatedClient{Client: client, proved: !c.credentials.secret.IsZero()}, nil
}

// callingApp reads all of the app that calls, for what needs more of it than to know
// it. One that has gone since is a client that does not exist.
func (s *Server) callingApp(ctx context.Context, c call, client authenticatedClient) (App, error) {
	app, err := s.cfg.Store.App(ctx, client.ID)
	switch {
	case errors.Is(err, ErrNotFound):
		return App{}, s.refuseClient(ctx, c)
	case err != nil:
		return App{}, apierror.Failed("read the calling app", err)
	}
	return app, nil
}

// accepts judges the secret that was, or was not, presented. A PUBLIC client has
// no secret, so that any is wrong.
func (c Client) accepts(presented secret.Secret) bool {
	if presented.IsZero() {
		return c.Type == Public
	}
	digest, right := presented.Digest(), false
	for _, valid := range c.Secrets {
		if digest.Equal(valid) {
			right = true // and go on: each request compares as often
		}
	}
	return right && c.Type == Confidential
}

// refuseClient counts a failed authentication and returns the answer to it. Of failures
// at the same moment, those after the one that locks out get the answer of the lockout.
func (s *Server) refuseClient(ctx context.Context, c call) error {
	result, err := s.cfg.Limiter.Fail(ctx, c.now, c.lockouts())
	switch {
	case err != nil:
		return apierror.Failed("rate limit", err)
	case !result.Allowed:
		return apierror.OAuthTooManyRequests(result.Wait)
	}
	return errClient()
}

// errClient has one text for every reason, lest it tell which clients exist.
func errClient() error {
	return apierror.NewOAuth(apierror.InvalidClient, "client authentication failed")
}

func invalidRequest(description string) *apierror.OAuthError {
	return apierror.NewOAuth(apierror.InvalidRequest, description)
}

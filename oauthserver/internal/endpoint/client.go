package endpoint

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/internal/foreigndigest"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// authenticatedClient is an app that has authenticated as well as its type can. Only prove
// creates one.
type authenticatedClient struct {
	oauthstore.Client
	// proved: it presented its secret, or an assertion signed with its key. PUBLIC clients
	// have neither.
	proved bool
}

// owns reports whether a token was issued to this client.
func (c authenticatedClient) owns(o oauthstore.Owners) bool { return c.ID == o.AppID }

// authenticate returns the client that calls. Every failure is the same invalid_client. A
// failed authentication uses up nothing and counts toward the lockouts of the endpoint.
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

// prove is authenticate without a check of the app's status: suspended apps may introspect.
func (s *Server) prove(ctx context.Context, c call) (authenticatedClient, error) {
	switch {
	case c.credentials.Problem != nil:
		return authenticatedClient{}, c.credentials.Problem
	case c.credentials.Malformed || c.credentials.ClientID == "":
		return authenticatedClient{}, s.refuseClient(ctx, c)
	}
	client, err := s.FindClient(ctx, c.credentials.ClientID, c.ip, core.ForTokens)
	switch {
	case errors.Is(err, document.ErrUnavailable):
		return authenticatedClient{}, errClient() // an outage of the document's host is not a failed authentication
	case errors.Is(err, partner.ErrNotFound):
		// The same work as for an existing client, so that the duration does not
		// reveal which clients exist.
		client = oauthstore.Client{Type: partner.Confidential, Secrets: []storage.Digest{{}}}
	case err != nil:
		return authenticatedClient{}, apierror.Failed("find client", err)
	}
	if c.credentials.Assertion != nil {
		return s.proveKey(ctx, c, client)
	}
	if !acceptsSecret(client, c.credentials.Secret) {
		switch accepted, err := s.acceptsForeign(ctx, c, client); {
		case err != nil:
			return authenticatedClient{}, err
		case !accepted:
			return authenticatedClient{}, s.refuseClient(ctx, c)
		}
	}
	proved := !c.credentials.Secret.IsZero()
	if proved && s.cfg.SecretUsed != nil {
		s.cfg.SecretUsed(partner.ClientSecret{Digest: c.credentials.Secret.Digest()}.UseID(), c.now)
	}
	return authenticatedClient{Client: client, proved: proved}, nil
}

// callingApp returns the app of an authenticated client, with all its fields.
func (s *Server) callingApp(ctx context.Context, c call, client authenticatedClient) (partner.App, error) {
	app, err := s.cfg.Store.App(ctx, client.ID)
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return partner.App{}, s.refuseClient(ctx, c)
	case err != nil:
		return partner.App{}, apierror.Failed("read the calling app", err)
	}
	return app, nil
}

// acceptsSecret reports whether the presented secret, or its absence, authenticates the client. A
// PUBLIC client has no secret, so every secret is wrong.
func acceptsSecret(c oauthstore.Client, presented secret.Secret) bool {
	if presented.IsZero() {
		return c.Type == partner.Public
	}
	digest, right := presented.Digest(), false
	for _, valid := range c.Secrets {
		if digest.Equal(valid) {
			right = true // and continue: each request makes the same comparisons
		}
	}
	return right && c.Type == partner.Confidential
}

// refuseClient counts a failed authentication and returns its error. Concurrent failures
// after the one that causes a lockout have the error of the lockout.
func (s *Server) refuseClient(ctx context.Context, c call) error {
	result, err := s.cfg.Limiter.Fail(ctx, c.now, c.lockouts(&s.cfg.Limits))
	switch {
	case err != nil:
		return apierror.Failed("rate limit", err)
	case !result.Allowed:
		return oautherror.TooManyRequests(result.Wait)
	}
	if result.BeganLockout {
		s.tellLockout(ctx, c)
	}
	return errClient()
}

// errClient has one text for every reason, so that it does not reveal which clients exist.
func errClient() error {
	return oautherror.New(oautherror.InvalidClient, "client authentication failed")
}

func invalidRequest(description string) *oautherror.Error {
	return oautherror.New(oautherror.InvalidRequest, description)
}

const (
	// foreignPatience is how long a check of a foreign digest waits for a slot.
	foreignPatience = 2 * time.Second
	// maxForeignSecret is the length of a secret that is checked against a foreign digest.
	maxForeignSecret = 1024
)

// newForeignSlots returns the slots of checks that may run at the same time.
func newForeignSlots() chan struct{} { return make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// acceptsForeign reports whether a client proves itself with a secret of which only a foreign
// digest is known. The digest is then replaced by ours. Few checks run at a time, and a request
// that waits for too long is rejected: whatever is sent, the rest of the processor is left to
// others. The lockouts count failures before this.
func (s *Server) acceptsForeign(ctx context.Context, c call, client oauthstore.Client) (bool, error) {
	presented := c.credentials.Secret
	if presented.IsZero() {
		return false, nil
	}
	// A client_id that does not exist is asked for too, so that the duration does not tell it.
	known, err := s.cfg.Store.ForeignSecrets(ctx, client.ID)
	if err != nil {
		return false, apierror.Failed("find foreign secrets", err)
	}
	if client.Type != partner.Confidential || len(known) == 0 || len(presented.Reveal()) > maxForeignSecret {
		return false, nil
	}
	wait, cancel := context.WithTimeout(ctx, foreignPatience)
	defer cancel()
	select {
	case s.foreignSlots <- struct{}{}:
		defer func() { <-s.foreignSlots }()
	case <-wait.Done():
		return false, oautherror.TooManyRequests(foreignPatience)
	}
	for _, one := range known {
		digest, err := foreigndigest.Parse(one.Digest)
		if err != nil {
			return false, apierror.Failed("read a foreign digest", err)
		}
		if !digest.Matches(presented.Reveal()) {
			continue
		}
		if err := s.cfg.Store.ReplaceForeignSecret(ctx, client.ID, one.SecretID, presented.Digest()); err != nil {
			return false, apierror.Failed("replace a foreign digest", err)
		}
		return true, nil
	}
	return false, nil
}

package consent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// SandboxToken is an access token for the first calls of an app.
type SandboxToken struct {
	AccessToken string
	Business    core.Business
	Scopes      identity.Scopes
	ExpiresAt   time.Time
}

// SandboxBusinesses lists the sandbox businesses of the app's organization to which a user may
// connect apps now, in the order of the host.
func (s *Server) SandboxBusinesses(ctx context.Context, app partner.App, userID string) ([]core.Business, error) {
	status, err := s.cfg.Store.UserStatus(ctx, userID)
	if err != nil || status != identity.UserActive {
		return nil, err
	}
	businesses, err := s.businesses(ctx, userID)
	return slices.DeleteFunc(businesses, func(b core.Business) bool { return !b.MayConnect || !isOwnSandbox(app, b, hostTrust{}) }), err
}

// SandboxToken connects an app to a sandbox business of its organization with all scopes of the
// app, as if the user had allowed that on the consent page, and returns an access token. Its
// error is one of apierror if the user may not connect the app there now. Who may act for the
// app is for the caller to decide.
func (s *Server) SandboxToken(ctx context.Context, app partner.App, session identity.Session, businessID string) (SandboxToken, error) {
	d := decisionForm{session: session, form: bodies.Form{businessField: {businessID}}, now: s.cfg.Clock.Now()}
	w := wish{scopes: app.Scopes}
	approval, business, err := s.approval(ctx, app, d, w)
	switch {
	case err != nil:
		return SandboxToken{}, err
	case !isOwnSandbox(app, business, hostTrust{}):
		return SandboxToken{}, errPermission
	}
	// The consent page, step by step: an open request, its approval, and its code.
	name := secret.New(secret.ConsentRequest)
	request := oauthstore.AuthorizationRequest{
		ID: id.New(id.Authorization, d.now), Digest: name.Digest(), AppID: app.ID, Scopes: app.Scopes,
		CreatedAt: d.now, ExpiresAt: d.now.Add(s.cfg.Lifetimes.Request),
	}
	if err := s.cfg.Store.HoldRequest(ctx, request); err != nil {
		return SandboxToken{}, err
	}
	code := secret.New(secret.AuthorizationCode)
	approval.RequestID, approval.Audit = request.ID, d.entry(audited.ConsentAllowed, app.ID, businessID)
	approval.Code = oauthstore.NewCode{ID: id.New(id.Code, d.now), Digest: code.Digest(), ExpiresAt: d.now.Add(s.cfg.Lifetimes.Code)}
	approved, err := s.cfg.Store.DecideRequest(ctx, approval)
	if err != nil {
		return SandboxToken{}, err
	}
	s.tellApproved(ctx, approved, session.UserID)
	if err := outcomeError(approved.Outcome); err != nil {
		return SandboxToken{}, err
	}
	issued, tokens, err := s.redeemOwn(ctx, code, d)
	if err != nil {
		return SandboxToken{}, err
	}
	if issued.Outcome != oauthstore.Issued { // something has ended since the approval
		return SandboxToken{}, apierror.Invalid("The token could not be issued: the app, the user or the business has changed. Try again.")
	}
	return SandboxToken{AccessToken: tokens.Access.Reveal(), Business: business, Scopes: issued.Scopes, ExpiresAt: d.now.Add(s.cfg.Lifetimes.AccessToken)}, nil
}

// redeemOwn redeems a code that was made just now.
func (s *Server) redeemOwn(ctx context.Context, code secret.Secret, d decisionForm) (oauthstore.IssueResult, tokenpair.Pair, error) {
	found, err := s.cfg.Store.Code(ctx, code.Digest())
	if err != nil {
		return oauthstore.IssueResult{}, tokenpair.Pair{}, fmt.Errorf("redeem a code that was issued: %w", err)
	}
	member, err := s.IsMember(ctx, found.BusinessID, found.UserID)
	if err != nil {
		return oauthstore.IssueResult{}, tokenpair.Pair{}, err
	}
	tokens := tokenpair.New(d.now)
	issued, err := s.cfg.Store.RedeemCode(ctx, found, s.NewTokens(tokens, d.now, member))
	return issued, tokens, err
}

package consent

import (
	"cmp"
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// ShownIn returns an app as people in a business see it: in a sandbox of its own organization
// as it is, and elsewhere with the name and App URL that were reviewed. Of the business, ID and
// SandboxOf count.
func ShownIn(a partner.App, b core.Business) partner.App {
	if isOwnSandbox(a, b, hostTrust{}) {
		return a
	}
	return asReviewed(a)
}

// shownIn is [ShownIn] with the trust of the host in the app's metadata document.
func (s *Server) shownIn(ctx context.Context, app partner.App, b core.Business) (partner.App, error) {
	if app.Origin == partner.OriginDocument {
		trust, err := s.documents.Trust(ctx, app.ClientID)
		if err != nil || trust.Review == document.Reviewed {
			return app, err
		}
	}
	return ShownIn(app, b), nil
}

// asReviewed returns the app with the name and App URL that were reviewed. An App URL that was
// removed stays removed.
func asReviewed(a partner.App) partner.App {
	if a.ReviewedAs.IsEmpty() {
		return a
	}
	a.Name = a.ReviewedAs.Name
	if a.AppURL != "" {
		a.AppURL = a.ReviewedAs.AppURL
	}
	return a
}

// wish is what an app asks for.
type wish struct {
	redirectURI string // empty in the device flow
	scopes      identity.Scopes
}

// reviewGap compares what an app asks for with its last review.
func (s *Server) reviewGap(app partner.App, w wish) pages.ReviewGap {
	reviewed := app
	reviewed.RedirectURIs = app.ReviewedAs.RedirectURIs
	return pages.ReviewGap{
		RedirectURI: w.redirectURI != "" && !s.isRegistered(reviewed, w.redirectURI),
		Scopes:      !app.ReviewedAs.Scopes.HasAll(w.scopes),
	}
}

// mayConnectTo reports whether review allows the connection: what no review covers can be
// connected to sandbox businesses of the app's own organization only.
func (s *Server) mayConnectTo(app partner.App, b core.Business, w wish, v hostTrust) bool {
	return v.reviewed || app.Reviewed && s.reviewGap(app, w).IsEmpty() || isOwnSandbox(app, b, v)
}

// isOwnSandbox reports whether the business is a sandbox of the app's organization.
func isOwnSandbox(app partner.App, b core.Business, v hostTrust) bool {
	owner := cmp.Or(app.OrganizationID, v.organizationID)
	return owner != "" && b.SandboxOf == owner
}

// unreviewed is the error of a request that the review of its app does not cover.
type unreviewed struct {
	error
	gap pages.ReviewGap
}

func (u *unreviewed) Unwrap() error { return u.error }

// withGap adds to an error about a missing review what of the request is not covered.
func (s *Server) withGap(ctx context.Context, c connection, err error) error {
	if err == nil {
		return nil
	}
	gap, failed := s.gap(ctx, c)
	if failed != nil {
		return failed
	}
	if gap.IsEmpty() {
		return err
	}
	return &unreviewed{error: err, gap: gap}
}

// gap returns what of a request the last review of the app does not cover; empty for an app
// that has never been reviewed, of which everything waits.
func (s *Server) gap(ctx context.Context, c connection) (pages.ReviewGap, error) {
	if !c.app.Reviewed || c.trust.reviewed {
		return pages.ReviewGap{}, nil
	}
	gap := s.reviewGap(c.app, c.wish)
	if gap.IsEmpty() || c.app.OrganizationID == "" || s.cfg.IsDeveloper == nil {
		return gap, nil
	}
	belongs, err := s.cfg.IsDeveloper(ctx, c.app.OrganizationID, c.userID)
	if err != nil || !belongs {
		return gap, err
	}
	if gap.RedirectURI {
		gap.Details = append(gap.Details, c.wish.redirectURI)
	}
	if gap.Scopes {
		gap.Details = append(gap.Details, c.wish.scopes.Minus(c.app.ReviewedAs.Scopes).Names()...)
	}
	return gap, nil
}

// gapOf returns the gap that an error names.
func gapOf(err error) pages.ReviewGap {
	if u, ok := errors.AsType[*unreviewed](err); ok {
		return u.gap
	}
	return pages.ReviewGap{}
}

// hostTrust is the trust of the host's policies in an app, beyond its record.
type hostTrust struct {
	reviewed       bool
	organizationID string // of an app that belongs to no organization
}

// vouch asks the host's policies about an app that this user wants to connect.
func (s *Server) vouch(ctx context.Context, app partner.App, w wish, userID string) (hostTrust, error) {
	var v hostTrust
	if app.Origin == partner.OriginDocument {
		trust, err := s.documents.Trust(ctx, app.ClientID)
		switch {
		case err != nil:
			return hostTrust{}, err
		case trust.Review == document.Refused:
			return hostTrust{}, errClientID
		}
		v = hostTrust{reviewed: trust.Review == document.Reviewed, organizationID: trust.OrganizationID}
	}
	isCovered := app.Reviewed && s.reviewGap(app, w).IsEmpty()
	if app.OrganizationID != "" || isCovered || v.reviewed || v.organizationID != "" || s.cfg.Unowned == nil {
		return v, nil
	}
	var err error
	v.organizationID, err = s.cfg.Unowned(ctx, app, userID)
	return v, err
}

// isRegistered reports whether the redirect URI is one of the app.
func (s *Server) isRegistered(app partner.App, redirectURI string) bool {
	return redirectURI != "" && uri.IsRegistered(app.RedirectURIs, redirectURI, s.cfg.AnyLoopbackPort(app))
}

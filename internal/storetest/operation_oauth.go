package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

const ofOAuth = "oauthserver"

// oauthOperations are operations of the OAuth server that need no connection.
var oauthOperations = []Operation{
	{Name: "AZ-17 Hold", Of: ofOAuth, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		first, last := s.request(allScopes), s.request(allScopes)
		first.ID = id.New(id.Authorization, noon.Add(-time.Second))
		must(t, s.HoldRequest(t.Context(), first))
		for range oauthstore.MaxOpenRequests - 1 {
			s.hold(t, allScopes)
		}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(on.HoldRequest(ctx, last))
			},
			Check: func(t testing.TB, happened bool) {
				if s.isHeld(t, last) != happened || s.isHeld(t, first) == happened {
					t.Errorf("happened %v: the last is held %v, the first %v", happened, s.isHeld(t, last), s.isHeld(t, first))
				}
			},
		}
	}},
	{Name: "Approve", Of: ofOAuth, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		approval := s.approval(s.hold(t, allScopes).ID, noon)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				approved, err := on.DecideRequest(ctx, approval)
				return answered(outcome(err, approved.Outcome == oauthstore.ApprovalDone))
			},
			Check: func(t testing.TB, happened bool) {
				_, codeErr := s.Code(t.Context(), approval.Code.Digest)
				_, installErr := activeInstallation(s)(t.Context(), s.app.ID, s.business)
				if (codeErr == nil) != happened || (installErr == nil) != happened || (s.recorded(t, events.AppInstalled) == 1) != happened {
					t.Errorf("happened %v: code %v, installation %v", happened, codeErr, installErr)
				}
			},
		}
	}},
	{Name: "AN-03 Approve the last connection", Of: ofOAuth, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		s.connectTo(t, "biz_first of "+s.business)
		approval := s.approval(s.hold(t, allScopes).ID, noon)
		approval.MaxConnections = 2
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				approved, err := on.DecideRequest(ctx, approval)
				return answered(outcome(err, approved.Outcome == oauthstore.ApprovalDone))
			},
			Check: func(t testing.TB, happened bool) {
				_, codeErr := s.Code(t.Context(), approval.Code.Digest)
				_, installErr := activeInstallation(s)(t.Context(), s.app.ID, s.business)
				if (codeErr == nil) != happened || (installErr == nil) != happened {
					t.Errorf("happened %v: code %v, installation %v", happened, codeErr, installErr)
				}
			},
		}
	}},
	{Name: "Exchange for a refresh token", Of: ofOAuth, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		s.code(t) // installs
		x, m := s.exchange(), newTokens(noon)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(issuedBy(on.ExchangeSession(ctx, x, m)))
			},
			Check: func(t testing.TB, happened bool) { s.wantLive(t, m, happened) },
		}
	}},
	{Name: "Register an app", Of: ofOAuth, IsAlone: true, Prepare: func(t testing.TB, s *Scene) Act {
		digest := secret.New(secret.RegistrationToken).Digest()
		must(t, s.CreateRegistrationToken(t.Context(), oauthstore.RegistrationToken{ID: id.New(id.RegistrationToken, noon), Digest: digest, OrganizationID: "org_1", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}))
		app := partner.App{ID: id.New(id.App, noon), ClientID: id.New(id.Client, noon), Type: partner.Confidential, Status: partner.AppActive, Origin: partner.OriginRegistered, Scopes: allScopes, CreatedAt: noon}
		record := partner.ClientSecret{ID: id.New(id.Secret, noon), AppID: app.ID, Digest: secret.DigestOf("s"), Prefix: "s", CreatedAt: noon}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := on.RegisterApp(ctx, oauthstore.Registration{App: app, Secrets: []partner.ClientSecret{record}, Token: &digest, Now: noon, MaxApps: 1000})
				return answered(err)
			},
			Check: func(t testing.TB, happened bool) {
				if _, err := s.App(t.Context(), app.ID); (err == nil) != happened {
					t.Errorf("happened %v: %v", happened, err)
				}
				e, ok := s.Store.(*Env)
				if !ok {
					return
				}
				if used := e.count(t, "SELECT COUNT(*) FROM partnerkit_registration_token WHERE digest = $1 AND used_at IS NOT NULL", digest.Bytes()); (used == 1) != happened {
					t.Errorf("happened %v: %d tokens used", happened, used)
				}
			},
		}
	}},
}

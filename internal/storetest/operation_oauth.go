package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
)

const ofOAuth = "oauthserver"

// issues is an operation that issues tokens, which are live if it has happened.
func (s *Scene) issues(m oauthserver.NewTokens, issue func(ctx context.Context, on partnerkit.Store) (oauthserver.IssueResult, error)) Act {
	return Act{
		Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
			return answered(issuedBy(issue(ctx, on)))
		},
		Check: func(t testing.TB, happened bool) { s.wantLive(t, m, happened) },
	}
}

// oauthOperations are the operations of the OAuth server.
var oauthOperations = []Operation{
	{Name: "AZ-17 Hold", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		first, last := s.request(allScopes), s.request(allScopes)
		first.ID = id.New(id.Authorization, noon.Add(-time.Second))
		must(t, s.HoldRequest(t.Context(), first))
		for range oauthserver.MaxOpenRequests - 1 {
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
	{Name: "Approve", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		approval := s.approval(s.hold(t, allScopes).ID, noon)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				approved, err := on.DecideRequest(ctx, approval)
				return answered(outcome(err, approved.Outcome == oauthserver.ApprovalDone))
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
	{Name: "Redeem", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		code, m := s.code(t), newTokens(noon)
		return s.issues(m, func(ctx context.Context, on partnerkit.Store) (oauthserver.IssueResult, error) {
			return on.RedeemCode(ctx, code, m)
		})
	}},
	{Name: "CODE-04 Spend a code", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		code, digest := s.codeAndDigest(t, allScopes)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				spent, err := on.Revoke(ctx, oauthserver.Revocation{CodeID: code.ID, Now: noon})
				return answered(outcome(err, spent))
			},
			Check: func(t testing.TB, happened bool) {
				if got := get[oauthserver.Code](t)(s.Code(t.Context(), digest)); got.Used != happened {
					t.Errorf("happened %v, and the code is used: %v", happened, got.Used)
				}
			},
		}
	}},
	// REF-07: never a half-rotated family.
	{Name: "Refresh", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		before, after := s.issued(t), newTokens(noon)
		token := s.refreshToken(t, before)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(issuedBy(on.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, after)))
			},
			Check: func(t testing.TB, happened bool) {
				s.wantLive(t, before, !happened)
				s.wantLive(t, after, happened)
			},
		}
	}},
	{Name: "Burn", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		first, live := s.issued(t), newTokens(noon)
		must(t, issuedBy(s.RotateRefresh(t.Context(), oauthserver.Rotation{Token: s.refreshToken(t, first)}, live)))
		used, after := s.refreshToken(t, first), newTokens(noon)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				result, err := on.RotateRefresh(ctx, oauthserver.Rotation{Token: used}, after)
				return answered(outcome(err, result.Outcome == oauthserver.Lost))
			},
			Check: func(t testing.TB, happened bool) {
				s.wantLive(t, live, !happened)
				s.wantLive(t, after, false)
			},
		}
	}},
	{Name: "Collect", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		device, m := s.device(t, true), newTokens(noon)
		return s.issues(m, func(ctx context.Context, on partnerkit.Store) (oauthserver.IssueResult, error) {
			return on.CollectDevice(ctx, device, m)
		})
	}},
	{Name: "Exchange", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		s.code(t) // installs
		x, m := s.exchange(), newTokens(noon)
		return s.issues(m, func(ctx context.Context, on partnerkit.Store) (oauthserver.IssueResult, error) {
			return on.ExchangeSession(ctx, x, m)
		})
	}},
	{Name: "Uninstall", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		m := s.issued(t)
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				return answered(s.endOn(ctx, on, oauthserver.InstallationRemoved))
			},
			Check: func(t testing.TB, happened bool) {
				s.wantLive(t, m, !happened)
				if (s.recorded(t, events.AppUninstalled) == 1) != happened {
					t.Errorf("happened %v, and the event does not say so", happened)
				}
			},
		}
	}},
	{Name: "Register an app", Of: ofOAuth, Prepare: func(t testing.TB, s *Scene) Act {
		digest := secret.New(secret.RegistrationToken).Digest()
		must(t, s.CreateRegistrationToken(t.Context(), oauthserver.RegistrationToken{ID: id.New(id.RegistrationToken, noon), Digest: digest, OrganizationID: "org_1", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}))
		app := oauthserver.App{ID: id.New(id.App, noon), ClientID: id.New(id.Client, noon), Type: oauthserver.Confidential, Status: oauthserver.AppActive, Origin: oauthserver.OriginRegistered, Scopes: allScopes, CreatedAt: noon}
		record := oauthserver.ClientSecret{ID: id.New(id.Secret, noon), AppID: app.ID, Digest: secret.DigestOf("s"), Prefix: "s", CreatedAt: noon}
		return Act{
			Do: func(ctx context.Context, on partnerkit.Store) (Answer, error) {
				_, err := on.RegisterApp(ctx, oauthserver.Registration{App: app, Secrets: []oauthserver.ClientSecret{record}, Token: &digest, Now: noon, MaxApps: 1000})
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

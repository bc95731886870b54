package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// faultCases: each operation under a fault at each of its statements and with a lost
// response to its commit.
var faultCases = []testCase[*Env]{
	{"Approve under faults", func(t *testing.T, e *Env) {
		var f *oauthFixture
		var approval oauthserver.Decision
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newOAuth(t, e); approval = f.approval(f.hold(t, allScopes).ID, noon) },
			Act: func(ctx context.Context) error {
				approved, err := e.DecideRequest(ctx, approval)
				return outcome(err, approved.Outcome == oauthserver.ApprovalDone)
			},
			Check: func(t *testing.T, happened bool) {
				_, codeErr := e.Code(t.Context(), approval.Code.Digest)
				_, installErr := activeInstallation(e)(t.Context(), f.app.ID, f.business)
				if (codeErr == nil) != happened || (installErr == nil) != happened || (f.recorded(t, events.AppInstalled) == 1) != happened {
					t.Errorf("happened %v: code %v, installation %v", happened, codeErr, installErr)
				}
			},
		})
	}},
	{"Redeem under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		var code oauthserver.Code
		var m oauthserver.NewTokens
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { code, m = f.code(t), newTokens(noon) },
			Act: func(ctx context.Context) error {
				result, err := e.RedeemCode(ctx, code, m)
				return outcome(err, result.Outcome == oauthserver.Issued)
			},
			Check: func(t *testing.T, happened bool) { f.wantLive(t, m, happened) },
		})
	}},
	{"CODE-04 Spend a code under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		var code oauthserver.Code
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { code = f.code(t) },
			Act: func(ctx context.Context) error {
				spent, err := e.Revoke(ctx, oauthserver.Revocation{CodeID: code.ID, Now: noon})
				return outcome(err, spent)
			},
			Check: func(t *testing.T, happened bool) {
				if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_code WHERE id = $1 AND used_at IS NOT NULL", code.ID); (n == 1) != happened {
					t.Errorf("happened %v, and %d codes are used", happened, n)
				}
			},
		})
	}},
	// REF-07: never a half-rotated family.
	{"Refresh under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		var before, after oauthserver.NewTokens
		var token oauthserver.RefreshToken
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { before, after = f.issued(t), newTokens(noon); token = f.refreshToken(t, before) },
			Act: func(ctx context.Context) error {
				result, err := e.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, after)
				return outcome(err, result.Outcome == oauthserver.Issued)
			},
			Check: func(t *testing.T, happened bool) {
				f.wantLive(t, before, !happened)
				f.wantLive(t, after, happened)
			},
		})
	}},
	{"Burn under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		var live oauthserver.NewTokens
		var used oauthserver.RefreshToken
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				first := f.issued(t)
				live = newTokens(noon)
				get[oauthserver.IssueResult](t)(e.RotateRefresh(t.Context(), oauthserver.Rotation{Token: f.refreshToken(t, first)}, live))
				used = f.refreshToken(t, first)
			},
			Act: func(ctx context.Context) error {
				result, err := e.RotateRefresh(ctx, oauthserver.Rotation{Token: used}, newTokens(noon))
				return outcome(err, result.Outcome == oauthserver.Lost)
			},
			Check: func(t *testing.T, happened bool) { f.wantLive(t, live, !happened) },
		})
	}},
	{"Collect under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		var device oauthserver.DeviceCode
		var m oauthserver.NewTokens
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { device, m = f.device(t, true), newTokens(noon) },
			Act: func(ctx context.Context) error {
				result, err := e.CollectDevice(ctx, device, m)
				return outcome(err, result.Outcome == oauthserver.Issued)
			},
			Check: func(t *testing.T, happened bool) { f.wantLive(t, m, happened) },
		})
	}},
	{"Exchange under faults", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		f.code(t)
		var x oauthserver.Exchange
		var m oauthserver.NewTokens
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(*testing.T) { x, m = f.exchange(), newTokens(noon) },
			Act: func(ctx context.Context) error {
				result, err := e.ExchangeSession(ctx, x, m)
				return outcome(err, result.Outcome == oauthserver.Issued)
			},
			Check: func(t *testing.T, happened bool) { f.wantLive(t, m, happened) },
		})
	}},
	{"Uninstall under faults", func(t *testing.T, e *Env) {
		var f *oauthFixture
		var m oauthserver.NewTokens
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newOAuth(t, e); m = f.issued(t) },
			Act: func(ctx context.Context) error {
				_, err := e.EndInstallation(ctx, oauthserver.EndInstallation{
					AppID: f.app.ID, BusinessID: f.business, Status: oauthserver.InstallationRemoved, Now: noon, RedactAt: noon.Add(time.Hour),
					Record: func(oauthserver.Installation) []events.Event { return f.event(events.AppUninstalled, noon) },
				})
				return err
			},
			Check: func(t *testing.T, happened bool) {
				f.wantLive(t, m, !happened)
				if (f.recorded(t, events.AppUninstalled) == 1) != happened {
					t.Errorf("happened %v, and the event does not say so", happened)
				}
			},
		})
	}},
}

// outcome returns an error for an operation that ended other than expected.
func outcome(err error, expected bool) error {
	if err == nil && !expected {
		return errors.New("storetest: the act ended otherwise")
	}
	return err
}

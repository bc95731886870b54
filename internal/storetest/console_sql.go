package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// sqlConsoleCases need what only sqlstore has.
var sqlConsoleCases = []testCase[*Env]{
	// CON-07: what people decide about an app is in its log, or did not happen.
	{"Decisions and their audit entries happen together", func(t *testing.T, e *Env) {
		decisions := map[string]func(*oauthFixture) func(context.Context) error{
			"allow": func(f *oauthFixture) func(context.Context) error {
				approval := f.approval(f.hold(t, allScopes).ID, noon)
				return func(ctx context.Context) error {
					approved, err := e.DecideRequest(ctx, approval)
					return outcome(err, approved.Outcome == oauthstore.ApprovalDone)
				}
			},
			"deny": func(f *oauthFixture) func(context.Context) error {
				request := f.hold(t, allScopes)
				return func(ctx context.Context) error { return denied(e.DecideRequest(ctx, f.denial(request.ID, noon))) }
			},
			"allow a device": func(f *oauthFixture) func(context.Context) error {
				device := f.device(t, false)
				return func(ctx context.Context) error {
					approved, err := e.DecideDevice(ctx, f.approval(device.ID, noon))
					return outcome(err, approved.Outcome == oauthstore.ApprovalDone)
				}
			},
			"deny a device": func(f *oauthFixture) func(context.Context) error {
				device := f.device(t, false)
				return func(ctx context.Context) error { return denied(e.DecideDevice(ctx, f.denial(device.ID, noon))) }
			},
			"revoke a consent": func(f *oauthFixture) func(context.Context) error {
				f.code(t)
				return func(ctx context.Context) error { return e.EndGrant(ctx, f.endGrant()) }
			},
			"uninstall": func(f *oauthFixture) func(context.Context) error {
				f.code(t)
				return func(ctx context.Context) error { return f.endIn(ctx, partner.InstallationRemoved) }
			},
		}
		for name, prepare := range decisions {
			t.Log(name)
			e.EveryFaultAudited(t, func() func(context.Context) bool {
				decide := prepare(newOAuth(t, e))
				return func(ctx context.Context) bool { return decide(ctx) == nil }
			})
		}
	}},
}

package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// cancelledCases: an operation under a context that has ended does nothing and returns the
// context's error, never an error such as ErrNotFound. An operation whose context ends
// while it runs happens as a whole or not at all.
var cancelledCases = []testCase[partnerkit.Store]{
	{"A cancelled context starts nothing", func(t *testing.T, e partnerkit.Store) {
		for name, op := range operations(t, e) {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := op(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("%s under a cancelled context: %v, want context.Canceled", name, err)
			}
			if err := op(t.Context()); err != nil {
				t.Errorf("%s afterwards: %v", name, err)
			}
		}
	}},
	{"A refresh whose context ends is whole", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			before, after := f.issued(t), newTokens(noon)
			token := f.refreshToken(t, before)
			ctx, cancel := context.WithCancel(t.Context())
			var got oauthserver.IssueResult
			var err error
			Race(2, func(i int) {
				if i == 0 {
					got, err = f.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, after)
				} else {
					cancel()
				}
			})
			cancel()
			happened := f.isLive(t, after)
			f.wantLive(t, before, !happened)
			f.wantLive(t, after, happened)
			switch {
			case err == nil && (got.Outcome != oauthserver.Issued || !happened):
				t.Errorf("the refresh returned %q, and happened: %v", got.Outcome, happened)
			case err != nil && !errors.Is(err, context.Canceled):
				t.Errorf("the refresh returned %v", err)
			}
		}
	}},
}

// operations returns some of each consumer, reads and writes, each of which works once.
func operations(t *testing.T, e partnerkit.Store) map[string]func(ctx context.Context) error {
	t.Helper()
	f, gone, data, hook, listed := newOAuth(t, e), newOAuth(t, e), newData(t, e), newWebhook(t, e), newListing(t, e)
	gone.code(t) // installs
	live := f.issued(t)
	code, device, token, session := f.code(t), f.device(t, true), f.refreshToken(t, f.issued(t)), f.exchange()
	d, assertion := hook.failed(t, noon), newAssertion(noon)
	return map[string]func(ctx context.Context) error{
		"App": func(ctx context.Context) error { _, err := e.App(ctx, f.app.ID); return err },
		"AccessToken": func(ctx context.Context) error {
			_, err := e.AccessToken(ctx, live.AccessID, live.AccessDigest)
			return err
		},
		"RedeemCode":    func(ctx context.Context) error { return issuedBy(e.RedeemCode(ctx, code, newTokens(noon))) },
		"CollectDevice": func(ctx context.Context) error { return issuedBy(e.CollectDevice(ctx, device, newTokens(noon))) },
		"RotateRefresh": func(ctx context.Context) error {
			return issuedBy(e.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, newTokens(noon)))
		},
		"ExchangeSession": func(ctx context.Context) error { return issuedBy(e.ExchangeSession(ctx, session, newTokens(noon))) },
		"UseAssertion": func(ctx context.Context) error {
			first, err := e.UseAssertion(ctx, assertion)
			return outcome(err, first)
		},
		"UpdateApp": func(ctx context.Context) error {
			_, err := e.UpdateApp(ctx, f.app.ID, func(a oauthserver.App) (oauthserver.App, error) { return a, nil })
			return err
		},
		"ClaimKey": func(ctx context.Context) error {
			got, err := e.ClaimKey(ctx, claim("cancelled", "work", start))
			return outcome(err, got.State == guard.KeyOwned)
		},
		"AddCalls": func(ctx context.Context) error {
			return e.AddCalls(ctx, analytics.Batch{Writer: "writer_cancelled", Number: 1, At: noon, Buckets: []analytics.Bucket{{AppID: f.app.ID, Hour: noon}}})
		},
		"RecordEvents": func(ctx context.Context) error { return e.RecordEvents(ctx, f.event("cancelled.once", noon)...) },
		"Events": func(ctx context.Context) error {
			_, err := e.Events(ctx, events.Query{BusinessID: f.business, Types: []string{"a.b"}, Limit: 1})
			return err
		},
		"CreateWebhook": func(ctx context.Context) error { return e.CreateWebhook(ctx, hook.another(noon), maxWebhooks) },
		"Redeliver":     func(ctx context.Context) error { _, err := e.Redeliver(ctx, hook.again(d, noon)); return err },
		"WriteValues": func(ctx context.Context) error {
			_, err := e.WriteValues(ctx, data.write(noon, drafts(data.field, noon, map[string]string{"inv_1": "1"})))
			return err
		},
		"ChangeListing": func(ctx context.Context) error {
			_, err := e.ChangeListing(ctx, listed.app.ID, next(listed.draft(slug())))
			return err
		},
		"Transact": func(ctx context.Context) error {
			return e.Transact(ctx, func(ctx context.Context) error { return e.RecordAudit(ctx, auditEntry("app_1", noon)) })
		},
		"EraseUser": func(ctx context.Context) error {
			_, err := e.EraseUser(ctx, oauthserver.EraseUser{UserID: "usr_erased", Now: noon, Limit: 1})
			return err
		},
		"EndInstallation": func(ctx context.Context) error { return gone.endIn(ctx, oauthserver.InstallationRemoved) },
	}
}

// issuedBy returns an error unless tokens were issued.
func issuedBy(got oauthserver.IssueResult, err error) error {
	return outcome(err, got.Outcome == oauthserver.Issued)
}

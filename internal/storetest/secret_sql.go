package storetest

import (
	"context"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// sqlSecretCases need what only sqlstore has.
var sqlSecretCases = []testCase[*Env]{
	{"Add a secret under faults", func(t *testing.T, e *Env) {
		var f *oauthFixture
		var added oauthserver.ClientSecret
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newOAuth(t, e); added = f.secret() },
			Act:     func(ctx context.Context) error { return addSecret(ctx, e, added) },
			Check:   func(t *testing.T, happened bool) { f.wantSecond(t, happened) },
		})
	}},
	{"End a secret under faults", func(t *testing.T, e *Env) {
		var f *oauthFixture
		var added oauthserver.ClientSecret
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) {
				f = newOAuth(t, e)
				added = f.secret()
				must(t, addSecret(t.Context(), e, added))
			},
			Act:   func(ctx context.Context) error { return endSecret(ctx, e, f.app.ID, added.ID) },
			Check: func(t *testing.T, happened bool) { f.wantSecond(t, !happened) },
		})
	}},
}

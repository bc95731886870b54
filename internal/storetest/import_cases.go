package storetest

import (
	"errors"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// importCases are the operations of moving in.
var importCases = []testCase[partnerkit.Store]{
	{"MIG-01 A foreign digest is replaced once", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		app := fixture.App(noon, allScopes)
		one := partner.ClientSecret{ID: id.New(id.Secret, noon), AppID: app.ID, Digest: secret.DigestOf("random"), CreatedAt: noon}
		foreign := oauthstore.ForeignSecret{SecretID: one.ID, Digest: "$2a$10$x"}
		must(t, e.ImportApp(t.Context(), app, []partner.ClientSecret{one}, []oauthstore.ForeignSecret{foreign}))
		if err := e.ImportApp(t.Context(), f.app, nil, nil); !errors.Is(err, oauthstore.ErrTaken) {
			t.Errorf("a taken client_id: %v", err)
		}
		if got := get[[]oauthstore.ForeignSecret](t)(e.ForeignSecrets(t.Context(), app.ID)); len(got) != 1 || got[0] != foreign {
			t.Errorf("foreign digests: %+v", got)
		}
		must(t, e.ReplaceForeignSecret(t.Context(), app.ID, one.ID, secret.DigestOf("first")))
		must(t, e.ReplaceForeignSecret(t.Context(), app.ID, one.ID, secret.DigestOf("second")))
		client := get[oauthstore.Client](t)(e.Client(t.Context(), app.ClientID))
		if len(client.Secrets) != 1 || client.Secrets[0] != secret.DigestOf("first") {
			t.Errorf("the digest is not that of the first use")
		}
	}},
	{"MIG-01 An import adds what is not there", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		install := func() error {
			return e.ImportInstallation(t.Context(), f.app.ClientID, partner.Installation{
				ID: id.New(id.Installation, noon), BusinessID: f.business, Status: partner.InstallationActive, Scopes: allScopes, CreatedAt: noon,
			})
		}
		consent := func() error {
			return e.ImportConsent(t.Context(), f.app.ClientID, f.business, oauthstore.Grant{ID: id.New(id.Grant, noon), UserID: f.user, Scopes: allScopes, CreatedAt: noon})
		}
		if err := consent(); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("a consent without an installation: %v", err)
		}
		for _, add := range []func() error{install, consent} {
			var added atomic.Int64
			testdb.Race(4, func(int) {
				if err := add(); err == nil {
					added.Add(1)
				} else if !errors.Is(err, oauthstore.ErrExists) {
					t.Error(err)
				}
			})
			if added.Load() != 1 {
				t.Errorf("added %d times", added.Load())
			}
		}
		must(t, e.EndGrant(t.Context(), f.endGrant()))
		if err := consent(); !errors.Is(err, oauthstore.ErrEnded) {
			t.Errorf("a consent that has ended: %v", err)
		}
		must(t, f.end(t, partner.InstallationRemoved))
		if err := install(); !errors.Is(err, oauthstore.ErrEnded) {
			t.Errorf("an installation that has ended: %v", err)
		}
	}},
	{"MIG-02 A foreign refresh token works once", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.code(t) // installs
		use := oauthstore.ForeignUse{Digest: secret.DigestOf("foreign " + f.app.ID), AppID: f.app.ID, BusinessID: f.business, UserID: "usr_none", Scopes: allScopes}
		if got := get[oauthstore.IssueResult](t)(e.RedeemForeign(t.Context(), use, newTokens(noon))); got.Outcome != oauthstore.Dead {
			t.Errorf("without a consent: %+v", got)
		}
		use.UserID = f.user
		if _, err := e.EndForeignFamily(t.Context(), use, noon); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("a token that was not used: %v", err)
		}
		var issued atomic.Int64
		made := make([]oauthstore.NewTokens, 4)
		testdb.Race(len(made), func(n int) {
			made[n] = newTokens(noon)
			switch got := get[oauthstore.IssueResult](t)(e.RedeemForeign(t.Context(), use, made[n])); got.Outcome {
			case oauthstore.Issued:
				issued.Add(1)
			case oauthstore.Lost:
			default:
				t.Errorf("%+v", got)
			}
		})
		if issued.Load() != 1 {
			t.Errorf("issued %d times", issued.Load())
		}
		want := oauthstore.ForeignFamily{BusinessID: f.business, UserID: f.user, HadEnded: true} // by the others
		if got := get[oauthstore.ForeignFamily](t)(e.EndForeignFamily(t.Context(), use, noon)); got != want {
			t.Errorf("a token that was used: %+v", got)
		}
		for _, m := range made {
			f.wantLive(t, m, false)
		}
		other := use
		other.AppID = "app_other"
		if _, err := e.EndForeignFamily(t.Context(), other, noon); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("another app: %v", err)
		}
		use.Digest = secret.DigestOf("another " + f.app.ID)
		get[oauthstore.IssueResult](t)(e.RedeemForeign(t.Context(), use, newTokens(noon)))
		want.HadEnded = false
		if got := get[oauthstore.ForeignFamily](t)(e.EndForeignFamily(t.Context(), use, noon)); got != want {
			t.Errorf("a token that was used once: %+v", got)
		}
	}},
}

package oauthserver_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

var documentCaller = netip.MustParseAddr("198.51.100.7")

// documentHarness is a server on a store of its own, with a clock that stands still.
type documentHarness struct {
	*oauthserver.Server
	env   *testdb.Env
	clock *clock.Manual
	host  *partnertest.Host
	cfg   oauthserver.Config
}

func newDocumentHarness(t testing.TB, change func(*oauthserver.Config)) *documentHarness {
	t.Helper()
	r := new(documentHarness)
	h := harness.New(t, testdb.SQLite, func(c *oauthserver.Config) {
		if change != nil {
			change(c)
		}
		r.cfg = *c
	})
	r.Server, r.env, r.clock, r.host = h.OAuth, h.Store, h.Clock, h.Host
	return r
}

// node is another server on the same store.
func (r *documentHarness) node(t testing.TB, change func(*oauthserver.Config)) *oauthserver.Server {
	t.Helper()
	cfg := r.cfg
	if change != nil {
		change(&cfg)
	}
	s, err := oauthserver.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// app creates a confidential app.
func (r *documentHarness) app(t testing.TB, change func(*partner.App)) partner.App {
	t.Helper()
	app := fixture.App(r.clock.Now(), identity.MustScopes("invoices:read"))
	app.Type, app.Name, app.RedirectURIs = partner.Confidential, "Ledger", []string{"https://ledger.example/callback"}
	if change != nil {
		change(&app)
	}
	if err := fixture.AddApp(t.Context(), r.env, app); err != nil {
		t.Fatal(err)
	}
	return app
}

// install has the user approve the app for the business.
func (r *documentHarness) install(t testing.TB, app partner.App, businessID, userID string) partner.Installation {
	t.Helper()
	approved, _, err := fixture.Approve(t.Context(), r.env, fixture.Consent{App: app, BusinessID: businessID, UserID: userID, Scopes: app.Scopes, Now: r.clock.Now()})
	if err != nil {
		t.Fatal(err)
	}
	r.host.AddBusiness(userID, oauthserver.Business{ID: businessID})
	return approved.Installation
}

// documentGet asks over real HTTP.
func documentGet(t testing.TB, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(fmt.Errorf("GET %s: %w", url, err))
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

func sha256Of(text string) [32]byte { return sha256.Sum256([]byte(text)) }

// documentTokens is an access token about to be made.
func documentTokens(now time.Time) oauthstore.NewTokens {
	return oauthstore.NewTokens{
		Now: now, AccessID: id.New(id.Token, now), AccessDigest: secret.New("x_").Digest(), AccessExpires: now.Add(time.Hour),
	}
}

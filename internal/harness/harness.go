// Package harness puts the service of one package on a real store, behind a real OAuth server
// and the guard: for tests of a package that need no more of the platform. Tests of the whole
// platform use package partnertest, tests of a store alone package fixture.
package harness

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// The origins of the two hosts.
const (
	APIURL = "https://api.example.com"
	AppURL = "https://app.example.com"
)

// Start is when the clocks start.
var Start = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

// Harness is a store, a host, and an OAuth server without pages.
type Harness struct {
	testing.TB
	Store *testdb.Env
	Clock *clock.Manual
	Host  *partnertest.Host
	OAuth *oauthserver.Server
	// API is what Call asks; Handle sets it.
	API http.Handler
}

// New returns one on an empty store. The changes are to the configuration of the OAuth
// server.
func New(t testing.TB, open testdb.Opener, changes ...func(*oauthserver.Config)) *Harness {
	t.Helper()
	h := &Harness{TB: t, Store: testdb.NewEnv(t, open), Clock: clock.NewManual(Start), Host: partnertest.NewHost()}
	cfg := oauthserver.Config{
		Store: h.Store, Host: h.Host, Keyring: fixture.Keyring(1), Pages: NoPages{}, Clock: h.Clock, APIURL: APIURL, AppURL: AppURL,
	}
	for _, change := range changes {
		change(&cfg)
	}
	var err error
	h.OAuth, err = oauthserver.New(cfg)
	h.Must(err)
	return h
}

// NoPages are pages that no test may show.
type NoPages struct{ pages.Pages }

// In returns the harness for a part of the test, such as one run of a fuzz target.
func (h *Harness) In(t testing.TB) *Harness {
	part := *h
	part.TB = t
	return &part
}

// Must ends the test if there is an error.
func (h *Harness) Must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// GuardConfig returns the configuration of a guard with the tokens, the sessions and the clock
// of the harness.
func (h *Harness) GuardConfig() guard.Config {
	return guard.Config{Tokens: h.OAuth, Sessions: h.Host, Clock: h.Clock}
}

// Handle puts routes behind a guard, to be called with Call.
func (h *Harness) Handle(cfg guard.Config, routes ...guard.Route) *guard.Surface {
	h.Helper()
	surface, err := guard.New(cfg)
	h.Must(err)
	h.Must(surface.Handle(routes...))
	h.API = surface
	return surface
}

// NewApp stores a public app that may have these scopes. A change is made before.
func (h *Harness) NewApp(scopes identity.Scopes, changes ...func(*partner.App)) partner.App {
	h.Helper()
	app := fixture.App(h.Clock.Now(), scopes)
	for _, change := range changes {
		change(&app)
	}
	h.Must(fixture.AddApp(h.Context(), h.Store, app))
	return app
}

// UpdateApp changes an app.
func (h *Harness) UpdateApp(app partner.App, change func(*partner.App)) {
	h.Helper()
	_, err := h.Store.UpdateApp(h.Context(), app.ID, func(a partner.App) (partner.App, error) {
		change(&a)
		return a, nil
	})
	h.Must(err)
}

// Connect installs an app in a business, as partnertest.User, and returns an access token
// with these scopes that lives for a year.
func (h *Harness) Connect(app partner.App, businessID string, scopes identity.Scopes) string {
	h.Helper()
	return h.Grant(fixture.Consent{App: app, BusinessID: businessID, UserID: partnertest.User, Scopes: scopes, Lifetime: 365 * 24 * time.Hour}).Access
}

// Grant has a user who is a member of the business approve an app now, and returns its
// tokens.
func (h *Harness) Grant(c fixture.Consent) fixture.Tokens {
	h.Helper()
	c.Now = h.Clock.Now()
	h.Host.AddBusiness(c.UserID, oauthserver.Business{ID: c.BusinessID})
	tokens, err := fixture.Connect(h.Context(), h.Store, c)
	h.Must(err)
	return tokens
}

// Call makes a call such as "GET /events" with an access token, or without one where it is
// empty. A body is JSON. Headers are pairs.
func (h *Harness) Call(token, call, body string, headers ...string) *partnertest.Response {
	h.Helper()
	r := NewRequest(h.TB, call, body, headers...)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return partnertest.Serve(h.TB, h.API, r)
}

// NewRequest makes a request such as "GET /events" for a handler. A body is JSON, unless the
// headers, which are pairs, have another Content-Type.
func NewRequest(t testing.TB, call, body string, headers ...string) *http.Request {
	t.Helper()
	method, target, _ := strings.Cut(call, " ")
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// Problem is an error in the standard format (ERR-02).
type Problem struct {
	StatusCode int
	Error      string
	Code       apierror.Code
	Message    any
	Params     map[string]string
	Details    []codes.ValueDetail
}

// Refused wants an error with that status and code, and returns it.
func Refused(t testing.TB, r *partnertest.Response, status int, code apierror.Code) Problem {
	t.Helper()
	var body Problem
	r.WantCode(status, code).Decode(&body)
	if body.StatusCode != status || body.Error != http.StatusText(status) {
		t.Errorf("%s, want %d", r, status)
	}
	return body
}

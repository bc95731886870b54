package oauthserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// consent and tokens are the two sorts of lookup, by the usual caller.
func (r *documentHarness) consent(t testing.TB, clientID string) (oauthstore.Client, error) {
	t.Helper()
	return r.LookupForConsent(t.Context(), clientID, documentCaller)
}

func (r *documentHarness) tokens(t testing.TB, clientID string) (oauthstore.Client, error) {
	t.Helper()
	return r.LookupForTokens(t.Context(), clientID, documentCaller)
}

// saved is all that the store has of a client's app.
func (r *documentHarness) saved(t testing.TB, client oauthstore.Client) partner.App {
	t.Helper()
	app, err := r.env.App(t.Context(), client.ID)
	mustDo(t, err)
	return app
}

// wantDocument wants the failure of a document, which is neither an unknown client
// (that would count as a failed authentication) nor an internal error, nor an error that
// an endpoint would send as it is.
func wantDocument(t testing.TB, what string, err error) {
	t.Helper()
	var response *apierror.Error
	if !errors.Is(err, oauthserver.ErrLookupDocument) || errors.Is(err, partner.ErrNotFound) || errors.Is(err, oauthserver.ErrInternal) || errors.As(err, &response) {
		t.Errorf("%s: %v, want errDocument", what, err)
	}
}

// CIMD-01: a document creates a PUBLIC, unreviewed app without an owner, in the store for
// all nodes. While the document is fresh, a lookup is one statement and no fetch.
func TestDocumentLookup_CIMD01(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	site.serve(goodDocument(site.URL), map[string]string{"Cache-Control": "max-age=600"})
	got, err := r.consent(t, site.URL)
	mustDo(t, err)
	app := partner.App{
		ID: got.ID, ClientID: site.URL, Type: partner.Public, Status: partner.AppActive, Origin: partner.OriginDocument, Name: "Tool",
		RedirectURIs: []string{"https://tool.example/callback", "http://127.0.0.1/callback"}, Scopes: identity.DefaultScopes().Requestable(),
		Metadata: "{}", DocumentFetchedAt: harness.Start, DocumentFreshUntil: harness.Start.Add(10 * time.Minute), CreatedAt: harness.Start,
		Version: 1,
	}
	compare := cmp.Comparer(func(a, b identity.Scopes) bool { return a.Equal(b) })
	if diff := cmp.Diff(app, r.saved(t, got), compare); diff != "" || !strings.HasPrefix(got.ID, "app_") {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := oauthstore.Client{
		ID: app.ID, ClientID: site.URL, Type: app.Type, Status: app.Status, Origin: app.Origin,
		DocumentFetchedAt: app.DocumentFetchedAt, DocumentFreshUntil: app.DocumentFreshUntil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, node := range map[string]*oauthserver.Server{"this node": r.Server, "another node": r.node(t, nil)} {
		for _, lookup := range []func(context.Context, string) (oauthstore.Client, error){
			func(ctx context.Context, id string) (oauthstore.Client, error) {
				return node.LookupForConsent(ctx, id, documentCaller)
			},
			func(ctx context.Context, id string) (oauthstore.Client, error) {
				return node.LookupForTokens(ctx, id, documentCaller)
			},
		} {
			r.env.Tap.Reset()
			again, err := lookup(t.Context(), site.URL)
			if diff := cmp.Diff(want, again); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
			}
			if n, _ := r.env.Tap.Counts(); n != 1 {
				t.Errorf("%s: %d statements", name, n)
			}
		}
	}
	if n := site.hits.Load(); n != 1 {
		t.Errorf("%d fetches", n)
	}
}

// CIMD-02: registered clients come first, and an id that is not a URL is unknown.
func TestRegisteredClientsComeFirst_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	app := r.app(t, func(a *partner.App) { a.ClientID = site.URL })
	if got, err := r.consent(t, site.URL); err != nil || got.ID != app.ID || got.Type != partner.Confidential {
		t.Errorf("%+v, %v", got, err)
	}
	for _, clientID := range []string{"cli_nobody", "", "https://tool.example", "http://tool.example/x", "https://10.0.0.1/x"} {
		if _, err := r.tokens(t, clientID); !errors.Is(err, partner.ErrNotFound) || errors.Is(err, oauthserver.ErrLookupDocument) {
			t.Errorf("%q: %v", clientID, err)
		}
	}
	if n := site.hits.Load(); n != 0 {
		t.Errorf("%d fetches", n)
	}
}

// CIMD-02: consent wants a fresh document; at the endpoints the last good one
// serves for 30 days, the second before and the second itself.
func TestLastGoodDocument_CIMD02(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(*docSite){
		"outage":           func(s *docSite) { s.fail(http.StatusBadGateway) },
		"gone":             func(s *docSite) { s.fail(http.StatusNotFound) },
		"invalid document": func(s *docSite) { s.serve(withMembers(goodDocument(s.URL), map[string]any{"client_name": ""}), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
			good, err := r.consent(t, site.URL)
			mustDo(t, err)
			broken(site)
			r.clock.Advance(30 * time.Second)
			_, err = r.consent(t, site.URL)
			wantDocument(t, "consent", err)
			if got, err := r.tokens(t, site.URL); err != nil || got.ID != good.ID {
				t.Errorf("tokens: %v", err)
			}
			r.clock.Advance(30*24*time.Hour - 31*time.Second)
			if got, err := r.tokens(t, site.URL); err != nil || got.ID != good.ID || got.DocumentFetchedAt != harness.Start {
				t.Errorf("a second before 30 days: %v", err)
			}
			r.clock.Advance(time.Second)
			_, err = r.tokens(t, site.URL)
			wantDocument(t, "30 days", err)
			site.serve(goodDocument(site.URL), nil)
			if got, err := r.tokens(t, site.URL); err != nil || got.ID != good.ID {
				t.Errorf("when it is back: %v", err)
			}
		})
	}
}

// CIMD-03: what a document takes back is gone when it is next fetched; what the
// service decided about the app stays.
func TestDocumentChanges_CIMD03(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	before, err := r.consent(t, site.URL)
	mustDo(t, err)
	mustDo(t, r.SetReviewed(t.Context(), before.ID, true))
	site.serve(withMembers(goodDocument(site.URL), map[string]any{
		"client_name": "Tool 2", "redirect_uris": []string{"https://tool.example/callback"}, "scope": "invoices:read",
	}), nil)
	r.clock.Advance(29 * time.Second)
	client, err := r.tokens(t, site.URL)
	mustDo(t, err)
	if kept := r.saved(t, client).RedirectURIs; len(kept) != 2 {
		t.Errorf("while it is fresh: %v", kept)
	}
	r.clock.Advance(time.Second)
	client, err = r.tokens(t, site.URL)
	mustDo(t, err)
	got := r.saved(t, client)
	if got.Name != "Tool 2" || !slices.Equal(got.RedirectURIs, []string{"https://tool.example/callback"}) || got.Scopes.String() != "invoices:read" {
		t.Errorf("%+v", got)
	}
	if got.ID != before.ID || !got.Reviewed || got.CreatedAt != harness.Start || got.DocumentFetchedAt != harness.Start.Add(30*time.Second) {
		t.Errorf("%+v", got)
	}

	mustDo(t, r.SetAppStatus(t.Context(), got.ID, partner.AppSuspended))
	r.clock.Advance(time.Hour)
	hits := site.hits.Load()
	for name, lookup := range map[string]func(testing.TB, string) (oauthstore.Client, error){"consent": r.consent, "tokens": r.tokens} {
		if got, err := lookup(t, site.URL); err != nil || got.Status != partner.AppSuspended {
			t.Errorf("%s, suspended: %s, %v", name, got.Status, err)
		}
	}
	if site.hits.Load() != hits {
		t.Error("the document of a suspended app was fetched")
	}
	mustDo(t, r.SetAppStatus(t.Context(), got.ID, partner.AppActive))
	// Suspended while the document is on its way: it stays so.
	site.handle(func(w http.ResponseWriter, _ *http.Request) {
		if err := r.SetAppStatus(context.Background(), got.ID, partner.AppSuspended); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":%q,"client_name":"Tool 3","redirect_uris":["https://tool.example/"]}`, site.URL)
	})
	client, err = r.consent(t, site.URL)
	mustDo(t, err)
	if got := r.saved(t, client); got.Name != "Tool 3" || got.Status != partner.AppSuspended || client.Status != got.Status {
		t.Errorf("%s is %s and %s", got.Name, client.Status, got.Status)
	}
}

// CIMD-02: a client_id that is registered while its document is on its way is the
// registered client's.
func TestRegisteredMeanwhile_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	site.handle(func(w http.ResponseWriter, _ *http.Request) {
		app := r.app(t, func(a *partner.App) { a.ClientID = site.URL })
		if err := fixture.AddSecret(context.Background(), r.env, partner.ClientSecret{
			ID: "sec_1", AppID: app.ID, Digest: secret.DigestOf("secret"), CreatedAt: harness.Start,
		}); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":%q,"client_name":"Tool","redirect_uris":["https://tool.example/"]}`, site.URL)
	})
	got, err := r.consent(t, site.URL)
	mustDo(t, err)
	if got.Type != partner.Confidential || r.saved(t, got).Name != "Ledger" || len(got.Secrets) != 1 {
		t.Errorf("%+v", got)
	}
}

// CIMD-03: in development, documents may be fetched over http on loopback.
func TestDocumentOverHTTP_CIMD03(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":"http://%s/c","client_name":"Tool","redirect_uris":["https://tool.example/"]}`, r.Host)
	}))
	defer web.Close()
	if _, err := newDocumentHarness(t, onLoopback).consent(t, web.URL+"/c"); err != nil {
		t.Error(err)
	}
	if _, err := newDocumentHarness(t, nil).consent(t, web.URL+"/c"); !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("in production: %v", err)
	}
}

// A failing store is an internal error at each statement: never an unknown client, never
// the last good document.
func TestDocumentLookupFaults(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"new": false, "known": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
				if known {
					_, err := r.consent(t, site.URL)
					mustDo(t, err)
					r.clock.Advance(time.Hour)
				}
				r.env.Tap.Arm(testdb.FaultError, n)
				_, err := r.tokens(t, site.URL)
				if !r.env.Tap.Struck() {
					if n < 4 {
						t.Errorf("only %d statements", n-1)
					}
					return
				}
				if !errors.Is(err, oauthserver.ErrInternal) || errors.Is(err, partner.ErrNotFound) || errors.Is(err, oauthserver.ErrLookupDocument) {
					t.Errorf("statement %d: %v", n, err)
				}
			}
		})
	}
}

// CIMD-02: a server that says nothing is left after 5 s. In proofs only: it waits.
func TestDocumentTimeout_CIMD02(t *testing.T) {
	t.Parallel()
	if !testenv.Proving() {
		t.Skip("waits for 5 s; set " + testenv.ProveVar)
	}
	r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
	release := make(chan struct{})
	defer close(release)
	site.handle(func(http.ResponseWriter, *http.Request) { <-release })
	_, err := r.consent(t, site.URL)
	wantDocument(t, "a server that says nothing", err)
}

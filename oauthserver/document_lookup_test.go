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
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// consent and tokens are the two sorts of lookup, by the usual caller.
func (r *docRig) consent(t testing.TB, clientID string) (oauthserver.Client, error) {
	t.Helper()
	return r.LookupForConsent(t.Context(), clientID, rigCaller)
}

func (r *docRig) tokens(t testing.TB, clientID string) (oauthserver.Client, error) {
	t.Helper()
	return r.LookupForTokens(t.Context(), clientID, rigCaller)
}

// wantDocument wants the failure of a document, which is neither an unknown client
// (that would count as a failed authentication) nor a fault, and no answer that an
// endpoint would send by itself.
func wantDocument(t testing.TB, what string, err error) {
	t.Helper()
	var answer *apierror.Error
	if !errors.Is(err, oauthserver.ErrLookupDocument) || errors.Is(err, oauthserver.ErrNotFound) || errors.Is(err, oauthserver.ErrFault) || errors.As(err, &answer) {
		t.Errorf("%s: %v, want errDocument", what, err)
	}
}

// CIMD-01: a document makes a PUBLIC, unreviewed app of nobody, in the store for
// all nodes; while it is fresh a lookup is one statement and no fetch.
func TestDocumentLookup_CIMD01(t *testing.T) {
	t.Parallel()
	r, site := newDocRig(t, onLoopback), newDocSite(t)
	site.serve(goodDocument(site.URL), map[string]string{"Cache-Control": "max-age=600"})
	got, err := r.consent(t, site.URL)
	mustDo(t, err)
	want := oauthserver.Client{App: oauthserver.App{
		ID: got.ID, ClientID: site.URL, Type: oauthserver.Public, Status: oauthserver.AppActive, Origin: oauthserver.OriginDocument, Name: "Desk",
		RedirectURIs: []string{"https://desk.example/callback", "http://127.0.0.1/callback"}, Scopes: identity.DefaultScopes().Requestable(),
		Metadata: "{}", DocumentFetchedAt: rigStart, DocumentFreshUntil: rigStart.Add(10 * time.Minute), CreatedAt: rigStart,
	}}
	compare := cmp.Comparer(func(a, b identity.Scopes) bool { return a.Equal(b) })
	if diff := cmp.Diff(want, got, compare); diff != "" || !strings.HasPrefix(got.ID, "app_") {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, node := range map[string]*oauthserver.Server{"this node": r.Server, "another node": r.node(t, nil)} {
		for _, lookup := range []func(context.Context, string) (oauthserver.Client, error){
			func(ctx context.Context, id string) (oauthserver.Client, error) {
				return node.LookupForConsent(ctx, id, rigCaller)
			},
			func(ctx context.Context, id string) (oauthserver.Client, error) {
				return node.LookupForTokens(ctx, id, rigCaller)
			},
		} {
			r.env.Tap.Reset()
			again, err := lookup(t.Context(), site.URL)
			if diff := cmp.Diff(want, again, compare); diff != "" || err != nil {
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

// CIMD-02: registered clients come first, and an id that is no URL is nobody's.
func TestRegisteredClientsComeFirst_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocRig(t, onLoopback), newDocSite(t)
	app := r.app(t, func(a *oauthserver.App) { a.ClientID = site.URL })
	if got, err := r.consent(t, site.URL); err != nil || got.ID != app.ID || got.Type != oauthserver.Confidential {
		t.Errorf("%+v, %v", got, err)
	}
	for _, clientID := range []string{"cli_nobody", "", "https://desk.example", "http://desk.example/x", "https://10.0.0.1/x"} {
		if _, err := r.tokens(t, clientID); !errors.Is(err, oauthserver.ErrNotFound) || errors.Is(err, oauthserver.ErrLookupDocument) {
			t.Errorf("%q: %v", clientID, err)
		}
	}
	if n := site.hits.Load(); n != 0 {
		t.Errorf("%d fetches", n)
	}
}

// CIMD-02: what the headers say, within 30 s and 24 h: the second before and the
// second itself.
func TestDocumentFreshness_CIMD02(t *testing.T) {
	t.Parallel()
	const least, most = 30 * time.Second, 24 * time.Hour
	at := func(d time.Duration) string { return rigStart.Add(d).Format(http.TimeFormat) }
	type headers = map[string]string
	tests := []struct {
		name    string
		headers headers
		want    time.Duration
	}{
		{"nothing", nil, least},
		{"max-age", headers{"Cache-Control": "max-age=600"}, 10 * time.Minute},
		{"max-age among others", headers{"Cache-Control": `public, Max-Age="600" ,must-revalidate`}, 10 * time.Minute},
		{"max-age at the least", headers{"Cache-Control": "max-age=30"}, least},
		{"max-age below the least", headers{"Cache-Control": "max-age=29"}, least},
		{"max-age of zero", headers{"Cache-Control": "max-age=0"}, least},
		{"max-age at the most", headers{"Cache-Control": "max-age=86400"}, most},
		{"max-age beyond", headers{"Cache-Control": "max-age=86401"}, most},
		{"max-age of a year", headers{"Cache-Control": "max-age=31536000, immutable"}, most},
		{"max-age beyond all numbers", headers{"Cache-Control": "max-age=99999999999999999999999"}, most},
		{"negative max-age", headers{"Cache-Control": "max-age=-600"}, least},
		{"max-age of no number", headers{"Cache-Control": "max-age=1h"}, least},
		{"max-age without a value", headers{"Cache-Control": "max-age"}, least},
		{"max-age twice, the same", headers{"Cache-Control": "max-age=600, max-age=600"}, 10 * time.Minute},
		{"max-age twice, different", headers{"Cache-Control": "max-age=600, max-age=700"}, least},
		{"s-maxage is for us", headers{"Cache-Control": "max-age=600, s-maxage=60"}, time.Minute},
		{"no-store", headers{"Cache-Control": "no-store, max-age=600"}, least},
		{"no-cache", headers{"Cache-Control": "max-age=600, no-cache"}, least},
		{"private", headers{"Cache-Control": "private, max-age=600"}, least},
		{"age", headers{"Cache-Control": "max-age=600", "Age": "200"}, 400 * time.Second},
		{"age beyond", headers{"Cache-Control": "max-age=600", "Age": "601"}, least},
		{"age of no number", headers{"Cache-Control": "max-age=600", "Age": "old"}, 10 * time.Minute},
		{"age beyond all numbers", headers{"Cache-Control": "max-age=600", "Age": "99999999999999999999999"}, least},
		{"expires", headers{"Expires": at(10 * time.Minute), "Date": at(0)}, 10 * time.Minute},
		{"expires and age", headers{"Expires": at(10 * time.Minute), "Date": at(0), "Age": "60"}, 9 * time.Minute},
		{"expires by their clock", headers{"Expires": at(time.Hour), "Date": at(50 * time.Minute)}, 10 * time.Minute},
		{"expires without a date", headers{"Expires": at(10 * time.Minute), "Date": ""}, 10 * time.Minute},
		{"expired", headers{"Expires": at(-time.Hour), "Date": at(0)}, least},
		{"expires at 0", headers{"Expires": "0", "Date": at(0)}, least},
		{"expires in a hundred years", headers{"Expires": "Fri, 01 Sep 2126 12:00:00 GMT", "Date": at(0)}, most},
		{"max-age before expires", headers{"Cache-Control": "max-age=60", "Expires": at(time.Hour), "Date": at(0)}, time.Minute},
		{"an unreadable max-age before expires", headers{"Cache-Control": "max-age=x", "Expires": at(time.Hour), "Date": at(0)}, least},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, site := newDocRig(t, onLoopback), newDocSite(t)
			site.serve(goodDocument(site.URL), test.headers)
			client, err := r.consent(t, site.URL)
			mustDo(t, err)
			if got := client.DocumentFreshUntil.Sub(rigStart); got != test.want {
				t.Errorf("fresh for %v, want %v", got, test.want)
			}
			for _, step := range []struct {
				advance time.Duration
				hits    int32
			}{{test.want - time.Second, 1}, {time.Second, 2}} {
				r.clock.Advance(step.advance)
				if _, err := r.consent(t, site.URL); err != nil || site.hits.Load() != step.hits {
					t.Errorf("after %v: %d fetches, want %d; %v", r.clock.Now().Sub(rigStart), site.hits.Load(), step.hits, err)
				}
			}
		})
	}
}

// CIMD-02: which answers are documents; and failures are kept nowhere.
func TestDocumentAnswers_CIMD02(t *testing.T) {
	t.Parallel()
	answer := func(status int, contentType string, more ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for i := 0; i+1 < len(more); i += 2 {
				w.Header().Add(more[i], more[i+1])
			}
			w.WriteHeader(status)
			if status != http.StatusNoContent && status != http.StatusNotModified {
				fmt.Fprintf(w, `{"client_id":"https://%s/client.json","client_name":"Desk","redirect_uris":["https://desk.example/"]}`, r.Host)
			}
		}
	}
	sized := func(size int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			body := fmt.Sprintf(`{"client_id":"https://%s/client.json","client_name":"Desk","redirect_uris":["https://desk.example/"]}`, r.Host)
			fmt.Fprint(w, body+strings.Repeat(" ", size-len(body)))
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		fine    bool
	}{
		{"JSON", answer(200, "application/json"), true},
		{"with charset", answer(200, "application/json; charset=UTF-8"), true},
		{"in capitals", answer(200, "Application/JSON"), true},
		{"built on JSON", answer(200, "application/client-metadata+json"), true},
		{"identity", answer(200, "application/json", "Content-Encoding", "identity"), true},
		{"another charset", answer(200, "application/json; charset=utf-16"), false},
		{"text", answer(200, "text/plain"), false},
		{"HTML", answer(200, "text/html; charset=utf-8"), false},
		{"a list of JSON", answer(200, "application/json-seq"), false},
		{"JSON of images", answer(200, "image/svg+json"), false},
		{"malformed type", answer(200, "application/json; charset"), false},
		{"empty type", answer(200, ""), false},
		{"two types", answer(200, "application/json", "Content-Type", "text/html"), false},
		{"compressed", answer(200, "application/json", "Content-Encoding", "gzip"), false},
		{"201", answer(201, "application/json"), false},
		{"203", answer(203, "application/json"), false},
		{"204", answer(204, "application/json"), false},
		{"206", answer(206, "application/json"), false},
		{"304", answer(304, "application/json"), false},
		{"404", answer(404, "application/json"), false},
		{"410", answer(410, "application/json"), false},
		{"500", answer(500, "application/json", "Cache-Control", "max-age=600"), false},
		{"301", answer(301, "application/json", "Location", "/client.json"), false},
		{"302", answer(302, "application/json", "Location", "/client.json"), false},
		{"307", answer(307, "application/json", "Location", "/client.json"), false},
		{"308", answer(308, "application/json", "Location", "/client.json"), false},
		{"5 KiB", sized(5 << 10), true},
		{"5 KiB and a byte", sized(5<<10 + 1), false},
		{"1 MiB", sized(1 << 20), false},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		}, false},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
		{"an invalid document, cacheable", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=86400")
			fmt.Fprint(w, `{"client_id":"https://evil.example/x","client_name":"Desk","redirect_uris":["https://desk.example/"]}`)
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, site := newDocRig(t, onLoopback), newDocSite(t)
			site.handle(test.handler)
			_, err := r.consent(t, site.URL)
			if test.fine {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantDocument(t, "consent", err)
			if n := site.hits.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
			if _, err := r.env.AppByClientID(t.Context(), site.URL); !errors.Is(err, oauthserver.ErrNotFound) {
				t.Errorf("something was saved: %v", err)
			}
			_, err = r.tokens(t, site.URL)
			wantDocument(t, "tokens", err)
			site.serve(goodDocument(site.URL), nil)
			if _, err := r.consent(t, site.URL); err != nil {
				t.Errorf("the failure was kept: %v", err)
			}
		})
	}
}

// CIMD-02: the size is an option.
func TestDocumentSize_CIMD02(t *testing.T) {
	t.Parallel()
	r := newDocRig(t, func(c *oauthserver.Config) {
		c.Documents = oauthserver.DocumentConfig{AllowLoopback: true, MaxBytes: 8 << 10}
	})
	site := newDocSite(t)
	document := goodDocument(site.URL)
	document["x"] = strings.Repeat("x", 6<<10)
	site.serve(document, nil)
	if _, err := r.consent(t, site.URL); err != nil {
		t.Error(err)
	}
	document["x"] = strings.Repeat("x", 8<<10)
	site.serve(document, nil)
	r.clock.Advance(time.Hour)
	_, err := r.consent(t, site.URL)
	wantDocument(t, "too long", err)
	cfg := r.cfg
	cfg.Documents.MaxBytes = -1
	if _, err := oauthserver.New(cfg); err == nil {
		t.Error("a negative size is a configuration")
	}
}

// CIMD-02: consent wants a fresh document; at the endpoints the last good one
// serves for 30 days, the second before and the second itself.
func TestLastGoodDocument_CIMD02(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(*docSite){
		"outage":           func(s *docSite) { s.fail(http.StatusBadGateway) },
		"gone":             func(s *docSite) { s.fail(http.StatusNotFound) },
		"invalid document": func(s *docSite) { s.serve(withMembers(goodDocument(s.URL), map[string]any{"client_name": nil}), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, site := newDocRig(t, onLoopback), newDocSite(t)
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
			if got, err := r.tokens(t, site.URL); err != nil || got.ID != good.ID || got.DocumentFetchedAt != rigStart {
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
	r, site := newDocRig(t, onLoopback), newDocSite(t)
	before, err := r.consent(t, site.URL)
	mustDo(t, err)
	mustDo(t, r.SetReviewed(t.Context(), before.ID, true))
	site.serve(withMembers(goodDocument(site.URL), map[string]any{
		"client_name": "Desk 2", "redirect_uris": []string{"https://desk.example/callback"}, "scope": "invoices:read",
	}), nil)
	r.clock.Advance(29 * time.Second)
	if got, err := r.tokens(t, site.URL); err != nil || len(got.RedirectURIs) != 2 {
		t.Errorf("while it is fresh: %v, %v", got.RedirectURIs, err)
	}
	r.clock.Advance(time.Second)
	got, err := r.tokens(t, site.URL)
	mustDo(t, err)
	if got.Name != "Desk 2" || !slices.Equal(got.RedirectURIs, []string{"https://desk.example/callback"}) || got.Scopes.String() != "invoices:read" {
		t.Errorf("%+v", got.App)
	}
	if got.ID != before.ID || !got.Reviewed || got.CreatedAt != rigStart || got.DocumentFetchedAt != rigStart.Add(30*time.Second) {
		t.Errorf("%+v", got.App)
	}

	mustDo(t, r.SetAppStatus(t.Context(), got.ID, oauthserver.AppSuspended))
	r.clock.Advance(time.Hour)
	hits := site.hits.Load()
	for name, lookup := range map[string]func(testing.TB, string) (oauthserver.Client, error){"consent": r.consent, "tokens": r.tokens} {
		if got, err := lookup(t, site.URL); err != nil || got.Status != oauthserver.AppSuspended {
			t.Errorf("%s, suspended: %s, %v", name, got.Status, err)
		}
	}
	if site.hits.Load() != hits {
		t.Error("the document of a suspended app was fetched")
	}
	mustDo(t, r.SetAppStatus(t.Context(), got.ID, oauthserver.AppActive))
	// Suspended while the document is on its way: it stays so.
	site.handle(func(w http.ResponseWriter, _ *http.Request) {
		if err := r.SetAppStatus(context.Background(), got.ID, oauthserver.AppSuspended); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":%q,"client_name":"Desk 3","redirect_uris":["https://desk.example/"]}`, site.URL)
	})
	if got, err := r.consent(t, site.URL); err != nil || got.Name != "Desk 3" || got.Status != oauthserver.AppSuspended {
		t.Errorf("%s %s, %v", got.Name, got.Status, err)
	}
}

// CIMD-02: a client_id that is registered while its document is on its way is the
// registered client's.
func TestRegisteredMeanwhile_CIMD02(t *testing.T) {
	t.Parallel()
	r, site := newDocRig(t, onLoopback), newDocSite(t)
	site.handle(func(w http.ResponseWriter, _ *http.Request) {
		r.app(t, func(a *oauthserver.App) { a.ClientID = site.URL })
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":%q,"client_name":"Desk","redirect_uris":["https://desk.example/"]}`, site.URL)
	})
	if got, err := r.consent(t, site.URL); err != nil || got.Type != oauthserver.Confidential || got.Name != "Ledger" {
		t.Errorf("%+v, %v", got.App, err)
	}
}

// CIMD-03: development may fetch over http on loopback; elsewhere nobody may.
func TestDocumentOverHTTP_CIMD03(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"client_id":"http://%s/c","client_name":"Desk","redirect_uris":["https://desk.example/"]}`, r.Host)
	}))
	defer web.Close()
	if _, err := newDocRig(t, onLoopback).consent(t, web.URL+"/c"); err != nil {
		t.Error(err)
	}
	if _, err := newDocRig(t, nil).consent(t, web.URL+"/c"); !errors.Is(err, oauthserver.ErrNotFound) {
		t.Errorf("in production: %v", err)
	}
}

// A store that fails is a fault at each statement, whatever the use: never an
// unknown client, never the last good document.
func TestDocumentLookupFaults(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]bool{"new": false, "known": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				r, site := newDocRig(t, onLoopback), newDocSite(t)
				if known {
					_, err := r.consent(t, site.URL)
					mustDo(t, err)
					r.clock.Advance(time.Hour)
				}
				r.env.Tap.Arm(storetest.FaultError, n)
				_, err := r.tokens(t, site.URL)
				if !r.env.Tap.Struck() {
					if n < 4 {
						t.Errorf("only %d statements", n-1)
					}
					return
				}
				if !errors.Is(err, oauthserver.ErrFault) || errors.Is(err, oauthserver.ErrNotFound) || errors.Is(err, oauthserver.ErrLookupDocument) {
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
	r, site := newDocRig(t, onLoopback), newDocSite(t)
	release := make(chan struct{})
	defer close(release)
	site.handle(func(http.ResponseWriter, *http.Request) { <-release })
	_, err := r.consent(t, site.URL)
	wantDocument(t, "a server that says nothing", err)
}

package oauthserver_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// CIMD-02: what the headers say, within 30 s and 24 h: the second before and the
// second itself.
func TestDocumentFreshness_CIMD02(t *testing.T) {
	t.Parallel()
	const least, most = 30 * time.Second, 24 * time.Hour
	at := func(d time.Duration) string { return harness.Start.Add(d).Format(http.TimeFormat) }
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
		{"max-age at the end of numbers", headers{"Cache-Control": "max-age=9223372036854775807"}, most},
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
			r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
			site.serve(goodDocument(site.URL), test.headers)
			client, err := r.consent(t, site.URL)
			mustDo(t, err)
			if got := client.DocumentFreshUntil.Sub(harness.Start); got != test.want {
				t.Errorf("fresh for %v, want %v", got, test.want)
			}
			for _, step := range []struct {
				advance time.Duration
				hits    int32
			}{{test.want - time.Second, 1}, {time.Second, 2}} {
				r.clock.Advance(step.advance)
				if _, err := r.consent(t, site.URL); err != nil || site.hits.Load() != step.hits {
					t.Errorf("after %v: %d fetches, want %d; %v", r.clock.Now().Sub(harness.Start), site.hits.Load(), step.hits, err)
				}
			}
		})
	}
}

// CIMD-02: which responds are documents; and failures are kept nowhere.
func TestDocumentResponses_CIMD02(t *testing.T) {
	t.Parallel()
	response := func(status int, contentType string, more ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			for i := 0; i+1 < len(more); i += 2 {
				w.Header().Add(more[i], more[i+1])
			}
			w.WriteHeader(status)
			if status != http.StatusNoContent && status != http.StatusNotModified {
				fmt.Fprintf(w, `{"client_id":"https://%s/client.json","client_name":"Tool","redirect_uris":["https://tool.example/"]}`, r.Host)
			}
		}
	}
	sized := func(size int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			body := fmt.Sprintf(`{"client_id":"https://%s/client.json","client_name":"Tool","redirect_uris":["https://tool.example/"]}`, r.Host)
			fmt.Fprint(w, body+strings.Repeat(" ", size-len(body)))
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		fine    bool
	}{
		{"JSON", response(200, "application/json"), true},
		{"with charset", response(200, "application/json; charset=UTF-8"), true},
		{"in capitals", response(200, "Application/JSON"), true},
		{"built on JSON", response(200, "application/client-metadata+json"), true},
		{"identity", response(200, "application/json", "Content-Encoding", "identity"), true},
		{"another charset", response(200, "application/json; charset=utf-16"), false},
		{"text", response(200, "text/plain"), false},
		{"HTML", response(200, "text/html; charset=utf-8"), false},
		{"a list of JSON", response(200, "application/json-seq"), false},
		{"JSON of images", response(200, "image/svg+json"), false},
		{"malformed type", response(200, "application/json; charset"), false},
		{"empty type", response(200, ""), false},
		{"two types", response(200, "application/json", "Content-Type", "text/html"), false},
		{"compressed", response(200, "application/json", "Content-Encoding", "gzip"), false},
		{"201", response(201, "application/json"), false},
		{"203", response(203, "application/json"), false},
		{"204", response(204, "application/json"), false},
		{"206", response(206, "application/json"), false},
		{"304", response(304, "application/json"), false},
		{"404", response(404, "application/json"), false},
		{"410", response(410, "application/json"), false},
		{"500", response(500, "application/json", "Cache-Control", "max-age=600"), false},
		{"301", response(301, "application/json", "Location", "/client.json"), false},
		{"302", response(302, "application/json", "Location", "/client.json"), false},
		{"307", response(307, "application/json", "Location", "/client.json"), false},
		{"308", response(308, "application/json", "Location", "/client.json"), false},
		{"5 KiB", sized(5 << 10), true},
		{"5 KiB and a byte", sized(5<<10 + 1), false},
		{"1 MiB", sized(1 << 20), false},
		{"breaks off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
		}, false},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "hello")
		}, false},
		{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
		{"an invalid document, cacheable", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=86400")
			fmt.Fprint(w, `{"client_id":"https://evil.example/x","client_name":"Tool","redirect_uris":["https://tool.example/"]}`)
		}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
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
			if _, err := fixture.AppByClientID(t.Context(), r.env, site.URL); !errors.Is(err, partner.ErrNotFound) {
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
	r := newDocumentHarness(t, func(c *oauthserver.Config) {
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

func TestDocumentRequest(t *testing.T) {
	t.Parallel()
	t.Run("CIMD-03 the fetch names us in User-Agent", func(t *testing.T) {
		t.Parallel()
		r, site := newDocumentHarness(t, onLoopback), newDocSite(t)
		var got http.Header
		serve := site.handler
		site.handle(func(w http.ResponseWriter, req *http.Request) {
			got = req.Header
			serve(w, req)
		})
		_, err := r.consent(t, site.URL)
		mustDo(t, err)
		if agents := got.Values("User-Agent"); len(agents) != 1 || agents[0] != "partnerkit-client-metadata" {
			t.Errorf("User-Agent %q", agents)
		}
		if accept := got.Get("Accept"); accept != "application/json" {
			t.Errorf("Accept %q", accept)
		}
	})
}

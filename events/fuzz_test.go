package events_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// EVT-01: any query at all is answered, with a page of at most 100 or with a 400.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1", "limit=%31%30%30", "after=evt_1", "after=%00", "types=invoice.created,invoice.paid&types=x", "types=%ff", "a;b", "limit=1&limit=2", "%",
	} {
		f.Add(seed)
	}
	log, err := events.New(events.Config{Store: testdb.NewEnv(f, testdb.SQLite)})
	if err != nil {
		f.Fatal(err)
	}
	api := apierror.Writer{}.Standard(log.List)
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequestWithContext(identity.WithPrincipal(t.Context(), identity.Principal{AppID: "app_1", BusinessID: "biz_1", Scopes: allScopes}),
			http.MethodGet, "/events", http.NoBody)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code == http.StatusOK && body != `{"events":[],"hasMore":false}` ||
			w.Code != http.StatusOK && (w.Code != http.StatusBadRequest || !strings.HasPrefix(body, `{"statusCode":400,`)) {
			t.Errorf("%q: %d %s", query, w.Code, body)
		}
	})
}

// FuzzRecord: what is recorded is shown as it was given; the rest is refused as a draft
// that cannot be.
func FuzzRecord(f *testing.F) {
	for _, seed := range [][3]string{
		{"invoice.created", "biz_1", `{"id":"inv_1"}`}, {"invoice.created", "", `{}`}, {"x", "biz_1", `{}`}, {"app.installed", "biz_1", `{}`}, {"invoice.created", "\x00", `{}`}, {"invoice.created", "\xff", `{}`},
		{"invoice.created", "biz_1", `[]`}, {"invoice.created", "biz_1", `{`}, {"invoice.created", "biz_1", `null`}, {"invoice.created", "biz_1", `{"a":1e400,"a":"\ud800","<":"\u0000"}`}, {"invoice.created", "biz_1", "{\"a\":\"\xff\"}"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	store := testdb.NewEnv(f, testdb.SQLite)
	log, err := events.New(events.Config{Store: store})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, businessID, data string) {
		recorded, err := log.Record(t.Context(), events.Draft{Type: name, BusinessID: businessID, Data: json.RawMessage(data)})
		if err != nil {
			if !errors.Is(err, events.ErrInvalidDraft) {
				t.Fatalf("%q, %q, %q: %v", name, businessID, data, err)
			}
			return
		}
		if !json.Valid(recorded[0].Data) || !utf8.Valid(recorded[0].Data) || !utf8.ValidString(businessID) || strings.Contains(businessID, "\x00") {
			t.Fatalf("%q, %q, %q was recorded", name, businessID, data)
		}
		api := apierror.Writer{}.Standard(log.Get)
		r := httptest.NewRequestWithContext(identity.WithPrincipal(t.Context(), identity.Principal{AppID: "app_1", BusinessID: businessID, Scopes: allScopes}), http.MethodGet, "/events/x", http.NoBody)
		r.SetPathValue("id", recorded[0].ID)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		var shown struct{ Data json.RawMessage }
		if w.Code == http.StatusNotFound {
			return // of a type that the app may not see
		}
		if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil || w.Code != http.StatusOK || string(shown.Data) != string(recorded[0].Data) {
			t.Fatalf("%q is shown as %d %s: %v", data, w.Code, w.Body, err)
		}
	})
}

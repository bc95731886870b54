package events_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/storage/storetest"
)

// EVT-01: any query at all is answered, with a page of at most 100 or with a 400.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{
		"", "limit=1", "limit=%31%30%30", "after=evt_1", "after=%00", "types=invoice.created,invoice.paid&types=x", "types=%ff", "a;b", "limit=1&limit=2", "%",
	} {
		f.Add(seed)
	}
	log, err := events.New(events.Config{Store: storetest.NewEnv(f, openMemory)})
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

package oauthserver_test

import (
	"encoding/json"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// A docSite is a web server, with TLS, that serves one document on every path.
type docSite struct {
	URL  string // of the document
	hits atomic.Int32

	mu      sync.Mutex
	handler http.HandlerFunc
}

func newDocSite(t testing.TB) *docSite {
	t.Helper()
	site := &docSite{}
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site.hits.Add(1)
		site.mu.Lock()
		handler := site.handler
		site.mu.Unlock()
		handler(w, r)
	}))
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	site.URL = web.URL + "/client.json"
	site.serve(goodDocument(site.URL), nil)
	return site
}

func (s *docSite) handle(handler http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handler = handler
}

// serve responds with a document and headers.
func (s *docSite) serve(document map[string]any, headers map[string]string) {
	body, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	s.handle(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		_, _ = w.Write(body)
	})
}

// fail responds with a status.
func (s *docSite) fail(status int) {
	s.handle(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func goodDocument(url string) map[string]any {
	return map[string]any{
		"client_id": url, "client_name": "Tool", "redirect_uris": []string{"https://tool.example/callback", "http://127.0.0.1/callback"},
	}
}

func withMembers(document, members map[string]any) map[string]any {
	document = maps.Clone(document)
	for name, value := range members {
		if value == nil {
			delete(document, name)
		} else {
			document[name] = value
		}
	}
	return document
}

func onLoopback(c *oauthserver.Config) { c.Documents.AllowLoopback = true }

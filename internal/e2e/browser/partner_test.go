package browser_test

import (
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// partnerSite is the company that owns the apps: a site with callbacks, an embedded page and
// webhook receivers. origin is its own origin; elsewhere is another name of the same
// machine, which is another site for a browser.
type partnerSite struct {
	origin    string // http://localhost:port
	elsewhere string // http://127.0.0.1:port

	mu       sync.Mutex
	response response
	received []received
}

// response is the response of the receivers.
type response struct {
	status int
	body   string
}

// received is a webhook that arrived.
type received struct {
	Path   string
	Header http.Header
	Body   string
}

func newPartner(t *testing.T) *partnerSite {
	t.Helper()
	p := &partnerSite{response: response{status: http.StatusOK, body: "thanks"}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", plain("Back at the partner"))
	mux.HandleFunc("GET /hop", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, p.elsewhere+"/landed?"+r.URL.RawQuery, http.StatusFound)
	})
	mux.HandleFunc("GET /landed", plain("Landed elsewhere"))
	mux.HandleFunc("GET /embedded", serveEmbedded)
	mux.HandleFunc("GET /form", serveForm)
	mux.HandleFunc("GET /frame", serveFrame)
	mux.HandleFunc("POST /told", p.receive)
	mux.HandleFunc("POST /webhooks/", p.receive)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p.origin, p.elsewhere = "http://localhost:"+port, "http://127.0.0.1:"+port
	return p
}

// plain is one of the partner's, without icon: a browser asks for none then.
func plain(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><link rel="icon" href="data:,"><title>%[1]s</title><h1>%[1]s</h1>`, text)
	}
}

// serveEmbedded serves a page that shows the message from the page around its frame: its
// origin, its type, and the number of parts of its token.
func serveEmbedded(w http.ResponseWriter, r *http.Request) {
	plain("Embedded")(w, r)
	_, _ = io.WriteString(w, `<script>
addEventListener("message", (e) => fetch("/told", {method: "POST", body: [e.origin, e.data.type, e.data.sessionToken.split(".").length].join(" ")}));
</script>`)
}

// serveForm serves a page that submits a form to the address in its query when it is
// opened, as an attacker's page does. All other parameters are the fields of the form.
func serveForm(w http.ResponseWriter, r *http.Request) {
	plain("Attack")(w, r)
	query := r.URL.Query()
	_, _ = fmt.Fprintf(w, `<form method="post" action="%s">`, html.EscapeString(query.Get("action")))
	query.Del("action")
	for name, values := range query {
		for _, value := range values {
			_, _ = fmt.Fprintf(w, `<input type="hidden" name="%s" value="%s">`, html.EscapeString(name), html.EscapeString(value))
		}
	}
	_, _ = io.WriteString(w, `</form><script>onload = () => document.forms[0].submit()</script>`)
}

// serveFrame serves a page that frames the address in its query.
func serveFrame(w http.ResponseWriter, r *http.Request) {
	plain("Frame")(w, r)
	_, _ = fmt.Fprintf(w, `<iframe src="%s"></iframe>`, html.EscapeString(r.URL.Query().Get("src")))
}

// form returns the address of a page at an origin that submits a form.
func form(origin, action string, fields url.Values) string {
	query := url.Values{"action": {action}}
	for name, values := range fields {
		query[name] = values
	}
	return origin + "/form?" + query.Encode()
}

func (p *partnerSite) receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.received = append(p.received, received{Path: r.URL.Path, Header: r.Header, Body: string(body)})
	a := p.response
	p.mu.Unlock()
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// responses sets the response that the receivers send from now on.
func (p *partnerSite) responses(status int, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.response = response{status: status, body: body}
}

// arrived returns the webhooks that arrived at a path.
func (p *partnerSite) arrived(path string) []received {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []received
	for _, one := range p.received {
		if strings.HasPrefix(one.Path, path) {
			all = append(all, one)
		}
	}
	return all
}

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

// partner is the company of the apps: a site with callbacks, an embedded page and
// receivers of webhooks. origin is what it calls itself; elsewhere is another name
// for the same machine, so another site to a browser.
type partner struct {
	origin    string // http://localhost:port
	elsewhere string // http://127.0.0.1:port

	mu       sync.Mutex
	answer   answer
	received []received
}

// answer is what the receivers say.
type answer struct {
	status int
	body   string
}

// received is a webhook that arrived.
type received struct {
	Path   string
	Header http.Header
	Body   string
}

func newPartner(t *testing.T) *partner {
	t.Helper()
	p := &partner{answer: answer{status: http.StatusOK, body: "thanks"}}
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

// serveEmbedded tells which message the page around its frame sends: from where, of
// which type, with how many parts of a token.
func serveEmbedded(w http.ResponseWriter, r *http.Request) {
	plain("Embedded")(w, r)
	_, _ = io.WriteString(w, `<script>
addEventListener("message", (e) => fetch("/told", {method: "POST", body: [e.origin, e.data.type, e.data.sessionToken.split(".").length].join(" ")}));
</script>`)
}

// serveForm sends a form to the address in its query, as soon as it is opened: what
// an attacker's page does. All other parameters are its fields.
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

// serveFrame frames the address in its query.
func serveFrame(w http.ResponseWriter, r *http.Request) {
	plain("Frame")(w, r)
	_, _ = fmt.Fprintf(w, `<iframe src="%s"></iframe>`, html.EscapeString(r.URL.Query().Get("src")))
}

// form is the address of a page at an origin that sends a form.
func form(origin, action string, fields url.Values) string {
	query := url.Values{"action": {action}}
	for name, values := range fields {
		query[name] = values
	}
	return origin + "/form?" + query.Encode()
}

func (p *partner) receive(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	p.received = append(p.received, received{Path: r.URL.Path, Header: r.Header, Body: string(body)})
	a := p.answer
	p.mu.Unlock()
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// answers says what the receivers answer from now on.
func (p *partner) answers(status int, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = answer{status: status, body: body}
}

// arrived is what came to a path.
func (p *partner) arrived(path string) []received {
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

package guard_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/partnertest"
)

// API-07: what is not declared as it should be cannot be registered.
func TestHandleRefuses(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	fine := guard.Route{Pattern: "GET /fine", Scope: "invoices:read", Handler: k.echo}
	for want, spoil := range map[string]func(*guard.Route){
		"no Scope is declared":          func(r *guard.Route) { r.Scope = "" },
		`unknown scope "invoices:raed"`: func(r *guard.Route) { r.Scope = "invoices:raed" },
		"it has no Handler":             func(r *guard.Route) { r.Handler = nil },
		"must begin with one of GET":    func(r *guard.Route) { r.Pattern = "/fine" },
		"with one of":                   func(r *guard.Route) { r.Pattern = "" },
		"must begin with one":           func(r *guard.Route) { r.Pattern = "OPTIONS /fine" },
		"begin with one of":             func(r *guard.Route) { r.Pattern = "get /fine" },
		"opens everything below":        func(r *guard.Route) { r.Pattern = "GET /fine/" },
		"opens everything":              func(r *guard.Route) { r.Pattern = "GET /" },
		"parsing":                       func(r *guard.Route) { r.Pattern = "GET /{" },
		"conflicts":                     func(r *guard.Route) { r.Pattern = "GET /invoices" },
		"contradict":                    func(r *guard.Route) { r.SessionsAllowed, r.AppsOnly = true, codes.EventLogForConnectedApps },
		"Permission must name one":      func(r *guard.Route) { r.Permission = guard.AllPermissions },
		`route "PUT /app-data": `:       func(r *guard.Route) { r.Pattern = "PUT /app-data" },
		`"GET /fine/{id}/{id}": parsi`:  func(r *guard.Route) { r.Pattern = "GET /fine/{id}/{id}" },
	} {
		route := fine
		spoil(&route)
		if err := k.surface.Handle(route); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	k.Must(k.surface.Handle(fine))
	bare, err := guard.New(guard.Config{Tokens: k.OAuth})
	k.Must(err)
	route := guard.Route{Pattern: "GET /fine", Scope: "anything:goes", Permission: "journal.post", Handler: k.echo}
	if err := bare.Handle(route); err == nil || !strings.Contains(err.Error(), "Config.Permissions is nil") {
		t.Error(err)
	}
	route.Permission = ""
	k.Must(bare.Handle(route)) // without a catalog
	if _, err := guard.New(guard.Config{Tokens: k.OAuth, Origins: []string{"app.example.com"}}); err == nil {
		t.Error("an origin without a scheme")
	}
}

// IDEM-01: idempotency stands behind all gates, around everything that writes.
func TestIdempotencyIsTheLastGate(t *testing.T) {
	t.Parallel()
	var reached []string
	k := newAPI(t, func(c *guard.Config) {
		c.Idempotency = func(next apierror.Handler) apierror.Handler {
			return func(w http.ResponseWriter, r *http.Request) error {
				reached = append(reached, r.Pattern)
				if r.Header.Get("Idempotency-Key") == "taken" {
					return codes.IdempotencyConflict.New()
				}
				return next(w, r)
			}
		}
	})
	k.Must(k.surface.Handle(guard.Route{Pattern: "POST /search", Scope: guard.AnyScope, ReadOnly: true, Handler: k.echo}))
	token := k.token()
	k.roles.role = guard.Member
	for _, call := range []string{"GET /invoices", "HEAD /invoices", "POST /search", "DELETE /payments/pay_1", "POST /nothing"} {
		k.send(call, bearer(token))
	}
	k.send("POST /invoices", bearer(token), version("nothing"))
	k.roles.role = guard.Owner
	if len(reached) != 0 {
		t.Errorf("reached by %v", reached)
	}
	k.send("POST /invoices", bearer(token)).ok()
	if a := k.send("DELETE /payments/pay_1", bearer(token)).ok(); a.text("id") != "pay_1" {
		t.Errorf("path value %s", a.Body)
	}
	k.send("PUT /app-data", bearer(token), header("Idempotency-Key", "taken")).refused(http.StatusConflict, codes.IdempotencyConflict.Code)
	k.send("POST /profile", k.session(user, business)).ok() // so that Respond works there too
	if got := strings.Join(reached, ", "); got != "POST /invoices, DELETE /payments/{id}, PUT /app-data, POST /profile" {
		t.Errorf("reached by %s", got)
	}
}

// LIM-04, VER-01: a handler of another make, such as a proxy, neither loses nor
// doubles the headers of the call.
func TestHeadersOfForeignHandlers(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	foreign := func(write func(w http.ResponseWriter)) apierror.Handler {
		return guard.HTTP(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Add("RateLimit-Limit", "7")
			w.Header().Add("RateLimit-Remaining", "7")
			w.Header().Add("Service-Version", "other")
			write(w)
		}))
	}
	ways := map[string]func(w http.ResponseWriter){
		"nothing": func(http.ResponseWriter) {},
		"header":  func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		"body":    func(w http.ResponseWriter) { _, _ = io.WriteString(w, "x") },
		"flush":   func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		"early":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints); w.WriteHeader(http.StatusOK) },
	}
	for name, write := range ways {
		k.Must(k.surface.Handle(guard.Route{Pattern: "GET /foreign/" + name, Scope: guard.AnyScope, Handler: foreign(write)}))
	}
	server := httptest.NewServer(k.surface)
	defer server.Close()
	token := k.token()
	for name := range ways {
		r, err := http.NewRequest(http.MethodGet, server.URL+"/foreign/"+name, nil)
		k.Must(err)
		bearer(token)(r)
		a := response{TB: t, Response: partnertest.Send(t, server.Client(), r)}
		if a.ok(); !a.limited() || a.number("RateLimit-Limit") != 300 || strings.Join(a.Header.Values("Service-Version"), ",") != "2026-09-01" {
			t.Errorf("%s: header %v", name, a.Header)
		}
	}
}

// ERR-02: a response that fails half-way is cut, and counts as an error.
func TestCutResponse(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	k.Must(k.surface.Handle(guard.Route{Pattern: "GET /half", Scope: guard.AnyScope, Handler: func(w http.ResponseWriter, _ *http.Request) error {
		_, _ = io.WriteString(w, "half")
		panic("oh")
	}}))
	token := k.token()
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("the connection was not cut")
			}
		}()
		k.send("GET /half", bearer(token))
	}()
	if len(k.calls.calls) != 1 || k.calls.calls[0].status != http.StatusInternalServerError {
		t.Errorf("counted %v", k.calls.calls)
	}
}

// ERR-04: a call whose client has gone away is counted, and is not a server error.
func TestGoneClient_ERR04(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		handler func(w http.ResponseWriter, r *http.Request) error
		status  int
		isCut   bool
	}{
		"ERR-04 before the response": {func(_ http.ResponseWriter, r *http.Request) error {
			return fmt.Errorf("query: %w", r.Context().Err())
		}, http.StatusBadRequest, false},
		"ERR-04 during the response": {func(w http.ResponseWriter, r *http.Request) error {
			_, _ = io.WriteString(w, "half")
			return fmt.Errorf("query: %w", r.Context().Err())
		}, http.StatusOK, true},
		"ERR-04 aborted":       {func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }, http.StatusBadRequest, true},
		"a failure of its own": {func(http.ResponseWriter, *http.Request) error { return errors.New("disk full") }, http.StatusInternalServerError, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPI(t)
			token := k.token()
			ctx, leave := context.WithCancel(t.Context())
			k.Must(k.surface.Handle(guard.Route{Pattern: "GET /gone", Scope: guard.AnyScope, Handler: func(w http.ResponseWriter, r *http.Request) error {
				leave()
				return test.handler(w, r)
			}}))
			func() {
				defer func() {
					if cut := recover() != nil; cut != test.isCut {
						t.Errorf("the connection was cut: %v", cut)
					}
				}()
				k.do(httptest.NewRequestWithContext(ctx, http.MethodGet, "/gone", http.NoBody), bearer(token))
			}()
			if len(k.calls.calls) != 1 || k.calls.calls[0].status != test.status {
				t.Errorf("counted %v, want %d", k.calls.calls, test.status)
			}
		})
	}
}

// META-05: browsers may call the API, and a preflight needs no credentials.
func TestCORS(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	origin, asks := header("Origin", "https://spa.example.com"), header("Access-Control-Request-Method", "POST")
	for _, call := range []string{"OPTIONS /invoices", "OPTIONS /nothing"} {
		a := k.send(call, origin, asks)
		if a.Status != http.StatusNoContent || a.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", call, a.Status, a.Header)
		}
		for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key", "Service-Version"} {
			if !strings.Contains(a.Header.Get("Access-Control-Allow-Headers"), name) {
				t.Errorf("%s: %s is not allowed", call, name)
			}
		}
	}
	token := k.token()
	for call, changes := range map[string][]with{
		"GET /invoices": {bearer(token)}, "GET /nothing": {bearer(token)}, "GET /panic": {bearer(token)}, "GET /events": nil,
	} {
		a := k.send(call, append(changes, origin)...)
		if a.Header.Get("Access-Control-Allow-Origin") != "*" || a.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %v", call, a.Header)
		}
		for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "WWW-Authenticate", "Service-Version"} {
			if !strings.Contains(a.Header.Get("Access-Control-Expose-Headers"), name) {
				t.Errorf("%s: %s is not exposed", call, name)
			}
		}
	}
}

// Nothing is behind the surface of a host without handlers or sessions of its own.
func TestWithoutAHost(t *testing.T) {
	t.Parallel()
	k := newAPI(t, func(c *guard.Config) { c.Fallback = nil })
	k.send("GET /invoices", k.session(user, business)).refused(http.StatusNotFound, "")
	k = newAPI(t, func(c *guard.Config) { c.Sessions, c.Analytics = nil, nil })
	k.send("GET /invoices", k.session(user, business)).refused(http.StatusUnauthorized, "")
	k.send("GET /invoices", bearer(k.token())).ok()
}

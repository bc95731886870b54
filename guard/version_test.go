package guard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/harness"
)

// VER-01, VER-02: the version of a call is that of the header, else the pinned one, else
// the current one. A version that does not exist or is past its sunset is rejected in
// each case.
func TestVersionOfACall(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	for _, test := range []struct {
		header, pin, want string
	}{
		{"", "", "2026-09-01"},
		{"", "2026-01-15", "2026-01-15"},
		{"2026-01-15", "", "2026-01-15"},
		{"2026-09-01", "2026-01-15", "2026-09-01"},
		{"2026-01-15", "2025-06-01", "2026-01-15"},
		{"2025-06-01", "", ""},
		{"2025-06-01", "2026-01-15", ""},
		{"", "2025-06-01", ""},
		{"", "2020-01-01", ""},
		{"latest", "2026-01-15", ""},
		{"2026-09-01T00:00:00Z", "", ""},
		{"2026-9-1", "", ""},
		{strings.Repeat("9", 5000), "", ""},
	} {
		k.pin(test.pin)
		changes := []with{bearer(token)}
		if test.header != "" {
			changes = append(changes, version(test.header))
		}
		a := k.send("GET /invoices", changes...)
		if test.want == "" {
			a.refused(http.StatusBadRequest, codes.UnsupportedAPIVersion.Code)
			if a.Header.Get("Service-Version") != "" || len(a.Body) > 1000 {
				t.Errorf("header %q, pin %q: %s", test.header, test.pin, a.Body)
			}
			continue
		}
		if a.ok(); a.text("version") != test.want || a.Header.Get("Service-Version") != test.want {
			t.Errorf("header %.20q, pin %q: %s, header %q, want %s", test.header, test.pin, a.Body, a.Header.Get("Service-Version"), test.want)
		}
	}
	k.pin("")
	k.send("GET /invoices", bearer(token), version("2026-01-15"), version("2026-01-15")).refused(http.StatusBadRequest, codes.UnsupportedAPIVersion.Code)
	k.send("GET /invoices", bearer(token), header("SERVICE-VERSION", "2026-01-15")).ok()
	k.send("GET /profile", k.session(user, business), version("2025-06-01")).refused(http.StatusBadRequest, codes.UnsupportedAPIVersion.Code)
}

// VER-01: the header has the service's name.
func TestVersionHeaderOfTheService(t *testing.T) {
	t.Parallel()
	k := newAPI(t, func(c *guard.Config) { c.Service = "Acme Books" })
	a := k.send("GET /invoices", bearer(k.token()), header("Acme-Books-Version", "2026-01-15"), version("nothing")).ok()
	if a.text("version") != "2026-01-15" || a.Header.Get("Acme-Books-Version") != "2026-01-15" || a.Header.Get("Service-Version") != "" {
		t.Errorf("%s %v", a.Body, a.Header)
	}
}

// VER-02, VER-04: within 90 days of its sunset a version announces it; from the sunset on
// the version is rejected, even if it is the current one. Error responses announce it too.
func TestSunset(t *testing.T) {
	t.Parallel()
	sunset := harness.Start.Add(100 * 24 * time.Hour)
	k := newAPI(t, func(c *guard.Config) {
		c.Versions = guard.Versions{Current: "2026-01-15", All: []guard.Version{{Name: "2026-01-15", Sunset: sunset}, {Name: "2026-09-01"}}}
	})
	at := func(when time.Time, call string, changes ...with) response {
		k.Clock.Advance(when.Sub(k.Clock.Now()))
		return k.send(call, append(changes, bearer(k.token()))...)
	}
	deprecated := sunset.Add(-90 * 24 * time.Hour)
	silent := func(a response) {
		t.Helper()
		if a.Header.Get("Deprecation") != "" || a.Header.Get("Sunset") != "" {
			t.Errorf("header %v", a.Header)
		}
	}
	silent(at(deprecated.Add(-time.Second), "GET /invoices").ok())
	for _, when := range []time.Time{deprecated, sunset.Add(-time.Second)} {
		for call, status := range map[string]int{"GET /invoices": 200, "GET /nothing": 403, "GET /panic": 500} {
			a := at(when, call)
			// RFC 9745: a date of structured fields; RFC 8594: an HTTP-date.
			if a.Status != status || a.Header.Get("Deprecation") != "@1789128000" || a.Header.Get("Sunset") != "Thu, 10 Dec 2026 12:00:00 GMT" {
				t.Errorf("%s at %v: %d %v", call, when, a.Status, a.Header)
			}
		}
		silent(at(when, "GET /invoices", version("2026-09-01")).ok())
	}
	a := at(sunset, "GET /invoices").refused(http.StatusBadRequest, codes.UnsupportedAPIVersion.Code)
	silent(a)
	at(sunset, "GET /invoices", version("2026-09-01")).ok()
}

// VER-04: a response that is repeated announces the sunset of its version too.
func TestSunsetOfARepetition(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	k.Must(k.surface.Handle(guard.Route{Pattern: "POST /repeated", Scope: guard.AnyScope, Handler: func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set(idempotency.ReplayedHeader, "true")
		w.Header().Set("Service-Version", r.Header.Get("X-First"))
		w.WriteHeader(http.StatusCreated)
		return nil
	}}))
	for first, want := range map[string]string{"2026-01-15": "Fri, 11 Sep 2026 12:00:00 GMT", "2026-09-01": "", "2020-01-01": ""} {
		for _, asked := range []string{"2026-01-15", "2026-09-01"} {
			a := k.send("POST /repeated", bearer(k.token()), version(asked), header("X-First", first))
			if a.Header.Get("Service-Version") != first || a.Header.Get("Sunset") != want || (a.Header.Get("Deprecation") == "") != (want == "") {
				t.Errorf("first in %s, then in %s: %d %v", first, asked, a.Status, a.Header)
			}
		}
	}
}

// An API without versions refuses those that are asked for.
func TestNoVersions(t *testing.T) {
	t.Parallel()
	k := newAPI(t, func(c *guard.Config) { c.Versions = guard.Versions{} })
	token := k.token()
	if a := k.send("GET /invoices", bearer(token)).ok(); a.text("version") != "" || len(a.Header.Values("Service-Version")) != 0 {
		t.Errorf("%s %v", a.Body, a.Header)
	}
	k.send("GET /invoices", bearer(token), version("2026-09-01")).refused(http.StatusBadRequest, codes.UnsupportedAPIVersion.Code)
	k.pin("2026-09-01")
	k.send("GET /invoices", bearer(token)).refused(http.StatusBadRequest, codes.UnsupportedAPIVersion.Code)
}

func TestVersionsAreChecked(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	for want, wrong := range map[string]guard.Versions{
		"not a date":    {Current: "v2", All: []guard.Version{{Name: "v2"}}},
		"twice":         {Current: "2026-01-15", All: []guard.Version{{Name: "2026-01-15"}, {Name: "2026-01-15"}}},
		"not among all": {Current: "2026-01-16", All: []guard.Version{{Name: "2026-01-15"}}},
		`version ""`:    {All: []guard.Version{{Name: "2026-01-15"}}},
	} {
		if _, err := guard.New(guard.Config{Tokens: k.OAuth, Versions: wrong}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", wrong, err, want)
		}
	}
}

// A handler for each version that changed it.
func TestByVersion(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	say := func(text string) apierror.Handler {
		return func(w http.ResponseWriter, _ *http.Request) error {
			return apierror.WriteJSON(w, http.StatusOK, map[string]string{"shape": text})
		}
	}
	k.Must(k.surface.Handle(
		guard.Route{Pattern: "GET /old", Scope: guard.AnyScope, Handler: guard.ByVersion(map[string]apierror.Handler{"2025-06-01": say("first"), "2026-09-01": say("second")})},
		guard.Route{Pattern: "GET /new", Scope: guard.AnyScope, Handler: guard.ByVersion(map[string]apierror.Handler{"2026-09-01": say("only")})},
	))
	token := k.token()
	for _, test := range []struct{ call, version, want string }{
		{"GET /old", "2026-01-15", "first"}, {"GET /old", "2026-09-01", "second"}, {"GET /new", "2026-09-01", "only"}, {"GET /new", "2026-01-15", ""},
	} {
		a := k.send(test.call, bearer(token), version(test.version))
		if a.text("shape") != test.want || test.want == "" && a.Status != http.StatusNotFound {
			t.Errorf("%s in %s: %d %s", test.call, test.version, a.Status, a.Body)
		}
	}
	if _, ok := guard.Since("2026-01-15", map[string]int{"2026-01-16": 1}); ok {
		t.Error("something before it was introduced")
	}
}

// VER-03: what an app gets without asking is in its pinned version, or in the
// current one.
func TestVersionOfAnApp(t *testing.T) {
	t.Parallel()
	versions := guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2026-01-15"}, {Name: "2026-09-01"}}}
	for pinned, want := range map[string]string{"": "2026-09-01", "2026-01-15": "2026-01-15"} {
		if got := versions.OfApp(pinned); got != want {
			t.Errorf("pinned %q: %q", pinned, got)
		}
	}
	if got := (guard.Versions{}).OfApp(""); got != "" {
		t.Errorf("without versions: %q", got)
	}
}

// VER-02: what can be pinned is what is served.
func TestServes(t *testing.T) {
	t.Parallel()
	sunset := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	versions := guard.Versions{Current: "2026-01-15", All: []guard.Version{{Name: "2025-06-01", Sunset: sunset}, {Name: "2026-01-15"}}}
	for name, want := range map[string][2]bool{"2025-06-01": {true, false}, "2026-01-15": {true, true}, "2024-01-01": {}, "": {}} {
		if got := [2]bool{versions.Serves(name, sunset.Add(-1)), versions.Serves(name, sunset)}; got != want {
			t.Errorf("%q before and at the sunset: %v", name, got)
		}
	}
}

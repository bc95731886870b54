package guard_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// allowAll is a limiter that allows every request.
type allowAll struct{ ratelimit.Limiter }

func (allowAll) Check(context.Context, time.Time, ratelimit.Request) (ratelimit.Result, error) {
	return ratelimit.Result{Allowed: true}, nil
}

// FuzzHeaders: the token opens, in the versions that there are, under a key that can be
// kept, and nothing else does (API-01, VER-02, IDEM-01). A $ in the credentials becomes
// the token, which no fuzzer would find.
func FuzzHeaders(f *testing.F) {
	for _, seed := range [][3]string{
		{"Bearer $", "", ""}, {"bearer  $", "2026-09-01", "k"}, {"Bearer", "", ""}, {"Bearer ", "2026-01-15", ""}, {"Bearer $$", "", ""}, {"Bearer $ x", "", ""},
		{"Basic $", "", ""}, {"$", "", ""}, {"Bearer\t$", "", ""}, {"Bearer $,Bearer $", "", ""}, {"Bearer $", "2025-06-01", ""}, {"Bearer $", "2026-09-01, 2026-09-01", ""},
		{"Bearer $", "\xff", ""}, {"Bearer $", "", "\xff"}, {"Bearer $", "", "ü"}, {"Bearer $", "", strings.Repeat("k", 255)}, {"Bearer $", "", strings.Repeat("k", 256)}, {"Bearer $", "", "a\x7fb"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	keys, err := idempotency.New(idempotency.Config{Store: testdb.NewEnv(f, testdb.SQLite)})
	if err != nil {
		f.Fatal(err)
	}
	k := newAPI(f, func(c *guard.Config) { c.Limiter, c.Idempotency = allowAll{}, keys.Wrap })
	token := k.token()
	f.Fuzz(func(t *testing.T, authorization, version, key string) {
		if strings.ContainsAny(authorization+version+key, "\r\n\x00") {
			return // no server hands those on
		}
		k := *k
		k.Harness = k.In(t)
		authorization = strings.ReplaceAll(authorization, "$", token)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/invoices", strings.NewReader("{}"))
		r.Header["Authorization"] = []string{authorization}
		r.Header["Service-Version"] = []string{version}
		if key != "" {
			r.Header["Idempotency-Key"] = []string{key}
		}
		got := k.do(r)
		scheme, rest, _ := strings.Cut(strings.TrimSpace(authorization), " ")
		isUnprintable := func(r rune) bool { return r < ' ' || r > '~' }
		want := http.StatusOK
		switch {
		case !strings.EqualFold(scheme, "Bearer") || strings.TrimLeft(rest, " ") != token:
			want = http.StatusUnauthorized
		case !slices.Contains([]string{"", "2026-01-15", "2026-09-01"}, version),
			len(key) > 255, strings.ContainsFunc(key, isUnprintable):
			want = http.StatusBadRequest
		}
		if got.Status != want {
			t.Fatalf("%q, %q, %q: %d %s, want %d", authorization, version, key, got.Status, got.Body, want)
		}
		if challenge := got.Header.Get("WWW-Authenticate"); want == http.StatusUnauthorized &&
			strings.Contains(challenge, "invalid_token") != strings.EqualFold(scheme, "Bearer") {
			t.Fatalf("%q: challenge %s", authorization, challenge)
		}
	})
}

package partnerkit_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// A console token opens the JSON of the console and nothing else, under the limit of its
// address.
func TestConsoleToken(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	host := partnertest.NewHost()
	host.AddOrganization("usr_dev", console.Organization{ID: "org_1", Name: "One"})
	cfg.Host, cfg.Developers = host, host
	cfg.APIRoutes, cfg.AppRoutes = http.HandlerFunc(teapot), http.HandlerFunc(teapot)
	cfg.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", SessionsAllowed: true, Handler: guard.HTTP(http.HandlerFunc(teapot))}}
	cfg.ForeignTokens = func(*http.Request, string) (identity.Session, bool, error) {
		return identity.Session{UserID: "usr_dev"}, true, nil
	}
	cfg.Limits.DefaultPerIP = ratelimit.PerMinute(20)
	p := platform(t, cfg)
	send := func(h http.Handler, path, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "http://x"+path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	signedIn := httptest.NewRequest(http.MethodGet, "http://x/", nil)
	signedIn.AddCookie(host.NewSession("usr_dev", ""))
	by, err := p.Console().Actor(signedIn)
	if err != nil {
		t.Fatal(err)
	}
	token, _, err := p.Console().CreateToken(t.Context(), by, console.NewToken{Name: "ci"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		h    http.Handler
		path string
		want int
	}{
		{"CON-09 the console's JSON", p.API(), "/developer/apps", http.StatusOK},
		{"CON-09 the console's pages", p.App(), "/developer", http.StatusUnauthorized},
		{"CON-09 a route of the API", p.API(), "/invoices", http.StatusUnauthorized},
		{"CON-09 the host's own", p.API(), "/anything", http.StatusUnauthorized},
		{"OPS-01 operators", p.API(), "/operator/apps", http.StatusUnauthorized},
		{"CON-09 a path that only resembles the console's", p.API(), "/developers", http.StatusUnauthorized},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := send(test.h, test.path, token).Code; got != test.want {
				t.Errorf("GET %s = %d, want %d", test.path, got, test.want)
			}
		})
	}
	t.Run("LIM-05 the limit of the address", func(t *testing.T) {
		var last *httptest.ResponseRecorder
		for range 21 {
			last = send(p.API(), "/developer/apps", token)
		}
		if last.Code != http.StatusTooManyRequests || last.Header().Get("Retry-After") == "" || !strings.Contains(last.Body.String(), `"statusCode":429`) {
			t.Errorf("%d %v %s", last.Code, last.Header(), last.Body)
		}
	})
}

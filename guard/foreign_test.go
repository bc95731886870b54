package guard_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// mobile is the token of the host's own app; it is a token of user in business.
const mobile = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfMSJ9.c2lnbmF0dXJl"

// ownTokens are the host's tokens. It remembers the tokens that it was asked about.
type ownTokens struct {
	mu    sync.Mutex
	asked []string
}

func (o *ownTokens) lookup(r *http.Request, token string) (identity.Session, bool, error) {
	o.mu.Lock()
	o.asked = append(o.asked, token)
	o.mu.Unlock()
	switch token {
	case mobile:
		return identity.Session{ID: "mob_1", UserID: user, BusinessID: business}, true, nil
	case "chosen":
		return identity.Session{UserID: user, BusinessID: r.Header.Get("X-Business")}, true, nil
	case "nobody":
		return identity.Session{BusinessID: business}, true, nil
	case "error":
		return identity.Session{UserID: user, BusinessID: business}, true, apierror.NotFound("secret detail")
	case "panic":
		panic("secret detail")
	}
	return identity.Session{UserID: user, BusinessID: business}, false, nil // of which the false counts
}

func withOwnTokens(o *ownTokens) func(*guard.Config) {
	return func(c *guard.Config) { c.ForeignTokens = o.lookup }
}

// BIZ-05: a token of the host makes a call one of a person with a session.
func TestForeignTokens(t *testing.T) {
	t.Parallel()
	k := newAPI(t, withOwnTokens(&ownTokens{}))
	t.Run("BIZ-05 the principal is that of a session", func(t *testing.T) {
		got := k.send("GET /profile", bearer(mobile), version("2026-01-15")).ok()
		want := map[string]any{
			"app": "", "client": "", "installation": "", "business": business, "user": user,
			"scopes": "", "version": "2026-01-15", "signIn": "session", "id": "", "pattern": "GET /profile",
		}
		if diff := cmp.Diff(want, got.body); diff != "" || got.limited() || len(k.calls.calls) != 0 {
			t.Errorf("RateLimit headers %v, counted %v, principal (-want +got):\n%s", got.limited(), k.calls.calls, diff)
		}
	})
	t.Run("BIZ-05 other routes are the host's own", func(t *testing.T) {
		if got := k.send("GET /invoices", bearer(mobile)).ok(); got.text("fallback") != user {
			t.Errorf("fallback got %s", got.Body)
		}
		k.send("GET /nothing", bearer(mobile)).refused(http.StatusNotFound, "")
	})
	t.Run("API-06 routes of apps stay closed", func(t *testing.T) {
		k.send("GET /events", bearer(mobile)).refused(http.StatusForbidden, codes.EventLogForConnectedApps.Code)
		k.send("PUT /app-data", bearer(mobile)).refused(http.StatusForbidden, codes.AppDataForConnectedApps.Code)
	})
	t.Run("BIZ-05 the business is the session's", func(t *testing.T) {
		k.send("GET /profile", bearer("chosen")).refused(http.StatusBadRequest, "")
		if got := k.send("GET /profile", bearer("chosen"), header("X-Business", "biz_2")).ok(); got.text("business") != "biz_2" {
			t.Errorf("business %s", got.Body)
		}
	})
	t.Run("API-05 permissions are asked", func(t *testing.T) {
		k.send("POST /profile", bearer(mobile)).ok()
		k.send("POST /profile", bearer("chosen"), header("X-Business", "biz_2")).refused(http.StatusForbidden, codes.PermissionRequired.Code)
	})
	t.Run("API-01 the token counts beside a cookie", func(t *testing.T) {
		got := k.send("GET /profile", bearer(mobile), k.session("usr_2", "biz_2")).ok()
		if got.text("user") != user || got.text("business") != business {
			t.Errorf("principal %s", got.Body)
		}
		if got := k.send("GET /invoices", bearer(mobile), k.session("usr_2", "biz_2")).ok(); got.text("fallback") != user {
			t.Errorf("fallback got %s", got.Body)
		}
		k.send("GET /profile", bearer("unknown"), k.session("usr_2", "biz_2")).refused(http.StatusUnauthorized, "")
	})
	t.Run("CON-07 a token needs no origin", func(t *testing.T) {
		for _, origin := range []string{"https://evil.example.com", "null"} {
			k.send("POST /profile", bearer(mobile), header("Origin", origin), header("Sec-Fetch-Site", "cross-site")).ok()
			k.send("POST /profile", k.session(user, business), header("Origin", origin), header("Sec-Fetch-Site", "cross-site")).refused(http.StatusForbidden, "")
		}
	})
	t.Run("API-01 a token of an app is still one", func(t *testing.T) {
		if got := k.send("GET /profile", bearer(k.token())).ok(); got.text("signIn") != "oauth" || !got.limited() {
			t.Errorf("%s %v", got.Body, got.Header)
		}
	})
}

// API-01: the host's function gets only tokens, and none in the form of our own tokens.
func TestForeignTokensAreAskedAboutForeignTokensOnly(t *testing.T) {
	t.Parallel()
	tokens := &ownTokens{}
	k, plain := newAPI(t, withOwnTokens(tokens)), newAPI(t)
	ours := []string{k.token(), k.token() + "x", "pk_at_", "pk_at_short", "pk_reg_x", "whsec_x"}
	for _, kind := range []secret.Kind{
		secret.AccessToken, secret.RefreshToken, secret.AuthorizationCode, secret.DeviceCode, secret.ClientSecret,
		secret.RegistrationToken, secret.Session, secret.ConsentRequest, secret.Browser, secret.WebhookSecret,
	} {
		ours = append(ours, secret.New(kind).Reveal())
	}
	noTokens := []string{"", " ", "\t" + k.token(), k.token() + " " + mobile, mobile + " " + mobile, "\x00", "caf\u00e9", "\xff", "a\x7f"}
	for _, token := range append(ours, noTokens...) {
		k.send("GET /profile", bearer(token))
	}
	k.send("GET /profile", bearer(mobile), bearer(mobile)).refused(http.StatusUnauthorized, "")
	k.send("GET /profile", header("Authorization", "Basic "+mobile)).refused(http.StatusUnauthorized, "")
	k.send("GET /profile?access_token="+mobile).refused(http.StatusUnauthorized, "")
	if len(tokens.asked) != 0 {
		t.Errorf("asked about %q", tokens.asked)
	}
	foreign := []string{"unknown", "pk_live_1", "PK_AT_1", "pk_at", "1|token", strings.Repeat("x", 100_000)}
	for _, token := range foreign {
		got, want := k.send("GET /profile", bearer(token)), plain.send("GET /profile", bearer(token))
		if got.Status != http.StatusUnauthorized || got.Body != want.Body {
			t.Errorf("%.20s: %d %s, want %s", token, got.Status, got.Body, want.Body)
		}
		if diff := cmp.Diff(want.Header, got.Header); diff != "" {
			t.Errorf("%.20s: header (-without ForeignTokens +with):\n%s", token, diff)
		}
	}
	if diff := cmp.Diff(foreign, tokens.asked); diff != "" {
		t.Errorf("asked about (-want +got):\n%s", diff)
	}
}

type panickingSessions struct{}

func (panickingSessions) Session(*http.Request) (identity.Session, bool, error) {
	panic("secret detail")
}

// LIM-05: a call for which the host's Session panics is counted like any other.
func TestSessionPanicIsCounted(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	k := newAPI(t, func(c *guard.Config) {
		c.Sessions, c.Logger = panickingSessions{}, slog.New(slog.NewTextHandler(&logged, nil))
	})
	for range ratelimit.DefaultLimits().DefaultPerIP.Count {
		k.send("GET /profile", from("192.0.2.1")).refused(http.StatusInternalServerError, "")
	}
	k.send("GET /profile", from("192.0.2.1")).refused(http.StatusTooManyRequests, "")
	if text := logged.String(); strings.Contains(text, "secret detail") || !strings.Contains(text, "identify the caller") {
		t.Errorf("logged %.500s", text)
	}
}

// ERR-02: an error, a panic or a session without a user costs one request.
func TestForeignTokensFail(t *testing.T) {
	t.Parallel()
	var logged bytes.Buffer
	k := newAPI(t, withOwnTokens(&ownTokens{}), func(c *guard.Config) { c.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
	for _, token := range []string{"error", "panic", "nobody"} {
		t.Run("ERR-02 "+token, func(t *testing.T) {
			logged.Reset()
			got := k.send("GET /profile", bearer(token), k.session("usr_2", "biz_2")).refused(http.StatusInternalServerError, "")
			if strings.Contains(got.Body, "secret detail") || !strings.Contains(logged.String(), map[bool]string{false: "ask the host about its token", true: "identify the caller"}[token == "panic"]) {
				t.Errorf("%s, logged %s", got.Body, &logged)
			}
			if strings.Contains(logged.String(), "stack=") != (token == "panic") || token == "panic" && strings.Contains(logged.String(), "secret detail") {
				t.Errorf("logged %s", &logged)
			}
			k.send("GET /profile", bearer(mobile)).ok()
		})
	}
	for _, token := range []string{"error", "panic", "unknown", mobile} {
		t.Run("LIM-05 counts "+token, func(t *testing.T) {
			k := newAPI(t, withOwnTokens(&ownTokens{}))
			for range ratelimit.DefaultLimits().DefaultPerIP.Count {
				k.send("GET /profile", bearer(token), from("192.0.2.1"))
			}
			k.send("GET /profile", bearer(token), from("192.0.2.1")).refused(http.StatusTooManyRequests, "")
			k.send("GET /profile", bearer(mobile), from("192.0.2.2")).ok()
		})
	}
}

// suspended is the id of the only suspended user.
type suspended string

func (s suspended) UserStatus(_ context.Context, userID string) (identity.UserStatus, error) {
	if userID == string(s) {
		return identity.UserSuspended, nil
	}
	return identity.UserActive, nil
}

// BIZ-05: a suspended user is rejected, even with a valid token of the host.
func TestForeignTokenOfASuspendedUser(t *testing.T) {
	t.Parallel()
	k := newAPI(t, withOwnTokens(&ownTokens{}), func(c *guard.Config) { c.Users = suspended(user) })
	k.send("GET /profile", bearer(mobile)).refused(http.StatusForbidden, "")
	k.send("GET /invoices", bearer(mobile)).refused(http.StatusForbidden, "")
}

// A host without sessions can have tokens of its own.
func TestForeignTokensWithoutSessions(t *testing.T) {
	t.Parallel()
	k := newAPI(t, withOwnTokens(&ownTokens{}), func(c *guard.Config) { c.Sessions = nil })
	k.send("GET /profile", bearer(mobile)).ok()
	k.send("GET /profile").refused(http.StatusUnauthorized, "")
}

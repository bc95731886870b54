package oauthserver_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// scenario is a request that succeeds, and what it costs.
type scenario struct {
	name string
	// prepare makes what the request needs, and returns it.
	prepare func(k *apiHarness) (path string, change apiRequest, form []string)
	// again is the error of the same request after it has succeeded; empty when
	// it succeeds again.
	again, description  string
	statements, commits int
}

// The numbers are what the doc comments of the grants state: the client, the
// artifact, and the act.
func scenarios() []scenario {
	grant := func(pairs ...string) (string, apiRequest, []string) {
		return "/oauth/token", withBasic(confidentialID, apiSecret), append([]string{"grant_type"}, pairs...)
	}
	return []scenario{
		{name: "code", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			return grant("authorization_code", "code", k.code(confidentialID, apiChallenge), "redirect_uri", apiRedirect, "code_verifier", apiVerifier)
		}, again: "invalid_grant", description: "code already used", statements: 7, commits: 1},
		{name: "refresh", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			_, refresh := k.tokens(confidentialID)
			return grant("refresh_token", "refresh_token", refresh)
		}, again: "invalid_grant", description: "refresh token reuse detected", statements: 6, commits: 1},
		{name: "device", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			device, user := k.newDevice(confidentialID)
			k.approveDevice(user)
			return grant("urn:ietf:params:oauth:grant-type:device_code", "device_code", device)
		}, again: "invalid_grant", statements: 7, commits: 1},
		{name: "exchange", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			k.install(confidentialID)
			k.sessions++
			return grant(exchangeGrant, "subject_token", sessionToken(strconv.Itoa(k.sessions)), "subject_token_type", "urn:ietf:params:oauth:token-type:jwt")
		}, again: "invalid_grant", statements: 6, commits: 1},
		{name: "device authorize", prepare: func(*apiHarness) (string, apiRequest, []string) {
			return "/oauth/device/authorize", withBasic(confidentialID, apiSecret), nil
		}, statements: 3, commits: 1},
		{name: "revoke access", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			access, _ := k.tokens(confidentialID)
			return "/oauth/revoke", withBasic(confidentialID, apiSecret), []string{"token", access}
		}, statements: 3, commits: 1},
		{name: "revoke refresh", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			_, refresh := k.tokens(confidentialID)
			return "/oauth/revoke", nil, []string{"token", refresh}
		}, statements: 2, commits: 1},
		{name: "introspect access", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			access, _ := k.tokens(confidentialID)
			return "/oauth/introspect", withBasic(confidentialID, apiSecret), []string{"token", access}
		}, statements: 2},
		{name: "introspect refresh", prepare: func(k *apiHarness) (string, apiRequest, []string) {
			_, refresh := k.tokens(confidentialID)
			return "/oauth/introspect", withBasic(confidentialID, apiSecret), []string{"token", refresh}
		}, statements: 2},
	}
}

// DESIGN: what each request costs, in statements and commits.
func TestStatementCounts(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			path, change, form := s.prepare(k)
			k.Store.Tap.Reset()
			if got := k.post(path, change, form...); got.Status != http.StatusOK {
				t.Fatalf("answer %d %s", got.Status, got.Body)
			}
			if statements, commits := k.Store.Tap.Counts(); statements != s.statements || commits != s.commits {
				t.Errorf("%d statements and %d commits, want %d and %d", statements, commits, s.statements, s.commits)
			}
		})
	}
}

// A poll costs less than a collection, and a storage error in a poll is an internal error.
func TestPollCounts(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	device, _ := k.newDevice(publicID)
	for _, want := range []int{3, 4} {
		k.Store.Tap.Reset()
		k.poll(publicID, device)
		if statements, _ := k.Store.Tap.Counts(); statements != want {
			t.Errorf("%d statements, want %d", statements, want)
		}
	}
	for n := 1; n <= 4; n++ {
		k.Store.Tap.Arm(testdb.FaultError, n)
		k.poll(publicID, device).refused(http.StatusInternalServerError, "server_error", "*")
	}
	k.Store.Tap.Reset()
	k.poll(publicID, device).refused(http.StatusBadRequest, "slow_down", "")
}

// OERR-04, REF-07: a storage error at any statement is a 5xx, nothing has changed, and
// the same request works afterwards.
func TestFaultAtEveryStatement(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			for n := 1; ; n++ {
				k.ip = "192.0.2." + strconv.Itoa(n) // device authorize has a small limit
				path, change, form := s.prepare(k)
				k.Store.Tap.Arm(testdb.FaultError, n)
				got := k.post(path, change, form...)
				struck := k.Store.Tap.Struck()
				k.Store.Tap.Reset()
				if !struck {
					if got.Status != http.StatusOK || n == 1 {
						t.Errorf("not struck at %d: %d %s", n, got.Status, got.Body)
					}
					return
				}
				got.refused(http.StatusInternalServerError, "server_error", "*")
				if got := k.post(path, change, form...); got.Status != http.StatusOK {
					t.Errorf("again, after a fault at statement %d: %d %s", n, got.Status, got.Body)
				}
			}
		})
	}
}

// OERR-04, REF-07: when the response to a commit is lost the client gets a 5xx, and
// then the response of what really happened.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		if s.commits == 0 {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			path, change, form := s.prepare(k)
			k.Store.Tap.Arm(testdb.FaultLostCommit, 1)
			k.post(path, change, form...).refused(http.StatusInternalServerError, "server_error", "*")
			k.Store.Tap.Reset()
			got := k.post(path, change, form...)
			if s.again == "" {
				if got.Status != http.StatusOK {
					t.Errorf("afterwards: %d %s", got.Status, got.Body)
				}
				return
			}
			got.refused(http.StatusBadRequest, s.again, s.description)
		})
	}
}

// A client that leaves in the middle leaves either nothing or the whole behind.
func TestClientLeaves(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			for n, struck := 1, true; struck; n++ {
				k.ip = "192.0.2." + strconv.Itoa(n)
				path, change, form := s.prepare(k)
				ctx, cancel := k.Store.Tap.Cancellable(t.Context())
				k.Store.Tap.Arm(testdb.FaultCancel, n)
				k.postCtx(ctx, path, change, form...)
				struck = k.Store.Tap.Struck()
				k.Store.Tap.Reset()
				cancel()
				got := k.post(path, change, form...)
				if got.Status != http.StatusOK && got.text("error") != s.again {
					t.Errorf("after leaving at statement %d: %d %s", n, got.Status, got.Body)
				}
			}
		})
	}
}

func (k *apiHarness) postCtx(ctx context.Context, path string, change apiRequest, pairs ...string) apiResponse {
	k.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return k.sendCtx(ctx, http.MethodPost, path, form.Encode(), withHeader("Content-Type", "application/x-www-form-urlencoded"), change)
}

// TOK-09: the log of an internal error contains no secrets, codes or tokens.
func TestLogHasNoSecrets(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			k := newAPIHarness(t, func(c *oauthserver.Config) {
				c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			path, change, form := s.prepare(k)
			for n := range s.statements {
				k.Store.Tap.Arm(testdb.FaultError, n+1)
				k.post(path, change, form...)
			}
			if lines := strings.Count(log.String(), "request failed"); lines != s.statements || !strings.Contains(log.String(), "route="+path) {
				t.Errorf("%d lines of %d faults:\n%s", lines, s.statements, log.String())
			}
			for i, value := range append([]string{"", apiSecret}, form...) {
				if i%2 == 1 && len(value) >= 16 && !strings.HasPrefix(value, "urn:") && value != apiRedirect && strings.Contains(log.String(), value) {
					t.Errorf("the log has %.8s…", value)
				}
			}
		})
	}
}

// REG-05 and OERR-04 for registration, whose success is a 201.
func TestRegisterFaults(t *testing.T) {
	t.Parallel()
	const body = `{"client_name":"A","redirect_uris":["` + apiRedirect + `"]}`
	k := newAPIHarness(t)
	token := func() apiRequest {
		token, _, err := k.OAuth.IssueRegistrationToken(t.Context(), "org_1")
		k.Must(err)
		return withHeader("Authorization", "Bearer "+token)
	}
	for n := 1; ; n++ {
		with := token()
		k.Store.Tap.Arm(testdb.FaultError, n)
		got := k.register(body, with)
		struck := k.Store.Tap.Struck()
		k.Store.Tap.Reset()
		if !struck {
			break
		}
		got.refused(http.StatusInternalServerError, "server_error", "*")
		if got := k.register(body, with); got.Status != http.StatusCreated {
			t.Errorf("again, after a fault at statement %d: %d %s", n, got.Status, got.Body)
		}
	}
	with := token()
	k.Store.Tap.Arm(testdb.FaultLostCommit, 1)
	k.register(body, with).refused(http.StatusInternalServerError, "server_error", "*")
	k.Store.Tap.Reset()
	k.register(body, with).refused(http.StatusUnauthorized, "invalid_client", "*")
}

// An internal error of the host is a 5xx response, even if the error has another meaning to
// the error writer. The request uses nothing up.
func TestHostFault(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		if s.name == "device authorize" || s.name == "revoke access" || s.name == "revoke refresh" {
			continue // they ask the host for nothing
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			path, change, form := s.prepare(k)
			for _, fault := range []error{errors.New("down"), apierror.NotFound("user"), partner.ErrNotFound, identity.ErrInvalidToken} {
				k.Host.SetError(fault)
				k.post(path, change, form...).refused(http.StatusInternalServerError, "server_error", "*")
			}
			k.Host.SetError(nil)
			if got := k.post(path, change, form...); got.Status != http.StatusOK {
				t.Errorf("afterwards: %d %s", got.Status, got.Body)
			}
		})
	}
}

package apierror_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/oautherror"
)

var oauthCodes = map[oautherror.Code]int{
	"invalid_request": 400, "invalid_client": 401, "invalid_grant": 400, "invalid_scope": 400,
	"invalid_target": 400, "unsupported_grant_type": 400, "authorization_pending": 400, "slow_down": 400,
	"access_denied": 400, "expired_token": 400, "invalid_redirect_uri": 400, "invalid_client_metadata": 400,
	"temporarily_unavailable": 429, "server_error": 500,
}

// OERR-01, OERR-02: every code, every shape, with the headers of each.
func TestOAuthErrors_OERR01_OERR02(t *testing.T) {
	t.Parallel()
	type test struct {
		name   string
		writer apierror.Writer
		r      *http.Request
		err    error
	}
	tests := []test{
		{name: "described", err: oautherror.New(oautherror.InvalidScope, "books:burn is not registered")},
		{name: "characters that RFC 6749 refuses", err: oautherror.New(oautherror.InvalidScope, "\"a\\b\"\x00\n日")},
		{name: "without the deprecated member", writer: apierror.Writer{OmitDeprecatedMessage: true}, err: oautherror.New(oautherror.InvalidTarget, "resource is relative")},
		{name: "without the deprecated member and description", writer: apierror.Writer{OmitDeprecatedMessage: true}, err: oautherror.New(oautherror.SlowDown, "")},
		{name: "Basic", r: withAuthorization("Basic abc"), err: oautherror.New(oautherror.InvalidClient, "")},
		{name: "Basic, other case", r: withAuthorization("bASIC abc"), err: oautherror.New(oautherror.InvalidClient, "")},
		{name: "Basic, malformed", r: withAuthorization("Basic"), err: oautherror.New(oautherror.InvalidClient, "")},
		{name: "Basic, named service", writer: apierror.Writer{Service: "Acme Books"}, r: withAuthorization("Basic abc"), err: oautherror.New(oautherror.InvalidClient, "")},
		{name: "Bearer is no reason for a Basic challenge", r: withAuthorization("Bearer abc"), err: oautherror.New(oautherror.InvalidClient, "")},
		{name: "a scheme that only begins like it", r: withAuthorization("Basically abc"), err: oautherror.New(oautherror.InvalidClient, "")},
		{name: "Basic, but not invalid_client", r: withAuthorization("Basic abc"), err: oautherror.New(oautherror.InvalidGrant, "")},
		{name: "rate limit, rounded up", err: oautherror.TooManyRequests(2001 * time.Millisecond)},
		{name: "rate limit, at least one second", err: oautherror.TooManyRequests(-time.Hour)},
		{name: "server_error shows nothing", err: oautherror.New(oautherror.ServerError, "secret")},
		{name: "storage fault, OERR-04", err: fmt.Errorf("redeem code: %w", errors.New("secret"))},
		{name: "wrapped", err: fmt.Errorf("refresh: %w", oautherror.Grant(oautherror.GrantRevoked))},
	}
	for _, reason := range []oautherror.Reason{
		oautherror.GrantUnexplained, oautherror.GrantCodeUsed, oautherror.GrantExpired, oautherror.GrantRedirectMismatch,
		oautherror.GrantPKCEFailed, oautherror.GrantRevoked, oautherror.GrantReuseDetected,
	} {
		tests = append(tests, test{name: "grant", err: oautherror.Grant(reason)})
	}
	for _, code := range sortedKeys(oauthCodes) {
		tests = append(tests, test{name: "bare", err: oautherror.New(code, "")})
	}

	var all strings.Builder
	for _, test := range tests {
		if test.r == nil {
			test.r = get()
		}
		fmt.Fprintf(&all, "# %s\n%s\n", test.name, dump(t, oauth(test.writer, test.r, test.err)))
	}
	if strings.Contains(all.String(), "secret") {
		t.Error("an answer shows internals")
	}
	wantGolden(t, "oauth", all.String())
}

// OERR-02: the status of each code, the headers of all.
func TestOAuthStatusAndHeaders_OERR02(t *testing.T) {
	t.Parallel()
	for code, status := range oauthCodes {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			response := oauth(apierror.Writer{}, get(), oautherror.New(code, ""))
			if response.StatusCode != status {
				t.Errorf("status %d, want %d", response.StatusCode, status)
			}
			if response.Header.Get("Cache-Control") != "no-store" || response.Header.Get("Pragma") != "no-cache" {
				t.Errorf("the answer may be stored: %v", response.Header)
			}
			var body map[string]string
			if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			want := body["error_description"]
			if want == "" {
				want = string(code)
			}
			if body["error"] != string(code) || body["message"] != want {
				t.Errorf("body %v", body)
			}
			if hasRetry := response.Header.Get("Retry-After") != ""; hasRetry != (status == 429) {
				t.Errorf("Retry-After present: %t", hasRetry)
			}
		})
	}
}

// TOK-08: an invalid_grant explains itself in fixed words or not at all.
func TestGrantReasons_TOK08(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"code already used", "expired", "redirect_uri mismatch", "PKCE verification failed", "revoked", "refresh token reuse detected",
	} {
		if got := oautherror.New(oautherror.InvalidGrant, reason).Description; got != reason {
			t.Errorf("%q became %q", reason, got)
		}
	}
	for _, other := range []string{"", "token of another client", "Expired"} {
		if got := oautherror.New(oautherror.InvalidGrant, other).Description; got != "" {
			t.Errorf("%q became %q", other, got)
		}
	}
}

// OLIM-04: description and header name the same whole seconds.
func TestOAuthRateLimit_OLIM04(t *testing.T) {
	t.Parallel()
	tests := []struct {
		wait time.Duration
		want string
	}{
		{0, "1"}, {-time.Second, "1"}, {1, "1"}, {time.Second, "1"}, {time.Second + 1, "2"}, {60 * time.Second, "60"},
	}
	for _, test := range tests {
		for _, err := range []error{
			oautherror.TooManyRequests(test.wait),
			apierror.TooManyRequests(test.wait),
			codes.AppRateLimited.New().WithRetryAfter(test.wait),
		} {
			response := oauth(apierror.Writer{}, get(), err)
			var body map[string]string
			if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			want := "too many requests, retry after " + test.want + " seconds"
			if response.StatusCode != 429 || body["error"] != "temporarily_unavailable" || body["error_description"] != want || response.Header.Get("Retry-After") != test.want {
				t.Errorf("%v, %T: %d %v %v", test.wait, err, response.StatusCode, body, response.Header)
			}
		}
	}
}

// OERR-02, OERR-03: what standard errors become at an OAuth endpoint, and the
// other way round.
func TestTranslation_OERR03(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, err := range []error{
		apierror.Invalid("the body must not be empty", "scope is given more than once"),
		apierror.Unauthorized(),
		apierror.Forbidden(""),
		apierror.NotFound(""),
		apierror.MethodNotAllowed("POST"),
		apierror.TooLarge(bodies.MaxForm),
		apierror.UnsupportedMediaType("application/json"),
		apierror.TooManyRequests(7 * time.Second),
		codes.AppRateLimited.New(),
		codes.SlugTaken.New("books"),
		apierror.Internal(errors.New("secret")),
		apierror.Unavailable(errors.New("secret")).WithRetryAfter(time.Minute),
		&http.MaxBytesError{Limit: 3},
	} {
		fmt.Fprintf(&all, "# OAuth: %v\n%s\n", err, dump(t, oauth(apierror.Writer{}, withAuthorization("Basic abc"), err)))
	}
	for _, err := range []error{
		oautherror.New(oautherror.InvalidClient, ""),
		oautherror.New(oautherror.InvalidRequest, "grant_type is missing"),
		oautherror.New(oautherror.SlowDown, ""),
		oautherror.New(oautherror.AccessDenied, ""),
		oautherror.New(oautherror.ServerError, "secret"),
		oautherror.TooManyRequests(7 * time.Second),
	} {
		fmt.Fprintf(&all, "# standard: %v\n%s\n", err, dump(t, standard(apierror.Writer{}, get(), err)))
	}
	wantGolden(t, "translated", all.String())
}

// OERR-04: an internal error is a server error, regardless of its text.
func TestFaultsAreServerErrors_OERR04(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errors.New("invalid_grant"), fmt.Errorf("%w", http.ErrHandlerTimeout), (*oautherror.Error)(nil), &oautherror.Error{}} {
		response := oauth(apierror.Writer{}, get(), err)
		var body map[string]string
		if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("server_error", body["error"]); diff != "" || response.StatusCode != 500 {
			t.Errorf("%v: %d %s", err, response.StatusCode, diff)
		}
	}
}

package apierror_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// ERR-01, ERR-03: every code with its status, texts and params.
func TestEveryCode_ERR03(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, entry := range codes.All() {
		values := []any{}
		for i := range strings.Count(entry.Message, "{p") {
			values = append(values, fmt.Sprintf("value%d", i))
		}
		all.WriteString(dump(t, standard(apierror.Writer{}, get(), entry.New(values...))))
		all.WriteString("\n")
	}
	wantGolden(t, "codes", all.String())
}

// ERR-03: the codes and statuses that clients know, written down a second time
// so that an edit of the table cannot change them unnoticed.
func TestCodesAndStatuses_ERR03(t *testing.T) {
	t.Parallel()
	want := map[apierror.Code]int{
		"APP_RATE_LIMITED": 429, "UNSUPPORTED_API_VERSION": 400, "UNKNOWN_APP_DATA_FIELD": 400,
		"INVALID_APP_DATA_VALUE": 400, "PROVIDE_RESOURCEID_RESOURCEIDS": 400, "RESOURCEIDS_ACCEPTS_MOST_50_IDS": 400,
		"APP_CANNOT_ACCESS_TYPE_RECORD": 403, "APP_DATA_API_AVAILABLE_CONNECTED_APPS_ONLY": 403,
		"RECORD_NOT_FOUND": 404, "APP_DATA_VALUE_NOT_FOUND": 404, "UNKNOWN_CURSOR": 400,
		"UNKNOWN_EVENT_TYPE_TYPES": 400, "EVENT_LOG_AVAILABLE_CONNECTED_APPS_ONLY": 403, "EVENT_NOT_FOUND": 404,
		"APP_DEACTIVATED": 400, "PUBLIC_APP_HAS_NO_SECRETS": 400, "SECRET_LIMIT_REACHED": 400, "LAST_SECRET": 400,
		"LISTING_EXISTS": 409, "SLUG_TAKEN": 400, "ASSET_IN_USE": 400, "EXTENSION_SCOPE_REQUIRED": 400,
		"EXTENSION_PATH_INVALID": 400, "INVALID_CHOICES": 400, "FUNCTION_SOURCE_TOO_COMPLEX": 400, "FUNCTION_SOURCE_NO_HANDLER": 400,
		"LISTING_STATE_INVALID": 400, "REVIEW_CONFLICT": 409, "CONFLICT": 409, "CONNECTION_EXISTS": 409, "LISTING_INCOMPLETE": 400,
		"INSUFFICIENT_SCOPE": 403, "ENDPOINT_NOT_EXPOSED": 403, "PERMISSION_REQUIRED": 403,
		"IDEMPOTENCY_CONFLICT": 409, "IDEMPOTENCY_MISMATCH": 422,
		"IDEMPOTENCY_ANSWER_NOT_KEPT": 409,
		"DELIVERY_NOT_FAILED":         400, "DELIVERY_NOT_RETRYING": 400, "APP_NOT_ACTIVE": 400, "APP_NOT_INSTALLED": 400,
		"EVENT_SCOPE_MISSING": 400, "DELIVERY_TOO_OLD": 400, "WEBHOOK_NOT_ACTIVE": 400, "WEBHOOK_NOT_VERIFIED": 400,
	}
	got := map[apierror.Code]int{}
	for _, entry := range codes.All() {
		if _, twice := got[entry.Code]; twice {
			t.Errorf("%s stands in the table twice", entry.Code)
		}
		got[entry.Code] = entry.Status
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

// ERR-01: the placeholders of a message are numbered from 0.
func TestPlaceholders_ERR01(t *testing.T) {
	t.Parallel()
	for _, entry := range codes.All() {
		for i := range strings.Count(entry.Message, "{") {
			if !strings.Contains(entry.Message, fmt.Sprintf("{p%d}", i)) {
				t.Errorf("%s: %q lacks {p%d}", entry.Code, entry.Message, i)
			}
		}
	}
}

// API-03, API-04, API-05: the first words of a 403 distinguish its three kinds.
func TestForbiddenTexts(t *testing.T) {
	t.Parallel()
	const prefix = "Insufficient scope"
	for _, entry := range codes.All() {
		if got := strings.HasPrefix(entry.Message, prefix); got != (entry.Code == codes.InsufficientScope.Code) {
			t.Errorf("%s begins with %q: %t", entry.Code, prefix, got)
		}
	}
	if got := codes.EndpointNotExposed.Message; got != "endpoint not exposed to OAuth clients" {
		t.Errorf("ENDPOINT_NOT_EXPOSED: %q", got)
	}
}

// ERR-01, ERR-02: the shapes of failures without code, and of those with details.
func TestPlainErrors_ERR01_ERR02(t *testing.T) {
	t.Parallel()
	var validation apierror.Validation
	validation.Add("values", "must have at most %d entries", 25)
	validation.Add("values[3].key", "must not be empty")
	var one apierror.Validation
	one.Add("name", "is required")

	tests := []struct {
		name string
		err  error
	}{
		{"validation", validation.Err()},
		{"validation with one problem", one.Err()},
		{"validation without text", apierror.Invalid()},
		{"401", apierror.Unauthorized()},
		{"403", apierror.Forbidden("")},
		{"403 with text", apierror.Forbidden("the request came from another site")},
		{"404", apierror.NotFound("")},
		{"404 of a thing", apierror.NotFound("invoice")},
		{"405", apierror.MethodNotAllowed("GET", "POST")},
		{"413", apierror.TooLarge(1 << 20)},
		{"413 of http.MaxBytesReader", &http.MaxBytesError{Limit: 10}},
		{"415", apierror.UnsupportedMediaType("application/json")},
		{"429", apierror.TooManyRequests(1500 * time.Millisecond)},
		{"429 with code", codes.AppRateLimited.New().WithRetryAfter(42 * time.Second)},
		{"409 with a wait", codes.IdempotencyConflict.New().WithRetryAfter(0)},
		{"500", apierror.Internal(errors.New("secret"))},
		{"503", apierror.Unavailable(errors.New("secret")).WithRetryAfter(time.Second)},
		{"foreign error", errors.New("pq: secret")},
		{"wrapped", fmt.Errorf("list events: %w", codes.UnknownCursor.New("evt_1"))},
		{"values that look like placeholders", codes.RecordNotFound.New("{p1}", "{p0}")},
		{"no HTML escapes", codes.SlugTaken.New("<a&b>")},
		{"values, APD-03", codes.InvalidValues(
			codes.ValueDetail{ResourceType: "invoice", ResourceID: "inv_1", Key: "colour", Reason: "is not one of the choices"},
			codes.ValueDetail{Key: "size", Reason: "is over 10"},
		)},
		{"listing, CON-03", codes.ListingIncomplete.New().WithDetails([]map[string]string{{"field": "icon", "reason": "is missing"}})},
		{"code of a host", apierror.Entry{Code: "PERIOD_CLOSED", Status: 409, Message: "{p0} is closed"}.New(2026)},
		{"5xx code of a host", apierror.Entry{Code: "BANK_DOWN", Status: 502, Message: "secret {p0}"}.New("secret")},
	}
	var all strings.Builder
	for _, test := range tests {
		fmt.Fprintf(&all, "# %s\n%s\n", test.name, dump(t, standard(apierror.Writer{}, get(), test.err)))
	}
	if strings.Contains(all.String(), "secret") {
		t.Error("an answer shows internals")
	}
	wantGolden(t, "plain", all.String())
}

// API-01: the Bearer challenge depends on what the request sent.
func TestBearerChallenge_API01(t *testing.T) {
	t.Parallel()
	const metadata = "https://api.example.com/.well-known/oauth-protected-resource"
	pointing := apierror.Writer{ResourceMetadata: func(string) string { return metadata }}
	tests := []struct {
		name, authorization string
		writer              apierror.Writer
		want                string
	}{
		{"nothing sent", "", apierror.Writer{}, `Bearer realm="partnerkit"`},
		{"nothing sent, named service", "", apierror.Writer{Service: `Acme "Books"`}, `Bearer realm="Acme \"Books\""`},
		{"nothing sent, metadata", "", pointing, `Bearer resource_metadata="` + metadata + `"`},
		{"token", "Bearer abc", apierror.Writer{}, `Bearer error="invalid_token"`},
		{"token, other case", "bEARER abc", apierror.Writer{}, `Bearer error="invalid_token"`},
		{"no value", "Bearer", apierror.Writer{}, `Bearer error="invalid_token"`},
		{"other scheme", "Basic abc", apierror.Writer{}, `Bearer realm="partnerkit"`},
		{"token, metadata", "Bearer abc", pointing, `Bearer error="invalid_token", resource_metadata="` + metadata + `"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := get()
			if test.authorization != "" {
				r = withAuthorization(test.authorization)
			}
			got := standard(test.writer, r, apierror.Unauthorized())
			if diff := cmp.Diff([]string{test.want}, got.Header.Values("WWW-Authenticate")); diff != "" {
				t.Errorf("challenge (-want +got):\n%s", diff)
			}
			// API-11: a reason is told about a token that was sent.
			got = standard(test.writer, r, apierror.Unauthorized().WithReason(`not "valid"`))
			test.want = strings.Replace(test.want, `error="invalid_token"`, `error="invalid_token", error_description="not 'valid'"`, 1)
			if diff := cmp.Diff([]string{test.want}, got.Header.Values("WWW-Authenticate")); diff != "" {
				t.Errorf("challenge with a reason (-want +got):\n%s", diff)
			}
		})
	}
}

// API-10: the challenge names the scope to ask for, and the metadata of the resource that
// the path belongs to.
func TestScopeChallenge_API10(t *testing.T) {
	t.Parallel()
	pointing := apierror.Writer{ResourceMetadata: func(path string) string { return "https://api.example.com/metadata" + path }}
	long := strings.TrimSpace(strings.Repeat("scope:read ", 100))
	insufficient := codes.InsufficientScope.New("invoices:write")
	for _, test := range []struct {
		name   string
		err    error
		writer apierror.Writer
		want   string
	}{
		{"a 403", insufficient, pointing, `Bearer error="insufficient_scope", scope="invoices:write", resource_metadata="https://api.example.com/metadata/x"`},
		{"a 403, wrapped", fmt.Errorf("tool: %w", insufficient), pointing, `Bearer error="insufficient_scope", scope="invoices:write", resource_metadata="https://api.example.com/metadata/x"`},
		{"a 403 without metadata", insufficient, apierror.Writer{}, `Bearer error="insufficient_scope", scope="invoices:write"`},
		{"a 403 with more scopes", insufficient.WithScope("invoices:read invoices:write"), apierror.Writer{}, `Bearer error="insufficient_scope", scope="invoices:read invoices:write"`},
		{"scopes are not clipped", insufficient.WithScope(long), apierror.Writer{}, `Bearer error="insufficient_scope", scope="` + long + `"`},
		{"a 401", apierror.Unauthorized().WithScope("invoices:read"), pointing, `Bearer scope="invoices:read", resource_metadata="https://api.example.com/metadata/x"`},
		{"a header cannot be split", apierror.Unauthorized().WithScope("a\r\nSet-Cookie: b=c\""), apierror.Writer{}, `Bearer scope="aSet-Cookie: b=c\""`},
		{"another 403", codes.PermissionRequired.New("journal.post").WithScope("invoices:read"), pointing, ""},
	} {
		t.Run("API-10 "+test.name, func(t *testing.T) {
			t.Parallel()
			if got := standard(test.writer, httptest.NewRequest(http.MethodGet, "/x?y", http.NoBody), test.err).Header.Get("WWW-Authenticate"); got != test.want {
				t.Errorf("challenge %q, want %q", got, test.want)
			}
		})
	}
}

// A wrong number of values must not break the request; the log tells.
func TestWrongUseOfTheTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		err    *apierror.Error
		status int
		params map[string]string
		logged string
	}{
		{"too few", codes.RecordNotFound.New("invoice"), 404, map[string]string{"p0": "invoice", "p1": "?"}, "RECORD_NOT_FOUND takes 2 values, got 1"},
		{"too many", codes.SlugTaken.New("a", "b"), 400, map[string]string{"p0": "a"}, "SLUG_TAKEN takes 1 values, got 2"},
		{"status that is no error", apierror.Entry{Code: "FINE", Status: 200, Message: "fine"}.New(), 500, nil, "FINE has the status 200"},
		{"zero value", &apierror.Error{}, 500, nil, "request failed"},
		{"nil pointer", nil, 500, nil, "request failed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			log := &logtest.Buffer{}
			response := standard(logTo(log), get(), test.err)
			var body struct{ Params map[string]string }
			if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.status {
				t.Errorf("status %d, want %d", response.StatusCode, test.status)
			}
			if diff := cmp.Diff(test.params, body.Params); diff != "" && test.status < 500 {
				t.Errorf("params (-want +got):\n%s", diff)
			}
			if !strings.Contains(log.String(), test.logged) {
				t.Errorf("the log lacks %q: %s", test.logged, log)
			}
		})
	}
}

// A request cannot choose the size of its own error.
func TestLongValuesAreClipped(t *testing.T) {
	t.Parallel()
	e := codes.UnknownCursor.New(strings.Repeat("ü", 10_000))
	if got := len(e.Messages()[0]); got > 400 {
		t.Errorf("the message has %d bytes", got)
	}
	if strings.ContainsRune(e.Messages()[0], '\uFFFD') {
		t.Error("a character was cut in two")
	}
}

func TestHasCode(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("redeliver: %w", codes.DeliveryTooOld.New())
	if !apierror.HasCode(err, codes.DeliveryTooOld.Code) || apierror.HasCode(err, codes.AppNotActive.Code) || apierror.HasCode(nil, "") {
		t.Error("HasCode is wrong")
	}
	var none apierror.Validation
	if none.Err() != nil {
		t.Error("an empty validation is an error")
	}
	cause := errors.New("cause")
	if !errors.Is(apierror.Internal(cause), cause) || !errors.Is(oautherror.New(oautherror.ServerError, "").WithCause(cause), cause) {
		t.Error("the cause is lost")
	}
}

type passing bool

func (passing) Error() string       { return "waited too long" }
func (p passing) IsTemporary() bool { return bool(p) }

// A cause that passes is a 503, however it was wrapped; Retry-After is for the
// standard shape alone (OERR-02).
func TestTemporaryFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		status int
		after  string
	}{
		{fmt.Errorf("write: %w", passing(true)), http.StatusServiceUnavailable, "1"},
		{apierror.Internal(fmt.Errorf("write: %w", passing(true))), http.StatusServiceUnavailable, "1"},
		{passing(false), http.StatusInternalServerError, ""},
		{errors.New("broken"), http.StatusInternalServerError, ""},
	} {
		if got := standard(apierror.Writer{}, get(), test.err); got.StatusCode != test.status || got.Header.Get("Retry-After") != test.after {
			t.Errorf("%v: %d, Retry-After %q", test.err, got.StatusCode, got.Header.Get("Retry-After"))
		}
		if got := oauth(apierror.Writer{}, get(), test.err); got.StatusCode != test.status || got.Header.Get("Retry-After") != "" {
			t.Errorf("%v: OAuth %d, Retry-After %q", test.err, got.StatusCode, got.Header.Get("Retry-After"))
		}
	}
}

package bodies_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
)

const formType = "application/x-www-form-urlencoded"

func TestDecodeForm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		want       bodies.Form
	}{
		{"empty", "", bodies.Form{}},
		{"values", "grant_type=refresh_token&refresh_token=a%20b+c", bodies.Form{"grant_type": {"refresh_token"}, "refresh_token": {"a b c"}}},
		{"empty value", "a=&b", bodies.Form{"a": {""}, "b": {""}}},
		{"empty pairs", "&&a=1&", bodies.Form{"a": {"1"}}},
		{"sent twice", "a=1&b=2&a=1", bodies.Form{"a": {"1", "1"}, "b": {"2"}}},
		{"equals sign in the value", "a=b=c", bodies.Form{"a": {"b=c"}}},
		{"names differ in case", "a=1&A=2", bodies.Form{"a": {"1"}, "A": {"2"}}},
		{"UTF-8", "a=%C3%BC&b=ü", bodies.Form{"a": {"ü"}, "b": {"ü"}}},
		{"encoded semicolon", "a=1%3Bb", bodies.Form{"a": {"1;b"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := bodies.DecodeForm(post(formType, test.body), bodies.FormLimits{})
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// The query is not part of the form: TOK-01 rejects credentials in the query.
func TestFormLeavesTheQueryAlone_TOK01(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPost, "/?client_secret=s&a=2", strings.NewReader("a=1"))
	r.Header.Set("Content-Type", formType)
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if form.Has("client_secret") || form.IsRepeated("a") || form.Get("a") != "1" {
		t.Errorf("form %v", form)
	}
}

// TOK-03: a parameter that was sent twice is easy to see, equal values too.
func TestFormRepeated_TOK03(t *testing.T) {
	t.Parallel()
	form, err := bodies.DecodeForm(post(formType, "b=1&a=&c=1&a=&b=2"), bodies.FormLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, form.Repeated()); diff != "" || !form.IsRepeated("a") || form.IsRepeated("c") || form.IsRepeated("d") {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// OERR-03: the error for a malformed form gives the reason and does not repeat values.
func TestDecodeFormProblems_OERR03(t *testing.T) {
	t.Parallel()
	const name = "the form has a parameter whose name is not valid percent-encoded UTF-8 without NUL"
	const semicolon = "the form has a semicolon that is not percent-encoded"
	tests := []struct {
		name, body string
		want       []string
	}{
		{"percent", "code=%zz", []string{"code is not valid percent-encoded UTF-8 without NUL"}},
		{"cut percent", "code=%4", []string{"code is not valid percent-encoded UTF-8 without NUL"}},
		{"percent in a name", "%zz=1", []string{name}},
		{"NUL", "code=%00", []string{"code is not valid percent-encoded UTF-8 without NUL"}},
		{"raw NUL", "code=\x00", []string{"code is not valid percent-encoded UTF-8 without NUL"}},
		{"NUL in a name", "a%00=1", []string{name}},
		{"not UTF-8", "code=%ff", []string{"code is not valid percent-encoded UTF-8 without NUL"}},
		{"not UTF-8, raw", "code=\xff", []string{"the body must be UTF-8"}},
		{"semicolon", "a=1;b=2", []string{semicolon}},
		{"all at once", "code=%00&x=1;y=2&state=%zz&ok=1", []string{
			"code is not valid percent-encoded UTF-8 without NUL", semicolon, "state is not valid percent-encoded UTF-8 without NUL",
		}},
		{"100 parameters", strings.Repeat("a=1&", 100), nil},
		{"101 parameters", strings.Repeat("a=1&", 101), []string{"the form has too many parameters"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			form, err := bodies.DecodeForm(post(formType, test.body), bodies.FormLimits{})
			wantProblems(t, err, test.want...)
			if err != nil && form != nil {
				t.Error("a form beside an error")
			}
		})
	}
}

func TestDecodeFormRefusals_OERR03(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		r      *http.Request
		limits bodies.FormLimits
		status int
	}{
		{"charset", post(formType+"; charset=utf-8", "a=1"), bodies.FormLimits{}, 0},
		{"other case", post("Application/X-WWW-Form-URLencoded", "a=1"), bodies.FormLimits{}, 0},
		{"empty without type", post("", ""), bodies.FormLimits{}, 0},
		{"JSON", postJSON(`{}`), bodies.FormLimits{}, 415},
		{"multipart", post("multipart/form-data; boundary=a", "a"), bodies.FormLimits{}, 415},
		{"none", post("", "a=1"), bodies.FormLimits{}, 415},
		{"64 KiB", post(formType, "a="+strings.Repeat("b", 64<<10-2)), bodies.FormLimits{}, 0},
		{"over 64 KiB", post(formType, "a="+strings.Repeat("b", 64<<10-1)), bodies.FormLimits{}, 413},
		{"own limits", post(formType, "a=1"), bodies.FormLimits{MaxBytes: 2}, 413},
		{"own number", post(formType, "a=1&b=2"), bodies.FormLimits{MaxParameters: 1}, 400},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := bodies.DecodeForm(test.r, test.limits)
			var e *apierror.Error
			if errors.As(err, &e) != (test.status != 0) || e != nil && e.Status() != test.status {
				t.Fatalf("status %d wanted: %v", test.status, err)
			}
		})
	}
}

func post(contentType, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/?name=query", strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func postJSON(body string) *http.Request { return post("application/json", body) }

// wantProblems compares err with the problems of a 400; none means success.
func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	if len(want) == 0 {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	var e *apierror.Error
	if !errors.As(err, &e) {
		t.Fatalf("accepted, or another error: %v", err)
	}
	if diff := cmp.Diff(want, e.Messages()); diff != "" || e.Status() != 400 || e.Code() != "" {
		t.Errorf("%d %s problems (-want +got):\n%s", e.Status(), e.Code(), diff)
	}
}

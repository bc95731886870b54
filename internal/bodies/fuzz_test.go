package bodies_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
)

// FuzzDecodeForm compares with net/url.
func FuzzDecodeForm(f *testing.F) {
	for _, seed := range []string{"", "a=1&b=2", "a=1&a=2", "a;b", "%zz", "a=%00", "a=%ff", "=", "&&", "a=b=c", "a+b=c%20d", "%C3%BC=ü"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		got, err := bodies.DecodeForm(post(formType, body), bodies.FormLimits{})
		wantOwnError(t, err)
		if err != nil {
			return
		}
		want, err := url.ParseQuery(body)
		if err != nil {
			t.Fatalf("net/url refuses what was accepted: %v", err)
		}
		if diff := cmp.Diff(want, url.Values(got)); diff != "" {
			t.Errorf("(-net/url +got):\n%s", diff)
		}
		for name, values := range got {
			for _, text := range append(values, name) {
				if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
					t.Errorf("%q was accepted", text)
				}
			}
		}
	})
}

func wantOwnError(t *testing.T, err error) {
	t.Helper()
	var e *apierror.Error
	if err != nil && (!errors.As(err, &e) || e.Status() >= 500 || len(e.Messages()) == 0) {
		t.Fatalf("not a client error of ours: %v", err)
	}
}

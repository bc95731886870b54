package secret_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/secret"
)

// CON-10: every kind is masked at any position, complete or truncated; other text stays.
func TestMask(t *testing.T) {
	t.Parallel()
	for _, kind := range secret.Kinds {
		text := secret.New(kind).Reveal()
		body := strings.TrimPrefix(text, string(kind))
		for _, around := range []string{"%", `{"message": "no token %"}`, "https://x.example/?token=%&a=b", "Bearer %", "%%", "x%.", "%\n%"} {
			masked := secret.Mask(strings.ReplaceAll(around, "%", text))
			if strings.Contains(masked, body) || strings.Contains(masked, body[:6]) || !strings.Contains(masked, string(kind)+"[secret]") {
				t.Errorf("%s in %q became %q", kind, around, masked)
			}
		}
		if cut := secret.Mask(text[:len(text)-20]); cut != string(kind)+"[secret]" {
			t.Errorf("cut off: %q", cut)
		}
	}
	for text, want := range map[string]string{
		"code BCDF-GHJK.":                       "code [secret].",
		"a eyJhbGciOiJSUzI1NiJ9.eyJzdWIi.c2ln!": "a eyJ[secret]!",
		"inv_06g5plpa01o015r0g79mgnmm4c":        "inv_06g5plpa01o015r0g79mgnmm4c",
		"pk_at_":                                "pk_at_",
		`{"message":"scope invoices:read"}`:     `{"message":"scope invoices:read"}`,
		"":                                      "",
	} {
		if got := secret.Mask(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

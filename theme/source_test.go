package theme_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/theme"
)

// A function of the host that returns nonsense costs the page its theme, and nothing else. It
// does not take the form from the page.
func TestSource(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		choose func(*http.Request) theme.Theme
		want   string
		log    string
	}{
		"none":   {nil, "/fixed.svg", ""},
		"chosen": {func(r *http.Request) theme.Theme { return theme.Theme{Logo: r.URL.Path + r.FormValue("x")} }, "/page", ""},
		"wrong":  {func(*http.Request) theme.Theme { return theme.Theme{Logo: "//evil.example/x.svg"} }, "/fixed.svg", "Theme.Logo"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			source, err := theme.NewSource(theme.Theme{Logo: "/fixed.svg"}, test.choose, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "/page", strings.NewReader("x=y"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			got := source.For(r)
			if r.FormValue("x") != "y" {
				t.Errorf("the form is gone: %v", r.Form)
			}
			if got.Logo != test.want || test.log == "" && log.Len() > 0 || !strings.Contains(log.String(), test.log) {
				t.Errorf("%q, log %q", got.Logo, log.String())
			}
		})
	}
	if _, err := theme.NewSource(theme.Theme{Logo: "x"}, nil, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a wrong fixed theme is accepted")
	}
}

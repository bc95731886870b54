package theme_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/partnerkit/partnerkit/theme"
)

// A function of the host that panics, blocks or returns nonsense costs the page its
// theme, and nothing else.
func TestSource(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		choose func(*http.Request) theme.Theme
		want   string
		log    string
	}{
		"none":   {nil, "/fixed.svg", ""},
		"chosen": {func(r *http.Request) theme.Theme { return theme.Theme{Logo: r.URL.Path} }, "/page", ""},
		"panics": {func(*http.Request) theme.Theme { panic("no brand") }, "/fixed.svg", "panic=string"},
		"blocks": {func(r *http.Request) theme.Theme { <-r.Context().Done(); return theme.Theme{} }, "/fixed.svg", "took too long"},
		"wrong":  {func(*http.Request) theme.Theme { return theme.Theme{Logo: "//evil.example/x.svg"} }, "/fixed.svg", "Theme.Logo"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			source, err := theme.NewSource(theme.Theme{Logo: "/fixed.svg"}, test.choose, slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			got := source.For(httptest.NewRequest(http.MethodGet, "/page", nil))
			if got.Logo != test.want || test.log == "" && log.Len() > 0 || !strings.Contains(log.String(), test.log) {
				t.Errorf("%s: %q, log %q", name, got.Logo, log.String())
			}
		})
	}
	if _, err := theme.NewSource(theme.Theme{Logo: "x"}, nil, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("a wrong fixed theme is accepted")
	}
}

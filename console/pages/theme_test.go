package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/theme"
)

// The brand stands on the console's pages, within their content policy.
func TestTheme(t *testing.T) {
	t.Parallel()
	o := newHarness(t, func(cfg *pages.Config) {
		cfg.Theme = theme.Theme{
			Logo: "/brand/logo.svg", StyleSheet: "/brand/pages.css", Light: theme.Colors{Accent: "#1d4ed8"}, Terms: "https://example.com/terms",
			Links: []theme.Link{{Text: "Invoices", Href: "/invoices"}, {Text: "For developers", Href: "/developer"}}, SignOut: "/logout",
		}
	})
	for _, got := range []response{o.get("").want(http.StatusOK), o.get("/nowhere").want(http.StatusNotFound)} {
		_, rest, _ := strings.Cut(got.Header.Get("Content-Security-Policy"), "style-src 'self' 'nonce-")
		nonce, _, _ := strings.Cut(rest, "'")
		for _, want := range []string{
			`<img class="logo" src="/brand/logo.svg" alt="">`, `<style nonce="` + nonce + `">@media (prefers-color-scheme: light) { :root:where(:not([data-scheme=dark])) { --accent: #1d4ed8; } }`,
			`nonce="` + nonce + `" href="/brand/pages.css"`, `href="https://example.com/terms"`, `<a href="/invoices">Invoices</a>`,
			`<a href="/developer" aria-current="true">For developers</a>`, `action="/logout"`, `<p>` + ann + `</p>`,
		} {
			if nonce == "" || !strings.Contains(got.Body, want) || strings.Contains(got.Body, ">Developers<") {
				t.Errorf("the page lacks %s:\n%s", want, got.Body)
			}
		}
	}
	if first, second := o.get("").Header.Get("Content-Security-Policy"), o.get("").Header.Get("Content-Security-Policy"); first == second {
		t.Error("the nonce is always the same")
	}
}

// Without a theme there is no style element, and the policy allows none.
func TestNoTheme(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	if got := o.get("").want(http.StatusOK); strings.Contains(got.Body, "<style") || strings.Contains(got.Header.Get("Content-Security-Policy"), "nonce") || !strings.Contains(got.Body, ">Developers<") {
		t.Errorf("%v\n%s", got.Header, got.Body)
	}
}

// A wrong theme is refused, and one by request that is wrong is not used.
func TestThemeFaults(t *testing.T) {
	t.Parallel()
	o := newHarness(t, func(cfg *pages.Config) {
		cfg.Theme.Logo = "/brand/logo.svg"
		cfg.ThemeFor = func(*http.Request) theme.Theme { return theme.Theme{Logo: "//evil.example/x.svg"} }
	})
	if got := o.get("").want(http.StatusOK); !strings.Contains(got.Body, "/brand/logo.svg") {
		t.Error(got.Body)
	}
	_, err := pages.New(pages.Config{Console: o.console, SignIn: o.host.SignIn, Theme: theme.Theme{Logo: "//evil.example/x.svg"}})
	if err == nil || !strings.Contains(err.Error(), "Theme.Logo") {
		t.Errorf("got %v", err)
	}
}

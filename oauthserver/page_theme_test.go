package oauthserver_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/theme"
)

var brand = theme.Theme{
	Logo: "/brand/logo.svg", StyleSheet: "/brand/pages.css", Light: theme.Colors{Accent: "#1d4ed8"},
	Terms: "https://example.com/terms", Privacy: "/privacy", Support: "mailto:help@example.com",
	Links: []theme.Link{{Text: "Connected apps", Href: "/settings/apps"}, {Text: "Invoices", Href: "/invoices"}}, SignOut: "/logout",
}

// The brand stands on every page, within its content policy.
func TestTheme(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.Theme = brand })
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for name, page := range map[string]shownPage{
		"consent":        b.ask(app).wantOK(),
		"device":         b.get("/device").wantOK(),
		"connected apps": b.get("/settings/apps").wantOK(),
		"error":          b.ask(app, withParam("client_id", "nobody")),
	} {
		_, rest, _ := strings.Cut(page.Header.Get("Content-Security-Policy"), "'nonce-")
		nonce, _, _ := strings.Cut(rest, "'")
		for _, want := range []string{
			`<img class="logo" src="/brand/logo.svg" alt="">`, `<link rel="stylesheet" nonce="` + nonce + `" href="/brand/pages.css">`,
			`<style nonce="` + nonce + `">@media (prefers-color-scheme: light) { :root:where(:not([data-scheme=dark])) { --accent: #1d4ed8; } }`,
			`<a href="https://example.com/terms" target="_blank" rel="noopener noreferrer">Terms</a>`, `<a href="/privacy" `, `<a href="mailto:help@example.com" `,
		} {
			if nonce == "" || !strings.Contains(page.Body, want) {
				t.Errorf("%s: the page lacks %q:\n%s", name, want, page.Body)
			}
		}
	}
	if page := b.get("/settings/apps"); !strings.Contains(page.Body, `<a href="/settings/apps" aria-current="true">Connected apps</a>`) || !strings.Contains(page.Body, `<a href="/invoices">Invoices</a>`) {
		t.Errorf("the header:\n%s", page.Body)
	}
}

// A theme by request; one that is refused leaves the fixed one.
func TestThemeFunction(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, func(cfg *oauthserver.Config) {
		cfg.Theme = brand
		cfg.ThemeFor = func(r *http.Request) theme.Theme {
			if r.URL.Query().Get("state") == "foreign" {
				return theme.Theme{Logo: "https://evil.example/logo.svg"}
			}
			return theme.Theme{Logo: "/other.svg"}
		}
	})
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for state, want := range map[string]string{"x": "/other.svg", "foreign": "/brand/logo.svg"} {
		if page := b.ask(app, withParam("state", state)).wantOK(); !strings.Contains(page.Body, `<img class="logo" src="`+want+`"`) || strings.Contains(page.Body, "evil") {
			t.Errorf("%s:\n%s", state, page.Body)
		}
	}
}

// One error reports every problem with its field.
func TestThemeRefused(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	_, err := oauthserver.New(oauthserver.Config{
		Store: e.Store, Host: e.host, Keyring: fixture.Keyring(1), Pages: pages.New(), APIURL: pageAPI, AppURL: pageApp,
		Theme:     theme.Theme{Logo: "https://cdn.example/logo.svg", Dark: theme.Colors{Ink: "red"}},
		Languages: locale.Languages{Offered: []string{"fr"}}, Options: oauthserver.Options{BusinessPath: "https://evil.example/"},
	})
	for _, want := range []string{"Theme.Logo", "Theme.Dark.Ink", "Languages.Offered[0]", "BusinessPath"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named: %v", want, err)
		}
	}
}

// listings is a marketplace of one listing.
type listings struct {
	one pages.AppListing
	err error
}

func (l listings) AppListing(context.Context, string) (pages.AppListing, error) {
	return l.one, l.err
}

// AZ-01: the consent page and the connected apps show the listing, and nothing of it that
// is not ours to show: no foreign image, no link that is not https.
func TestListingOnPages(t *testing.T) {
	t.Parallel()
	shown := &listings{}
	e := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.Listings = shown })
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	if page := b.ask(app).wantOK(); strings.Contains(page.Body, "<img") || strings.Contains(page.Body, "target=") {
		t.Errorf("an app without a listing:\n%s", page.main())
	}

	shown.one = pages.AppListing{IconPath: "/icons/1.png", Publisher: hostileName, TermsURL: "https://p.example/terms", PrivacyURL: "https://p.example/privacy"}
	page := b.ask(app).wantOK()
	page.shows("en", "An app by "+hostileName+".", "Terms of the app", "Privacy policy of the app")
	for _, want := range []string{`<img src="/icons/1.png" alt="" width="48" height="48">`, `href="https://p.example/terms" target="_blank" rel="noopener noreferrer"`, `href="https://p.example/privacy"`} {
		if !strings.Contains(page.Body, want) || strings.Contains(page.Body, hostileName) {
			t.Errorf("the page lacks %s:\n%s", want, page.main())
		}
	}
	b.submit(page, "allow").wantCallback(pageCallback)
	if page := b.get("/settings/apps").wantOK(); !strings.Contains(page.Body, `<img src="/icons/1.png"`) {
		t.Errorf("the connected apps:\n%s", page.main())
	}

	for _, foreign := range []string{"https://evil.example/i.png", "//evil.example/i.png", `/\evil.example/i.png`, "/\t/evil.example/i.png", "data:image/png,evil", "evil.png"} {
		shown.one = pages.AppListing{IconPath: foreign}
		for _, path := range []string{"/settings/apps", "/oauth/authorize?" + askQuery(app).Encode()} {
			if page := b.get(path).wantOK(); strings.Contains(page.Body, "<img") || strings.Contains(page.Body, "evil") {
				t.Errorf("%s: the icon %q:\n%s", path, foreign, page.main())
			}
		}
	}
	for _, link := range []string{"http://p.example/", "javascript:alert(1)", "https://a@p.example/", "https:///x", "/terms", "https://p.example/ x"} {
		shown.one = pages.AppListing{TermsURL: link, PrivacyURL: link}
		if page := b.ask(app).wantOK(); strings.Contains(page.Body, "target=") {
			t.Errorf("the link %q:\n%s", link, page.main())
		}
	}

	shown.err = context.DeadlineExceeded
	if page := b.ask(app); page.Status != http.StatusInternalServerError {
		t.Errorf("a failing marketplace: %d", page.Status)
	}
}

// Every page has an icon, which the app host serves: that of the theme, or a neutral one.
func TestIcon(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for name, page := range map[string]shownPage{
		"consent": b.ask(e.app(t)).wantOK(), "connected apps": b.get("/settings/apps").wantOK(), "error": b.get("/oauth/authorize"),
	} {
		if !strings.Contains(page.Body, `<link rel="icon" type="image/svg+xml" href="/oauth/icon.svg">`) {
			t.Errorf("%s: no icon:\n%s", name, page.Body)
		}
	}
	if icon := b.get("/oauth/icon.svg"); icon.Status != http.StatusOK || icon.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(icon.Body, "<svg ") {
		t.Errorf("icon: %d, %s: %s", icon.Status, icon.Header.Get("Content-Type"), icon.Body)
	}
	branded := newPageEnv(t, func(cfg *oauthserver.Config) { cfg.Theme = theme.Theme{Icon: "/brand/icon.png"} })
	if page := branded.browser(t).get("/oauth/authorize"); !strings.Contains(page.Body, `<link rel="icon" href="/brand/icon.png">`) || strings.Contains(page.Body, "/oauth/icon.svg") {
		t.Errorf("the theme's icon:\n%s", page.Body)
	}
}

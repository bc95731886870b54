package browser_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/theme"
)

// brandFiles are the files that a host serves for its brand.
func brandFiles() http.Handler {
	files := http.NewServeMux()
	for path, file := range map[string][2]string{
		"/brand/logo.svg":  {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" width="28" height="28"><circle cx="14" cy="14" r="14"/></svg>`},
		"/brand/pages.css": {"text/css", `h1 { letter-spacing: 3px; }`},
	} {
		files.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", file[0])
			_, _ = io.WriteString(w, file[1])
		})
	}
	return files
}

// branded configures a platform with a brand, in German.
func branded(cfg *partnerkit.Config) {
	cfg.AppRoutes = brandFiles()
	cfg.Theme = theme.Theme{
		Logo: "/brand/logo.svg", StyleSheet: "/brand/pages.css", Terms: "/agb", SignOut: "/logout",
		Light: theme.Colors{Accent: "#1d4ed8"}, Dark: theme.Colors{Accent: "#9cc2ff", OnAccent: "#0a1c3d"},
		Links: []theme.Link{{Text: "Connected apps", Href: "/settings/apps"}},
	}
	cfg.Languages = locale.Languages{
		Offered: []string{"en", "de"}, Texts: map[string]locale.Texts{"de": {"link:/settings/apps": "Verbundene Apps"}},
		Choose: func(*http.Request) string { return "de" },
	}
}

// AZ-01, AZ-03, AZ-14: the consent page of a host with a brand, in German: the policy
// lets logo, style sheet and colours pass, an error keeps its text, and a business
// connects and disconnects an app.
func TestGermanConsent(t *testing.T) {
	t.Parallel()
	needAxe(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!DOCTYPE html><html lang="en"><title>Back at the partner</title><link rel="icon" href="data:,"><h1>Back at the partner</h1>`)
	}))
	t.Cleanup(site.Close)
	h := partnertest.New(t, branded)
	created, err := h.OAuth().CreateApp(t.Context(), oauthserver.NewApp{
		Name: "Ledgerlink Sync", Type: partner.Confidential, OrganizationID: partnertest.Organization,
		RedirectURIs: []string{site.URL + "/callback"}, Scopes: identity.MustScopes("invoices:read"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.OAuth().SetReviewed(t.Context(), created.App.ID, true); err != nil {
		t.Fatal(err)
	}
	b := open(t)
	session := h.Host.NewSession(partnertest.User, partnertest.Business)
	cookie := network.SetCookieParams{Name: session.Name, Value: session.Value, URL: h.AppURL, SameSite: network.CookieSameSiteLax}
	if _, err := chromedp.Call(b.ctx, network.SetCookie, cookie); err != nil {
		t.Fatal(err)
	}
	query := url.Values{"response_type": {"code"}, "client_id": {created.App.ClientID}, "redirect_uri": {site.URL + "/callback"}, "scope": {"invoices:read"}}

	b.visit(h.AppURL + "/oauth/authorize?" + query.Encode())
	b.sees("Ledgerlink Sync verbinden?")
	b.sees("Ihre Rechnungen sehen")
	b.isBranded()
	b.inspect("consent-german")
	b.submit("Zulassen")
	if b.title() != "Back at the partner" {
		t.Fatalf("allowed: %s", b.where())
	}

	query.Set("scope", "journal:read")
	if status := b.visit(h.AppURL + "/oauth/authorize?" + query.Encode()); status != 400 || b.alert() != "Requested scopes not permitted for this client" {
		t.Errorf("%d %s", status, b.where())
	}
	b.sees("Die App fordert Zugriffsrechte an, die nicht für sie registriert sind.")
	b.isBranded()
	b.faults() // the status of the page itself
	b.inspect("consent-error-german")

	b.visit(h.AppURL + "/settings/apps")
	b.sees("Verbundene Apps")
	b.isBranded()
	b.inspect("connected-apps-german")
	b.press("Deinstallieren …")
	b.submit("Deinstallieren")
	b.sees("Die App wurde deinstalliert.")
	b.sees("Keine Apps verbunden")
}

// isBranded says that the browser applied all parts of the theme.
func (b *tab) isBranded() {
	b.t.Helper()
	b.scheme("light")
	shown := get[[]string](b, `[document.documentElement.lang, getComputedStyle(document.documentElement).getPropertyValue("--accent").trim(),
		getComputedStyle(document.querySelector("h1")).letterSpacing, String(document.querySelector("img.logo").naturalWidth > 0)]`)
	if want := []string{"de", "#1d4ed8", "3px", "true"}; len(shown) != len(want) || shown[0] != want[0] || shown[1] != want[1] || shown[2] != want[2] || shown[3] != want[3] {
		b.t.Errorf("the page shows %v, want %v: %v", shown, want, b.faults())
	}
}

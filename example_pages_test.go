package partnerkit_test

import (
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/theme"
)

// brand is how our pages look. Our own handler serves the two files on the app host.
var brand = theme.Theme{
	Logo:       "/brand/logo.svg",
	StyleSheet: "/brand/pages.css",
	Light:      theme.Colors{Accent: "#1d4ed8", AccentPaper: "#e0e9fd"},
	Dark:       theme.Colors{Accent: "#9cc2ff", OnAccent: "#0a1c3d", AccentPaper: "#16294f"},
	Terms:      "https://example.com/terms",
	Privacy:    "https://example.com/privacy",
	Support:    "mailto:help@example.com",
	Links:      []theme.Link{{Text: "Connected apps", Href: "/settings/apps"}, {Text: "Invoices", Href: "/invoices"}},
	SignOut:    "/logout",
}

// languages are the three that we offer, with some texts of our own.
var languages = locale.Languages{
	Offered: []string{"en", "de", "nl"},
	Texts: map[string]locale.Texts{
		"de": {"scope:invoices:read": "Ihre Ausgangsrechnungen sehen", "link:/settings/apps": "Verbundene Apps", "link:/invoices": "Rechnungen"},
		"nl": {"consent.title": "{app} koppelen?", "consent.allow": "Toestaan", "consent.deny": "Weigeren"}, // the rest is in English
	},
	Choose: func(r *http.Request) string { return languageOf(r) },
}

// languageOf asks our own session; the request's context ends after a second.
func languageOf(r *http.Request) string {
	cookie, err := r.Cookie("language")
	if err != nil {
		return ""
	}
	return cookie.Value
}

// Pages with a brand, in three languages.
func Example_brandAndLanguages() {
	cfg := partnerkit.Config{Theme: brand, Languages: languages} // and the rest

	fmt.Println(cfg.Theme.Check())
	cfg.Theme.Logo = "https://cdn.example.com/logo.svg"
	fmt.Println(cfg.Theme.Check())
	// Output:
	// <nil>
	// Theme.Logo "https://cdn.example.com/logo.svg" is not a path on the app host: pages load and post nothing elsewhere; serve it there and write its path, such as /brand/logo.svg
}

package theme_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/theme"
)

const hostile = `"></style><script>alert(1)</script>`

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	light, dark := theme.Defaults()
	for name, good := range map[string]theme.Theme{
		"zero":     {},
		"defaults": {Light: light, Dark: dark},
		"all": {
			Logo: "/brand/logo.svg?v=2", StyleSheet: "/brand/pages.css", Light: theme.Colors{Accent: "#1D4ED8"}, Dark: theme.Colors{Accent: "#9cf"},
			Terms: "https://example.com/terms", Privacy: "/privacy", Support: "mailto:help@example.com",
			Links: []theme.Link{{Text: "Invoices", Href: "/invoices"}, {Text: "Help", Href: "https://help.example.com"}}, SignOut: "/logout",
		},
		"loopback": {Terms: "http://localhost:8081/terms", Support: "http://[::1]:1/help"},
	} {
		if err := good.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is wrong is named with its field, its value and the cure.
func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		theme theme.Theme
		want  string
	}{
		"foreign logo":      {theme.Theme{Logo: "https://cdn.example.com/logo.svg"}, `Theme.Logo "https://cdn.example.com/logo.svg" is not a path on the app host`},
		"logo by //":        {theme.Theme{Logo: "//cdn.example.com/logo.svg"}, "Theme.Logo"},
		"logo by backslash": {theme.Theme{Logo: `/\cdn.example.com/logo.svg`}, "Theme.Logo"},
		"logo with tab":     {theme.Theme{Logo: "/\t/cdn.example.com/logo.svg"}, "Theme.Logo"},
		"logo as data":      {theme.Theme{Logo: "data:image/svg+xml,x"}, "Theme.Logo"},
		"relative logo":     {theme.Theme{Logo: "logo.svg"}, "such as /brand/logo.svg"},
		"style sheet":       {theme.Theme{StyleSheet: "http://example.com/x.css"}, "Theme.StyleSheet"},
		"sign out":          {theme.Theme{SignOut: "https://example.com/logout"}, "Theme.SignOut"},
		"terms":             {theme.Theme{Terms: "javascript:alert(1)"}, "Theme.Terms"},
		"privacy":           {theme.Theme{Privacy: "http://example.com/privacy"}, "Theme.Privacy"},
		"user info":         {theme.Theme{Privacy: "https://a@example.com/privacy"}, "Theme.Privacy"},
		"terms by mail":     {theme.Theme{Terms: "mailto:help@example.com"}, "Theme.Terms"},
		"support":           {theme.Theme{Support: "mailto:nobody"}, "Theme.Support"},
		"link":              {theme.Theme{Links: []theme.Link{{Text: "x", Href: "javascript:alert(1)"}}}, "Theme.Links[0].Href"},
		"link to nowhere":   {theme.Theme{Links: []theme.Link{{Text: "x"}}}, "Theme.Links[0].Href is empty"},
		"link without text": {theme.Theme{Links: []theme.Link{{Text: " ", Href: "/x"}}}, "Theme.Links[0].Text is empty"},
		"colour by name":    {theme.Theme{Light: theme.Colors{Accent: "rebeccapurple"}}, `Theme.Light.Accent "rebeccapurple" is not a colour`},
		"hostile colour":    {theme.Theme{Dark: theme.Colors{Ink: "#fff;" + hostile}}, "Theme.Dark.Ink"},
		"five digits":       {theme.Theme{Dark: theme.Colors{Line: "#12345"}}, "Theme.Dark.Line"},
		"no digits":         {theme.Theme{Dark: theme.Colors{Line: "#+12345"}}, "Theme.Dark.Line"},
		"no #":              {theme.Theme{Dark: theme.Colors{Line: "0123456"}}, "Theme.Dark.Line"},
		"pale accent":       {theme.Theme{Light: theme.Colors{Accent: "#ffcc00"}}, "Theme.Light.Accent #ffcc00 on Card #fff has a contrast of 1.5, but at least 4.5 is required"},
		"dark button text":  {theme.Theme{Light: theme.Colors{OnAccent: "#000"}}, "Theme.Light.OnAccent #000 on Accent #0b6652"},
		"dark card":         {theme.Theme{Light: theme.Colors{Card: "#222"}}, "Theme.Light.Ink #16212a on Card #222"},
		"faint edge":        {theme.Theme{Light: theme.Colors{Edge: "#ddd"}}, "at least 3.0 is required"},
	} {
		err := test.theme.Check()
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), ";") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// One error reports every problem.
func TestCheckTellsAll(t *testing.T) {
	t.Parallel()
	err := theme.Theme{
		Logo: "x", StyleSheet: "x", Terms: "x", Privacy: "x", Support: "x", SignOut: "x", Links: []theme.Link{{}},
		Light: theme.Colors{Ink: "x"}, Dark: theme.Colors{Ink: "x"},
	}.Check()
	for _, field := range []string{"Logo", "StyleSheet", "Terms", "Privacy", "Support", "SignOut", "Links[0].Text", "Links[0].Href", "Light.Ink", "Dark.Ink"} {
		if !strings.Contains(err.Error(), "Theme."+field+" ") {
			t.Errorf("%s is not named: %v", field, err)
		}
	}
}

func TestCSS(t *testing.T) {
	t.Parallel()
	if got := (theme.Theme{Logo: "/x.svg"}).CSS(); got != "" {
		t.Errorf("without colours: %q", got)
	}
	got := theme.Theme{Light: theme.Colors{Accent: "#1d4ed8", OnAccent: "#fff"}, Dark: theme.Colors{AccentPaper: "#123"}}.CSS()
	if want := "@media (prefers-color-scheme: light) { :root:where(:not([data-scheme=dark])) { --accent: #1d4ed8; --on-accent: #fff; } }\n:root:where([data-scheme=light]) { --accent: #1d4ed8; --on-accent: #fff; }\n" +
		"@media (prefers-color-scheme: dark) { :root:where(:not([data-scheme=light])) { --accent-paper: #123; } }\n:root:where([data-scheme=dark]) { --accent-paper: #123; }\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	// What was not checked does no harm either.
	got = theme.Theme{Light: theme.Colors{Ink: "#fff", Card: "#fff; } * { display: none", Paper: hostile, Line: "url(//evil.example)"}}.CSS()
	if !regexp.MustCompile(`^@media \(prefers-color-scheme: light\) { :root:where\(:not\(\[data-scheme=dark\]\)\) { --ink: #fff; } }\n:root:where\(\[data-scheme=light\]\) { --ink: #fff; }\n$`).MatchString(got) {
		t.Errorf("hostile: %q", got)
	}
}

package look_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/theme"
)

// Browsers cache the assets forever: an asset that changes gets another name.
func TestAssets(t *testing.T) {
	t.Parallel()
	page := render(t, `{{define "content"}}{{end}}`, look.Page{Frame: look.Frame{Assets: "/a"}})
	types := map[string]string{"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
	for _, found := range regexp.MustCompile(`"/a(/\w+\.[0-9a-f]{12}\.(\w+))"`).FindAllStringSubmatch(page, -1) {
		w := httptest.NewRecorder()
		look.Assets().ServeHTTP(w, httptest.NewRequest(http.MethodGet, found[1], nil))
		if w.Code != http.StatusOK || w.Body.Len() == 0 || w.Header().Get("Content-Type") != types[found[2]] || w.Header().Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", found[1], w.Code, w.Header())
		}
		delete(types, found[2])
	}
	if len(types) > 0 {
		t.Errorf("the page does not ask for %v: %s", types, page)
	}
	w := httptest.NewRecorder()
	look.Assets().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/style.css", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("a style sheet without a digest: %d", w.Code)
	}
}

// A page with a nonce needs no assets.
func TestNonce(t *testing.T) {
	t.Parallel()
	page := render(t, `{{define "content"}}{{end}}`, look.Page{Frame: look.Frame{Nonce: "n1"}})
	if !strings.Contains(page, `<style nonce="n1">`) || strings.Contains(page, "<script") || strings.Contains(page, "<link") {
		t.Errorf("the page is %s", page)
	}
}

func TestLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	for until, want := range map[time.Duration]string{26*time.Hour + 61*time.Second: "26:01:01", 59 * time.Second: "00:00:59"} {
		if got := look.NewLeft(now.Add(until), now); got.String() != want || !got.Until.Equal(now.Add(until)) {
			t.Errorf("%v are %v", until, got)
		}
	}
	for _, over := range []time.Duration{0, -time.Hour} {
		if got := look.NewLeft(now.Add(over), now); got != (look.Left{}) {
			t.Errorf("%v are %v", over, got)
		}
	}
}

// Every class of a page is one that the style sheet knows.
func TestClasses(t *testing.T) {
	t.Parallel()
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	known := make(map[string]bool)
	for _, found := range regexp.MustCompile(`\.([a-z][a-z-]*)`).FindAllStringSubmatch(string(style), -1) {
		known[found[1]] = true
	}
	written := regexp.MustCompile(`class="([^"]*)"`)
	action := regexp.MustCompile(`{{[^}]*}}`)
	for _, folder := range []string{"templates", "../../console/pages/templates", "../../operator/pages/templates", "../../oauthserver/pages/templates", "../reference/templates", "../../sandbox/templates", "../../examples/books/templates"} {
		files, err := filepath.Glob(folder + "/*.html")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no pages: %v", folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range written.FindAllStringSubmatch(action.ReplaceAllString(string(text), ""), -1) {
				for _, class := range strings.Fields(found[1]) {
					if !known[class] {
						t.Errorf("%s: the style sheet has no class %s", file, class)
					}
				}
			}
		}
	}
}

func render(t *testing.T, content string, p look.Page) string {
	t.Helper()
	var from fs.FS = fstest.MapFS{"pages/one.html": {Data: []byte(content)}}
	set, err := look.Parse(from, "pages", nil)
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := set.Render(&page, "one", p); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// The colours that themes are checked against are those of the style sheet.
func TestDefaultColours(t *testing.T) {
	t.Parallel()
	style, err := os.ReadFile("style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, rest, _ := strings.Cut(string(style), "@media (prefers-color-scheme: dark)")
	dark, rest, _ := strings.Cut(rest, "\n}\n")
	chosen, _, _ := strings.Cut(rest, "*, ::before")
	colour := regexp.MustCompile(`--[a-z-]+: #[0-9a-f]+;`)
	var defaults theme.Theme
	defaults.Light, defaults.Dark = theme.Defaults()
	rules := strings.Split(defaults.CSS(), "\n")
	for scheme, both := range map[string][2]string{"light": {light, rules[0]}, "dark": {dark, rules[2]}, "chosen dark": {chosen, rules[3]}} {
		got, want := colour.FindAllString(both[0], -1), colour.FindAllString(both[1], -1)
		slices.Sort(got)
		slices.Sort(want)
		if len(want) < 18 || !slices.Equal(got, want) {
			t.Errorf("%s: the style sheet has\n%v\ntheme has\n%v", scheme, got, want)
		}
	}
}

// A page that loads its style sheet can have a theme too, with a nonce.
func TestAllowStyle(t *testing.T) {
	t.Parallel()
	page := render(t, `{{define "content"}}{{end}}`, look.Page{Frame: look.Frame{Assets: "/a", Nonce: "n1", Theme: theme.Theme{StyleSheet: "/x.css", Light: theme.Colors{Accent: "#00f"}}}})
	h := http.Header{}
	look.SetHeader(h)
	look.AllowStyle(h, "n1")
	if !strings.Contains(h.Get("Content-Security-Policy"), "style-src 'self' 'nonce-n1'; script-src 'self'; img-src 'self'; font-src 'self';") ||
		!strings.Contains(page, `<style nonce="n1">@media (prefers-color-scheme: light) { :root:where(:not([data-scheme=dark])) { --accent: #00f; } }`) || !strings.Contains(page, `<link rel="stylesheet" nonce="n1" href="/x.css">`) {
		t.Errorf("%s\n%s", h, page)
	}
}

// The title of its tab and its trail distinguish a page from others.
func TestWindowTitle(t *testing.T) {
	t.Parallel()
	trail := []look.Link{{Text: "Apps", Href: "/d"}, {Text: "Ledger Sync", Href: "/d/1"}, {Text: "Webhooks", Href: "/d/1/w"}}
	for want, frame := range map[string]look.Frame{
		"Apps · Service":                                  {Title: "Apps"},
		"Webhooks · Ledger Sync · Service":                {Title: "Webhooks", Trail: trail},
		"Webhook wh_1 · Webhooks · Ledger Sync · Service": {Title: "Webhook", Subject: "wh_1", Trail: trail},
	} {
		frame.Service = "Service"
		if page := render(t, `{{define "content"}}{{end}}`, look.Page{Frame: frame}); !strings.Contains(page, "<title>"+want+"</title>") {
			t.Errorf("no title %q in %s", want, page)
		}
	}
	page := render(t, `{{define "content"}}{{end}}`, look.Page{Frame: look.Frame{Title: "Webhook", Subject: "wh_1", Trail: trail}})
	if !strings.Contains(page, `<a href="/d/1/w">Webhooks</a><span aria-current="page">Webhook wh_1</span></nav>`) || !strings.Contains(page, `<h1>Webhook</h1>`) {
		t.Errorf("the page is %s", page)
	}
}

// Package look holds the design of all pages: a style sheet, an optional script, the frame
// around a page and the templates that pages share. There is no build step. Pages work
// without the script.
package look

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/compress"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/theme"
)

//go:embed templates style.css script.js icon.svg
var files embed.FS

var (
	style      = mustRead("style.css")
	script     = mustRead("script.js")
	icon       = mustRead("icon.svg")
	styleName  = named("style", style, "css")
	scriptName = named("script", script, "js")
	iconName   = named("icon", icon, "svg")
)

func mustRead(name string) []byte {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it was there at compile time
	}
	return content
}

// named puts a digest of a file into its name, so that browsers may cache it forever.
func named(stem string, content []byte, extension string) string {
	sum := sha256.Sum256(content)
	return stem + "." + hex.EncodeToString(sum[:6]) + "." + extension
}

// Frame is the content around a page.
type Frame struct {
	Service  string // what the service calls itself
	Title    string
	Heading  string // names what the page is about above its content; empty: Title
	Subject  string // id of what the page is about, if the title does not name it
	Theme    theme.Theme
	Language locale.Language // zero: English
	// Assets is the path where [Assets] are served. A page without it carries the style
	// sheet and has no script.
	Assets string
	// Icon is the path of the page's icon, for pages without Assets.
	Icon string
	// Nonce is the nonce of the content policy. Pages without Assets need one, and so does a
	// theme with colours or a style sheet.
	Nonce string

	Home    string // where the name of the service leads; empty: nowhere
	Links   []Link // of the header
	Person  string // who is signed in
	SignOut string // where that ends; empty: nowhere here
	Search  string // where the search field of the bar leads; empty: there is none
	Scheme  string // that the person has chosen, light or dark; empty: that of the browser
	Path    string // of the page, with its query, for forms that lead back to it

	SideLabel string
	Side      []Link
	Switch    Switch // leads from the side to other things of the same kind
	Trail     []Link // where the page lies
	// IsPart is true for a page that the side leads to: it shows no trail.
	IsPart bool

	// IsLive asks for what changes on the page alone, its template "live".
	IsLive bool
	Known  string // what the browser has of it, as [IsUnchanged] named it

	// Focus is for a page with one thing to do.
	Focus  bool
	Alerts []string // what went wrong, in English
	// Explanation is shown beside the alerts, in the language of the page.
	Explanation string
	Notice      string // what went well
}

// Name returns the title with the subject.
func (f Frame) Name() string {
	if f.Subject == "" {
		return f.Title
	}
	return f.Title + " " + f.Subject
}

// Head returns the heading of the page.
func (f Frame) Head() string {
	if f.Heading != "" {
		return f.Heading
	}
	return f.Title
}

// WindowTitle identifies the page among the tabs of a browser: what it is about, then what
// that belongs to, then the service.
func (f Frame) WindowTitle() string {
	names := []string{f.Name()}
	for i := len(f.Trail) - 1; i > 0; i-- { // the first one leads to the list of everything
		if f.Trail[i].Text != f.Title {
			names = append(names, f.Trail[i].Text)
		}
	}
	return strings.Join(append(names, f.Service), " · ")
}

// Icon returns the icon of pages, an SVG image.
func Icon() []byte { return bytes.Clone(icon) }

// Page is the input of the templates: the frame, and the data that they show in it.
type Page struct {
	Frame
	Data any
}

// Link leads somewhere.
type Link struct {
	Text, Href string
	Current    bool

	// For the side: the heading of the group that the link belongs to, an icon of icons.go, and
	// a count of what is wrong there.
	Group, Icon string
	Count       int
}

// Switch is what a page is about and how to get to others of its kind. The zero value is none.
type Switch struct {
	Name   string
	Others []Link
}

// Badge is a word that can be understood at a glance. Kind is ok, warn, bad, info, or
// empty.
type Badge struct{ Kind, Text string }

// Named is something with an id and the name that people know it by; the name may be empty.
type Named struct{ ID, Name string }

// Pager leads through a long list, newest first.
type Pager struct{ First, Next string }

// Left is the time until something happens, counted from when the page was made: the
// clock of a browser is not that of the platform. The zero value is none.
type Left struct {
	Until   time.Time
	Seconds int64
}

// NewLeft is zero when the time has come.
func NewLeft(until, now time.Time) Left {
	if !now.Before(until) {
		return Left{}
	}
	return Left{Until: until, Seconds: int64(until.Sub(now).Round(time.Second) / time.Second)}
}

// String is hours, minutes and seconds, as the script shows them.
func (l Left) String() string {
	return fmt.Sprintf("%02d:%02d:%02d", l.Seconds/3600, l.Seconds/60%60, l.Seconds%60)
}

// Set is the pages of a package, each a file that defines "content" and may define
// "aside", which is shown beside the title.
type Set struct{ pages map[string]*template.Template }

// Parse reads the pages of a folder: login.html is the page login. Files that begin
// with an underscore hold what several pages share.
func Parse(from fs.FS, folder string, funcs template.FuncMap) (*Set, error) {
	base, err := template.New("").Funcs(pieces()).Funcs(funcs).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	if shared, err := fs.Glob(from, folder+"/_*.html"); err == nil && len(shared) > 0 {
		if _, err := base.ParseFS(from, folder+"/_*.html"); err != nil {
			return nil, err
		}
	}
	names, err := fs.Glob(from, folder+"/[a-z]*.html")
	if err != nil {
		return nil, err
	}
	set := &Set{pages: make(map[string]*template.Template, len(names))}
	for _, name := range names {
		page, err := template.Must(base.Clone()).ParseFS(from, name)
		if err != nil {
			return nil, err
		}
		set.pages[name[len(folder)+1:len(name)-len(".html")]] = page
	}
	return set, nil
}

// Render writes a page as a whole or, when it cannot be made, not at all.
func (s *Set) Render(w io.Writer, name string, p Page) error {
	page, ok := s.pages[name]
	if !ok {
		return fmt.Errorf("look: there is no page %q", name)
	}
	var body bytes.Buffer
	part := "layout"
	if p.IsLive && page.Lookup("live") != nil {
		part = "live"
	}
	if err := page.ExecuteTemplate(&body, part, p); err != nil {
		return fmt.Errorf("render the %s page: %w", name, err)
	}
	_, err := w.Write(body.Bytes())
	return err
}

// pieces returns the functions that templates may call.
func pieces() template.FuncMap {
	return template.FuncMap{
		"style":      func() template.CSS { return template.CSS(style) }, //nolint:gosec // a file of ours
		"styleName":  func() string { return styleName },
		"scriptName": func() string { return scriptName },
		"iconName":   func() string { return iconName },
		"colors":     func(t theme.Theme) template.CSS { return template.CSS(t.CSS()) }, //nolint:gosec // it has checked colours only
		"icon":       drawn,
		"initial":    initial,
		"initials":   initials,
		"short":      short,
		"ago":        func(at time.Time) string { return Ago(at, time.Now()) },
		"now":        time.Now,
		"rfc3339":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"stamp":      func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") },
	}
}

// Assets serves the style sheet, the script and the icon by their names. If it is mounted
// below a prefix, strip the prefix first.
func Assets() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /"+styleName, asset("text/css; charset=utf-8", style))
	mux.Handle("GET /"+scriptName, asset("text/javascript; charset=utf-8", script))
	mux.Handle("GET /"+iconName, asset("image/svg+xml", icon))
	return mux
}

func asset(contentType string, content []byte) http.Handler {
	file := compress.NewFile(content)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		file.ServeHTTP(w, r)
	})
}

// Script returns a script that only some pages have, by a name that changes with it.
func Script(stem string, content []byte) (name string, h http.Handler) {
	return named(stem, content, "js"), asset("text/javascript; charset=utf-8", content)
}

// Policy lets a page show itself, its style sheet, its script, images and fonts of its own
// origin, and nothing else; no page may frame it.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// AllowStyle lets the page have style elements with the nonce, beside what [Policy]
// allows.
func AllowStyle(h http.Header, nonce string) {
	h.Set("Content-Security-Policy", strings.Replace(Policy, "style-src 'self'", "style-src 'self' 'nonce-"+nonce+"'", 1))
}

// AllowConnect lets the script of the page send requests to another origin, beside what
// [Policy] allows.
func AllowConnect(h http.Header, origin string) {
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), "connect-src 'self'", "connect-src 'self' "+origin, 1))
}

// SetHeader sets what every page carries.
func SetHeader(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// Package look is the one look of all pages: a style sheet, a script that only
// improves, the frame around a page and the pieces that pages are made of. There is no
// build step; pages work without the script.
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
	"time"
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

// named puts a digest of a file into its name, so that browsers may keep it for good.
func named(stem string, content []byte, extension string) string {
	sum := sha256.Sum256(content)
	return stem + "." + hex.EncodeToString(sum[:6]) + "." + extension
}

// Frame is what stands around a page.
type Frame struct {
	Service string // what the service calls itself
	Title   string
	// Assets is the path where [Assets] are served. A page without any of its own,
	// which says Nonce instead, carries the style sheet and has no script.
	Assets, Nonce string

	Home    string // where the name of the service leads; empty: nowhere
	Links   []Link // of the header
	Person  string // who is signed in
	SignOut string // where that ends; empty: nowhere here

	SideLabel string
	Side      []Link
	Trail     []Link // where the page lies

	// Focus is for a page with one thing to do.
	Focus  bool
	Alerts []string // what went wrong
	Notice string   // what went well
}

// Page is what templates get: the frame, and what they show in it.
type Page struct {
	Frame
	Data any
}

// Link leads somewhere.
type Link struct {
	Text, Href string
	Current    bool
}

// Badge is a word that can be understood at a glance. Kind is ok, warn, bad, info, or
// empty.
type Badge struct{ Kind, Text string }

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
// "aside", what stands beside the title.
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
	if err := page.ExecuteTemplate(&body, "layout", p); err != nil {
		return fmt.Errorf("render the %s page: %w", name, err)
	}
	_, err := w.Write(body.Bytes())
	return err
}

// pieces are the functions that templates may call.
func pieces() template.FuncMap {
	return template.FuncMap{
		"style":      func() template.CSS { return template.CSS(style) }, //nolint:gosec // a file of ours
		"styleName":  func() string { return styleName },
		"scriptName": func() string { return scriptName },
		"iconName":   func() string { return iconName },
		"rfc3339":    func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"stamp":      func(t time.Time) string { return t.UTC().Format("2 Jan 2006, 15:04:05 UTC") },
	}
}

// Assets serves the style sheet, the script and the icon by their names, below wherever it is
// mounted: strip the prefix first.
func Assets() *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("GET /"+styleName, asset("text/css; charset=utf-8", style))
	mux.Handle("GET /"+scriptName, asset("text/javascript; charset=utf-8", script))
	mux.Handle("GET /"+iconName, asset("image/svg+xml", icon))
	return mux
}

func asset(contentType string, content []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

// Policy lets a page show itself, its style sheet, its script, images of its own
// origin, and nothing else; nobody may frame it.
const Policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// SetHeader sets what every page carries.
func SetHeader(h http.Header) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

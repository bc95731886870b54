// Package site holds the code that the pages of the console and of the operator share:
// the look of a request, rendering, forms, and the errors that a person can correct.
package site

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/compress"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/muxes"
	"github.com/partnerkit/partnerkit/theme"
)

// Config of a [Site].
type Config struct {
	Templates fs.FS // the pages, in the folder templates
	// Functions are the template functions in addition to href, grouped and the functions
	// of package look.
	Functions template.FuncMap
	Service   string // empty: "Service"
	Prefix    string // the path that the pages are mounted at
	Name      string // the text of the link to Prefix, where the theme has no such link
	// Notices are the notices of pages after a change, by the word in the address.
	Notices map[string]string
	// Person returns the name of the person who is signed in; empty if there is none.
	Person func(r *http.Request) string
	// Origins are the origins whose pages may write, in addition to the origin that
	// the request was sent to.
	Origins  []string
	Theme    theme.Theme
	ThemeFor func(r *http.Request) theme.Theme // nil: Theme
	Logger   *slog.Logger                      // nil: discards
}

// Site renders pages in one frame. It is safe for concurrent use.
type Site struct {
	cfg    Config
	errors apierror.Writer
	csrf   *http.CrossOriginProtection
	themes *theme.Source
	set    *look.Set
}

// New checks the configuration and reads the templates.
func New(cfg Config) (*Site, error) {
	if cfg.Service == "" {
		cfg.Service = "Service"
	}
	if !strings.HasPrefix(cfg.Prefix, "/") || strings.HasSuffix(cfg.Prefix, "/") || strings.ContainsAny(cfg.Prefix, "{} ?#") {
		return nil, fmt.Errorf("Config.Prefix %q is not a path like /developer", cfg.Prefix)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Site{cfg: cfg, errors: apierror.Writer{Logger: cfg.Logger, Service: cfg.Service}, csrf: http.NewCrossOriginProtection()}
	for _, origin := range cfg.Origins {
		if err := s.csrf.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("Config.Origins: %w", err)
		}
	}
	var err error
	if s.themes, err = theme.NewSource(cfg.Theme, cfg.ThemeFor, cfg.Logger); err != nil {
		return nil, fmt.Errorf("Config: %w", err)
	}
	functions := template.FuncMap{"href": s.Href, "grouped": Grouped}
	for name, function := range cfg.Functions {
		functions[name] = function
	}
	s.set, err = look.Parse(cfg.Templates, "templates", functions)
	return s, err
}

// Handler serves the pages of a mux, and the style sheet and the script below Prefix.
func (s *Site) Handler(mux *http.ServeMux) http.Handler {
	assets := s.cfg.Prefix + "/assets"
	mux.Handle("GET "+assets+"/", http.StripPrefix(assets, muxes.WithErrors(look.Assets(), s.writeFailure)))
	return s.withLook(s.errors.ValidPath(muxes.WithErrors(mux, s.writeFailure)))
}

// Page serves one page. Its errors are shown as a page. It rejects writes from the pages of
// other sites, and queries that are not valid text.
func (s *Site) Page(handle apierror.Handler) http.Handler {
	return s.errors.Page(s.showFailure, func(w http.ResponseWriter, r *http.Request) error {
		if err := s.csrf.Check(r); err != nil {
			return apierror.Forbidden("This request came from another site")
		}
		if !isText(r.URL.RawQuery) {
			return apierror.Invalid("the query is not valid UTF-8 without NUL")
		}
		return handle(w, r)
	})
}

// Frame returns the frame of a page of a person.
func (s *Site) Frame(r *http.Request, title, person string) look.Frame {
	own, _ := r.Context().Value(skinKey{}).(skin)
	f := look.Frame{
		Known: r.Header.Get("If-None-Match"), IsLive: r.Method == http.MethodGet && r.Header.Get(look.LiveHeader) != "", Service: s.cfg.Service, Title: title, Theme: own.theme, Nonce: own.nonce,
		Assets: s.cfg.Prefix + "/assets", Home: s.cfg.Prefix, Person: person, SignOut: own.theme.SignOut,
		Scheme: theme.Chosen(r), Path: s.cfg.Prefix,
	}
	if r.Method == http.MethodGet {
		f.Path = r.URL.RequestURI()
	}
	for _, link := range own.theme.Links {
		f.Links = append(f.Links, look.Link{Text: link.Text, Href: link.Href, Current: link.Href == s.cfg.Prefix})
	}
	if !slices.ContainsFunc(f.Links, func(l look.Link) bool { return l.Current }) {
		f.Links = append(f.Links, look.Link{Text: s.cfg.Name, Href: s.cfg.Prefix, Current: true})
	}
	f.Notice = s.cfg.Notices[r.URL.Query().Get("done")]
	return f
}

// Show responds with a page.
func (s *Site) Show(w http.ResponseWriter, status int, name string, p look.Page) error {
	var page strings.Builder
	if err := s.set.Render(&page, name, p); err != nil {
		return err
	}
	if p.IsLive && look.IsUnchanged(w.Header(), p.Known, page.String()) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.WriteHeader(status)
	_, _ = w.Write([]byte(page.String())) // the person may have left
	return nil
}

// ShowPlain is [Site.Show] for a page without secrets and form tokens, which is compressed.
// The page of a request with a query is not: the query is in it, beside the name of the person,
// and the length of a compressed page would tell what they have in common.
func (s *Site) ShowPlain(w http.ResponseWriter, r *http.Request, name string, p look.Page) error {
	if r.URL.RawQuery != "" || p.IsLive {
		return s.Show(w, http.StatusOK, name, p)
	}
	var page bytes.Buffer
	if err := s.set.Render(&page, name, p); err != nil {
		return err
	}
	compress.Write(w, r, page.Bytes())
	return nil
}

// ShowAgain shows a form again with the errors of its fields. It returns an error that the
// user cannot correct.
func (s *Site) ShowAgain(w http.ResponseWriter, err error, name string, p look.Page) error {
	e, ok := Problems(err)
	if !ok {
		return err
	}
	p.Alerts = e.Messages()
	return s.Show(w, e.Status(), name, p)
}

// Redirect redirects after a change to a page below the prefix. The page shows
// the notice done, unless done is empty.
func (s *Site) Redirect(w http.ResponseWriter, r *http.Request, path, done string) error {
	target := s.cfg.Prefix + path
	if done != "" {
		target += "?" + url.Values{"done": {done}}.Encode()
	}
	http.Redirect(w, r, target, http.StatusSeeOther)
	return nil
}

// Href returns the address of a page from the steps of its path.
func (s *Site) Href(steps ...string) string { return s.cfg.Prefix + Path(steps...) }

// Pager leads on from a page of a list at a path, whose query has what the list is filtered
// by. The next page begins after the cursor next; empty: there is none.
func (s *Site) Pager(path string, query url.Values, next string) (p look.Pager) {
	if query.Get("after") != "" {
		p.First = s.ListAt(path, query, "")
	}
	if next != "" {
		p.Next = s.ListAt(path, query, next)
	}
	return p
}

// ListAt returns the address of a list with a filter, after one of its entries.
func (s *Site) ListAt(path string, query url.Values, after string) string {
	own := make(url.Values, len(query))
	for name, values := range query {
		if name != "after" && name != "done" && values[0] != "" {
			own[name] = values
		}
	}
	if after != "" {
		own.Set("after", after)
	}
	if len(own) == 0 {
		return s.cfg.Prefix + path
	}
	return s.cfg.Prefix + path + "?" + own.Encode()
}

// skin is the look of the page of a request.
type skin struct {
	theme theme.Theme
	nonce string // of the theme's style; empty when it has none
}

// skinKey is the key of the skin in the context of a request.
type skinKey struct{}

// withLook sets the headers of a page and the look that its frame has. Assets have none.
func (s *Site) withLook(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		look.SetHeader(w.Header())
		if strings.HasPrefix(r.URL.Path, s.cfg.Prefix+"/assets/") {
			next.ServeHTTP(w, r)
			return
		}
		own := skin{theme: s.themes.For(r)}
		if own.theme.CSS() != "" || own.theme.StyleSheet != "" {
			own.nonce = rand.Text()
			look.AllowStyle(w.Header(), own.nonce)
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), skinKey{}, own)))
	})
}

func (s *Site) writeFailure(w http.ResponseWriter, r *http.Request, err error) {
	s.errors.WritePage(w, r, err, s.showFailure)
}

func (s *Site) showFailure(w http.ResponseWriter, r *http.Request, f apierror.Failure) error {
	frame := s.Frame(r, http.StatusText(f.Status), s.cfg.Person(r))
	frame.Alerts = []string{f.Message}
	return s.set.Render(w, "failure", look.Page{Frame: frame})
}

// Problems reports whether an error is for the sender of a form to correct: the form is
// shown again with what was entered. A missing page or permission is not.
func Problems(err error) (*apierror.Error, bool) {
	e, ok := errors.AsType[*apierror.Error](err)
	correctable := []int{http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}
	return e, ok && slices.Contains(correctable, e.Status())
}

// IsStatus reports whether an error is one of apierror with a status.
func IsStatus(err error, status int) bool {
	e, ok := errors.AsType[*apierror.Error](err)
	return ok && e.Status() == status
}

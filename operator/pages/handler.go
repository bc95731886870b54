package pages

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
)

// route is a page, or what a form of one posts to.
type route struct {
	pattern string // its path is below the prefix
	handle  func(v *visit) error
}

// visit is one request of an operator.
type visit struct {
	*Pages
	w  http.ResponseWriter
	r  *http.Request
	by operator.Actor

	trail   []look.Link // where the page lies
	heading string      // names what the page is about; empty: the title
}

func allRoutes() []route {
	return slices.Concat(figureRoutes(), appRoutes(), supportRoutes(), reviewRoutes(), documentRoutes(), userRoutes(), auditRoutes())
}

// Patterns returns the patterns of all pages and forms, such as "GET /operator/apps/{appId}".
func (p *Pages) Patterns() []string {
	all := allRoutes()
	patterns := make([]string, len(all))
	for i, one := range all {
		patterns[i] = p.below(one.pattern)
	}
	return patterns
}

// below puts the prefix into a pattern.
func (p *Pages) below(pattern string) string {
	method, path, _ := strings.Cut(pattern, " ")
	return method + " " + p.cfg.Prefix + path
}

// caller is the sender of a request, or the error of finding out.
type caller struct {
	by  operator.Actor
	err error
}

// callerKey is the context key of the caller.
type callerKey struct{}

func callerOf(r *http.Request) caller {
	found, _ := r.Context().Value(callerKey{}).(caller)
	return found
}

// newRoutes serves the pages to operators, and passes other requests to Config.Otherwise.
func (p *Pages) newRoutes() http.Handler {
	mux := http.NewServeMux()
	for _, one := range allRoutes() {
		mux.Handle(p.below(one.pattern), p.site.Page(func(w http.ResponseWriter, r *http.Request) error {
			who := callerOf(r)
			if who.err != nil {
				return who.err
			}
			return one.handle(&visit{Pages: p, w: w, r: r, by: who.by})
		}))
	}
	known := p.site.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, err := p.cfg.Operator.Actor(r)
		if operator.IsNoOperator(err) {
			p.cfg.Otherwise.ServeHTTP(w, r)
			return
		}
		known.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller{by, err})))
	})
}

// ServeHTTP serves everything at and below [Config.Prefix].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.routes.ServeHTTP(w, r) }

// page returns a page in its frame. The title is the last step of the trail.
func (v *visit) page(title string, data any) look.Page {
	f := v.site.Frame(v.r, title, v.by.Name())
	f.Trail, f.SideLabel, f.Heading = v.trail, "Parts of the platform", v.heading
	for _, part := range parts {
		href := v.cfg.Prefix + part.Href
		current := v.r.URL.Path == href || part.Href != "" && strings.HasPrefix(v.r.URL.Path, href+"/")
		f.IsPart = f.IsPart || v.r.URL.Path == href
		f.Side = append(f.Side, look.Link{Text: part.Text, Href: href, Current: current, Group: part.Group, Icon: part.Icon})
	}
	return look.Page{Frame: f, Data: data}
}

func (v *visit) show(name, title string, data any) error {
	return v.site.Show(v.w, http.StatusOK, name, v.page(title, data))
}

// again shows a form again, with what is wrong with what was sent.
func (v *visit) again(err error, name, title string, data any) error {
	return v.site.ShowAgain(v.w, err, name, v.page(title, data))
}

// to leads on after a change.
func (v *visit) to(done string, steps ...string) error {
	return v.site.Redirect(v.w, v.r, site.Path(steps...), done)
}

func (v *visit) form() (bodies.Form, error) { return site.Form(v.r) }

// parts are the sections of the pages.
var parts = []struct{ Text, Href, Group, Icon string }{
	{"Dashboard", "", "", "home"},
	{"Apps", "/apps", "Platform", "apps"},
	{"Reviews", "/reviews", "Platform", "shield"},
	{"Trusted documents", "/trusted-documents", "Platform", "globe"},
	{"People", "/people", "People", "people"},
	{"Audit log", "/audit", "People", "clock"},
}

// notices are the texts that pages show after a change, by the word in the address.
var notices = map[string]string{
	"app-suspended":     "The app was suspended.",
	"app-reactivated":   "The app was reactivated.",
	"app-deactivated":   "The app was deactivated.",
	"review-begun":      "You are now reviewing it.",
	"review-approved":   "It was approved, and counts from now on.",
	"changes-requested": "The developers were asked for changes.",
	"review-rejected":   "It was rejected.",
	"host-trusted":      "The documents of this host count as reviewed now.",
	"host-distrusted":   "The documents of this host no longer count as reviewed.",
	"app-uninstalled":   "The installation was ended.",
	"user-changed":      "The status of the user was changed.",
}

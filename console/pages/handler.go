package pages

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// route is a page, or what a form of one posts to.
type route struct {
	method string
	path   string // below the prefix
	handle func(v *visit) error
}

// visit is one request of somebody who is signed in.
type visit struct {
	*Pages
	w   http.ResponseWriter
	r   *http.Request
	by  console.Actor
	app oauthserver.App // that of the path, if it names one

	trail []look.Link // where the page lies, below the part of the app if it is about one
}

// allRoutes are those of all parts.
func (p *Pages) allRoutes() []route {
	return slices.Concat(
		appRoutes(), settingsRoutes(), secretRoutes(), webhookListRoutes(), webhookRoutes(), deliveryRoutes(), p.clockRoutes(),
		overviewRoutes(), fieldRoutes(), listingRoutes(), assetRoutes(),
		extensionRoutes(), functionRoutes(), analyticsRoutes(), auditRoutes(), registrationRoutes(),
	)
}

func (p *Pages) newRoutes() http.Handler {
	mux := http.NewServeMux()
	for _, one := range p.allRoutes() {
		mux.Handle(one.method+" "+p.cfg.Prefix+one.path, p.page(one.handle))
	}
	mux.Handle("GET "+p.cfg.Prefix+"/assets/", http.StripPrefix(p.cfg.Prefix+"/assets", p.errors.PageMux(p.showFailure, look.Assets())))
	return p.errors.ValidPath(p.errors.PageMux(p.showFailure, mux))
}

// ServeHTTP serves everything at and below [Config.Prefix].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	look.SetHeader(w.Header())
	p.routes.ServeHTTP(w, r)
}

// page finds out who asks, and for which app; who is not signed in signs in first.
func (p *Pages) page(handle func(v *visit) error) http.Handler {
	return p.errors.Page(p.showFailure, func(w http.ResponseWriter, r *http.Request) error {
		if err := p.csrf.Check(r); err != nil {
			return apierror.Forbidden("This request came from another site")
		}
		if !isText(r.URL.RawQuery) {
			return apierror.Invalid("the query is not valid UTF-8 without NUL")
		}
		by, err := p.cfg.Console.Actor(r)
		if isStatus(err, http.StatusUnauthorized) {
			returnTo := p.cfg.Prefix
			if r.Method == http.MethodGet || r.Method == http.MethodHead {
				returnTo = r.URL.RequestURI()
			}
			p.cfg.SignIn(w, r, returnTo)
			return nil
		}
		if err != nil {
			return err
		}
		v := &visit{Pages: p, w: w, r: r, by: by}
		if appID := r.PathValue("appId"); appID != "" {
			if v.app, err = p.cfg.Console.App(r.Context(), by, appID); err != nil {
				return err
			}
		}
		return handle(v)
	})
}

// show answers with a page. Its title is the last step of the trail.
func (v *visit) show(name, title string, data any) error {
	return v.answer(http.StatusOK, name, v.frame(title), data)
}

// again shows a form once more, with what is wrong with what was sent. Whatever is
// not the sender's to mend stays an error.
func (v *visit) again(err error, name, title string, data any) error {
	e, ok := problems(err)
	if !ok {
		return err
	}
	frame := v.frame(title)
	frame.Alerts = e.Messages()
	return v.answer(e.Status(), name, frame, data)
}

func (v *visit) answer(status int, name string, frame look.Frame, data any) error {
	var page buffer
	if err := v.set.Render(&page, name, look.Page{Frame: frame, Data: data}); err != nil {
		return err
	}
	v.w.WriteHeader(status)
	_, _ = v.w.Write(page) // the person may have left
	return nil
}

// to leads on after something was done: to a page below the prefix, which says so.
func (v *visit) to(path, done string) error {
	target := v.cfg.Prefix + path
	if done != "" {
		target += "?" + url.Values{"done": {done}}.Encode()
	}
	http.Redirect(v.w, v.r, target, http.StatusSeeOther)
	return nil
}

// path joins escaped steps to a path below the prefix.
func path(steps ...string) string {
	var joined string
	for _, step := range steps {
		joined += "/" + url.PathEscape(step)
	}
	return joined
}

func (p *Pages) showFailure(w http.ResponseWriter, r *http.Request, f apierror.Failure) error {
	frame := p.outer(r, http.StatusText(f.Status))
	frame.Alerts = []string{f.Message}
	return p.set.Render(w, "failure", look.Page{Frame: frame})
}

// functions are what templates may call besides those of package look.
func (p *Pages) functions() template.FuncMap {
	return template.FuncMap{
		"href": func(steps ...string) string { return p.cfg.Prefix + path(steps...) },
		"now":  p.cfg.Clock.Now,

		"clockSteps": p.clockSteps,
		"grouped":    grouped,
		"add":        func(a, b int) int { return a + b },
	}
}

type buffer []byte

func (b *buffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

package pages

import (
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

// route is a page, or what a form of one posts to.
type route struct {
	method string
	path   string // below the prefix
	handle func(v *visit) error
}

// visit is one request of a signed-in user.
type visit struct {
	*Pages
	w   http.ResponseWriter
	r   *http.Request
	by  console.Actor
	app partner.App // that of the path, if it names one

	alerts []string // above a form with problems, see mend; nil: all messages of its error

	trail   []look.Link // where the page lies, below the part of the app if it is about one
	heading string      // names what the page is about; empty: the app and the title
	others  []look.Link // apps that the switch leads to
}

// allRoutes returns the routes of all parts.
func (p *Pages) allRoutes() []route {
	return slices.Concat(
		appRoutes(), settingsRoutes(), secretRoutes(), webhookListRoutes(), webhookRoutes(), deliveriesRoutes(), deliveryRoutes(), p.clockRoutes(), p.recordRoutes(),
		overviewRoutes(), fieldRoutes(), listingRoutes(), reviewRoutes(), assetRoutes(),
		extensionRoutes(), functionRoutes(), installationRoutes(), analyticsRoutes(), usageRoutes(), limitRoutes(), auditRoutes(), registrationRoutes(), tokenRoutes(), requestRoutes(), exportRoutes(), startRoutes(), p.explorerRoutes(), searchRoutes(),
	)
}

func (p *Pages) newRoutes() http.Handler {
	mux := http.NewServeMux()
	for _, one := range p.allRoutes() {
		mux.Handle(one.method+" "+p.cfg.Prefix+one.path, p.page(one.handle))
	}
	return p.site.Handler(mux)
}

// ServeHTTP serves everything at and below [Config.Prefix].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.routes.ServeHTTP(w, r)
}

// page finds out who asks, and for which app; who is not signed in signs in first.
func (p *Pages) page(handle func(v *visit) error) http.Handler {
	return p.site.Page(func(w http.ResponseWriter, r *http.Request) error {
		by, err := p.cfg.Console.Actor(r)
		if site.IsStatus(err, http.StatusUnauthorized) && !console.HasToken(r) { // a script cannot sign in
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

// show responds with a page. Its title is the last step of the trail.
func (v *visit) show(name, title string, data any) error {
	if err := v.findOthers(); err != nil {
		return err
	}
	return v.site.Show(v.w, http.StatusOK, name, look.Page{Frame: v.frame(title), Data: data})
}

// showPlain is show for a large page without secrets, which is compressed.
func (v *visit) showPlain(name, title string, data any) error {
	if err := v.findOthers(); err != nil {
		return err
	}
	return v.site.ShowPlain(v.w, v.r, name, look.Page{Frame: v.frame(title), Data: data})
}

// again shows a form again, with the problems of the values that were sent. It returns
// errors that the sender cannot correct.
func (v *visit) again(err error, name, title string, data any) error {
	if err := v.findOthers(); err != nil {
		return err
	}
	page := look.Page{Frame: v.frame(title), Data: data}
	e, ok := site.Problems(err)
	if !ok || v.alerts == nil {
		return v.site.ShowAgain(v.w, err, name, page)
	}
	page.Alerts = v.alerts
	return v.site.Show(v.w, e.Status(), name, page)
}

// to leads on after something was done: to a page below the prefix, which says so.
func (v *visit) to(path, done string) error { return v.site.Redirect(v.w, v.r, path, done) }

// path joins escaped steps to a path below the prefix.
func path(steps ...string) string { return site.Path(steps...) }

// person returns the name of the person who is signed in; empty if there is none.
func (p *Pages) person(r *http.Request) string {
	by, _ := p.cfg.Console.Actor(r)
	return by.Name()
}

// functions are template functions, besides those of package look.
func (p *Pages) functions() template.FuncMap {
	return template.FuncMap{
		"now":        p.cfg.Clock.Now,
		"clockSteps": p.clockSteps,
		"add":        func(a, b int) int { return a + b },

		"ago":           func(at time.Time) string { return look.Ago(at, p.cfg.Clock.Now()) },
		"statuses":      func() []partner.DeliveryStatus { return statuses },
		"deliveryBadge": deliveryBadge,
		"maxAttempts":   p.cfg.Console.MaxAttempts,
		"entryOf":       func(name, label string, e entry) field { return field{ID: name, Name: name, Label: label, Entry: e} },
		"again":         againField,
		"failureRate":   failureRate,
		"attempts":      attempts,
		"endpoint":      endpoint,
	}
}

// named returns businesses by id, with the names of those that have connected the app.
func (v *visit) named(businessIDs []string) (map[string]look.Named, error) {
	names, err := v.cfg.Console.BusinessNames(v.r.Context(), v.by, v.app.ID, businessIDs...)
	if err != nil {
		return nil, err
	}
	all := make(map[string]look.Named, len(businessIDs))
	for _, id := range businessIDs {
		all[id] = look.Named{ID: id, Name: names[id]}
	}
	return all, nil
}

// idsOf returns an id of each of some things.
func idsOf[T any](all []T, id func(T) string) []string {
	ids := make([]string, 0, len(all))
	for _, one := range all {
		ids = append(ids, id(one))
	}
	return ids
}

package pages

import (
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

func overviewRoutes() []route {
	return []route{{"GET", "/apps/{appId}", (*visit).showApp}}
}

// recentDays is how many days the figures of the overview are about.
const recentDays = 7

type overviewView struct {
	App          partner.App
	ReadOnly     bool
	Badge        look.Badge
	Organization string
	Scopes       []scopeChoice // those of the app
	dashboard
	HasCalled bool // the app has called the API
	Waits     bool // something of the app waits for a review
	Todo      []todo
	IsReady   bool // all of it is done
}

// todo is something to do before an app is complete.
type todo struct {
	Text, Why string
	Path      string // below the app's own
	Done      bool
}

// showApp is how an app stands, and what to do next.
func (v *visit) showApp() error {
	ctx := v.r.Context()
	report, err := v.cfg.Console.Report(ctx, v.by, v.app.ID, recentDays)
	if err != nil {
		return err
	}
	hooks, err := v.cfg.Console.Webhooks(ctx, v.by, v.app.ID)
	if err != nil {
		return err
	}
	called, err := v.hasCalled(report)
	if err != nil {
		return err
	}
	listing, err := v.listing()
	if err != nil {
		return err
	}
	data := overviewView{
		App: v.app, ReadOnly: v.isReadOnly(), Badge: site.AppBadge(v.app), Organization: v.organization(v.app.OrganizationID),
		Waits: waits(v.app), HasCalled: called, Todo: todoList(v.app, len(hooks), listing, called),
	}
	if data.dashboard, err = v.dashboard(hooks); err != nil {
		return err
	}
	data.IsReady = !slices.ContainsFunc(data.Todo, func(t todo) bool { return !t.Done })
	for _, scope := range v.scopes(v.app.Scopes.Names()) {
		if scope.Checked {
			data.Scopes = append(data.Scopes, scope)
		}
	}
	return v.show("overview", "Overview", data)
}

// hasCalled reports whether the app has called the API: on the days of the report, or in one
// of the first businesses that connected it.
func (v *visit) hasCalled(report analytics.Report) (bool, error) {
	if report.Totals.Calls > 0 {
		return true, nil
	}
	page, err := v.cfg.Console.Installations(v.r.Context(), v.by, v.app.ID, console.Page{Limit: 5})
	return slices.ContainsFunc(page.Items, func(i console.Installation) bool { return !i.LastUsedAt.IsZero() }), err
}

// listing returns the listing of the app, or nil if it has none.
func (v *visit) listing() (*consolestore.Listing, error) {
	listing, err := v.cfg.Console.Listing(v.r.Context(), v.by, v.app.ID)
	if site.IsStatus(err, http.StatusNotFound) {
		return nil, nil //nolint:nilnil // that there is none is no error
	}
	return &listing, err
}

// organization returns the name of one of the person's organizations.
func (v *visit) organization(id string) string {
	for _, o := range v.by.Organizations() {
		if o.ID == id {
			return o.Name
		}
	}
	return id
}

// todoList lists what there is to do for an app, in the order in which to do it.
func todoList(app partner.App, hooks int, listing *consolestore.Listing, called bool) []todo { //nolint:revive // what is done, not a switch
	return []todo{
		{"Add a redirect URI", "People return there after they have connected the app.", "/settings", len(app.RedirectURIs) > 0},
		{"Choose scopes", "The app can request only the scopes that you choose.", "/settings", len(app.Scopes.Names()) > 0},
		{"Make the first call", "One click gives a token for a sandbox business.", "/start", called},
		{"Add a webhook", "It receives the events of the businesses that connect.", "/webhooks", hooks > 0},
		{"Create a listing for the marketplace", "A name, a summary and a description, with images.", "/listing", listing != nil},
		{"Submit the listing", "Once it is approved any business can connect.", "/listing", listing != nil && (listing.Live != nil || listing.Revision.State != consolestore.RevisionDraft)},
	}
}

package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/samples"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

func startRoutes() []route {
	return []route{
		{"GET", "/apps/{appId}/start", (*visit).showStart},
		{"POST", "/apps/{appId}/start/token", (*visit).startToken},
		{"GET", "/apps/{appId}/start/call", (*visit).showFirstCall},
	}
}

const (
	startTitle     = "Quick start"
	firstCallTitle = "First call"
)

// startView is the first call of an app, with a token for a sandbox business.
type startView struct {
	App        partner.App
	ReadOnly   bool
	QuickStart quickStart // the connection with the app's own code
	Businesses []oauthserver.Business
	BusinessID string // the chosen one
	Token      *oauthserver.SandboxToken
	Call       string           // the URL of the first call; empty: no route is known
	Samples    []samples.Sample // of the first call
	Waiting    waitingView
}

// waitingView is the first call, as soon as it was received.
type waitingView struct {
	Address  string // of the page that shows it
	Received *requestRow
}

func (v *visit) showStart() error {
	view, err := v.start()
	if err != nil {
		return err
	}
	return v.show("start", startTitle, view)
}

// noToken stands for the token in samples until there is one.
const noToken = "YOUR_ACCESS_TOKEN"

func (v *visit) start() (startView, error) {
	view := startView{App: v.app, ReadOnly: v.isReadOnly()}
	var err error
	if view.QuickStart, err = v.quickStart(); err != nil || view.ReadOnly {
		return view, err
	}
	if view.Businesses, err = v.cfg.Console.SandboxBusinesses(v.r.Context(), v.by, v.app.ID); err != nil {
		return view, err
	}
	if len(view.Businesses) > 0 {
		view.BusinessID, view.QuickStart.IsOpen = view.Businesses[0].ID, false
	}
	if path := v.firstRead(); path != "" {
		api, _ := v.cfg.Console.Origins()
		view.Call = api + path
		view.Samples = samples.Calls(samples.Call{Method: http.MethodGet, URL: view.Call, Token: noToken})
	}
	return view, nil
}

// firstRead is the path of a GET route that the app may call; empty if none is known.
func (v *visit) firstRead() string {
	i := slices.IndexFunc(v.cfg.Reads, func(r Read) bool { return v.app.Scopes.Has(r.Scope) })
	if i < 0 {
		return ""
	}
	return v.cfg.Reads[i].Path
}

// startToken connects the app to a sandbox business and shows the token, this once.
func (v *visit) startToken() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	view, err := v.start()
	if err != nil {
		return err
	}
	view.BusinessID = cmp.Or(form.Get("business_id"), view.BusinessID)
	// A call that comes in the same millisecond counts.
	since := v.cfg.Clock.Now().Truncate(time.Millisecond)
	token, err := v.cfg.Console.SandboxToken(v.r.Context(), v.by, v.app.ID, view.BusinessID)
	if err != nil {
		return v.again(err, "start", startTitle, view)
	}
	view.Token = &token
	if view.Call != "" {
		view.Samples = samples.Calls(samples.Call{Method: http.MethodGet, URL: view.Call, Token: token.AccessToken})
	}
	view.Waiting.Address = v.cfg.Prefix + path("apps", v.app.ID, "start", "call") + "?" + url.Values{"since": {since.UTC().Format(time.RFC3339Nano)}, "businessId": {token.Business.ID}}.Encode()
	return v.show("start", startTitle, view)
}

// showFirstCall shows whether a call has come in a business since a time.
func (v *visit) showFirstCall() error {
	q := v.r.URL.Query()
	since, err := time.Parse(time.RFC3339Nano, q.Get("since"))
	if err != nil {
		return v.to(path("apps", v.app.ID, "start"), "")
	}
	calls, err := v.cfg.Console.Requests(v.r.Context(), v.by, v.app.ID, console.RequestFilter{Since: since, BusinessID: q.Get("businessId")}, console.Page{Limit: 1})
	if err != nil && !site.IsStatus(err, http.StatusBadRequest) {
		return err
	}
	view := startView{App: v.app, Waiting: waitingView{Address: v.r.URL.RequestURI()}}
	for _, call := range calls.Items {
		view.Waiting.Received = new(newRequestRow(call))
	}
	return v.show("start_call", firstCallTitle, view)
}

package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
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

// quickStart is the commands of an app's first connection. None of them contains a secret:
// the shell has it in a variable.
type quickStart struct {
	IsOpen    bool // no business has connected the app
	Lacks     bool // a redirect URI or a scope
	Redirect  string
	Authorize string // prints the URL of the consent page
	Exchange  string
	Call      string // empty: no route is known
	Variables string // that the developer sets before Exchange
	Samples   []sample
}

// sample verifies the signature of a webhook in a language.
type sample struct{ Language, Source string }

var verification = []sample{{"Go", samples.Go}, {"Node.js", samples.Node}, {"Python", samples.Python}}

func (v *visit) quickStart() (quickStart, error) {
	if v.isReadOnly() {
		return quickStart{}, nil
	}
	connected, err := v.cfg.Console.Installations(v.r.Context(), v.by, v.app.ID, console.Page{Limit: 1})
	if err != nil {
		return quickStart{}, err
	}
	q := quickStart{IsOpen: len(connected.Items) == 0, Samples: verification}
	scopes := v.app.Scopes.Names()
	if len(v.app.RedirectURIs) == 0 || len(scopes) == 0 {
		q.Lacks = true
		return q, nil
	}
	api, app := v.cfg.Console.Origins()
	q.Redirect = v.app.RedirectURIs[0]
	q.Authorize = authorizeCommand(app, v.app.ClientID, q.Redirect, scopes)
	credentials, variables, err := v.credentials()
	if err != nil {
		return quickStart{}, err
	}
	q.Exchange, q.Variables = exchangeCommand(api, credentials, q.Redirect), variables
	if i := slices.IndexFunc(v.cfg.Reads, func(r Read) bool { return slices.Contains(scopes, r.Scope) }); i >= 0 {
		q.Call = `curl -s -H "Authorization: Bearer $ACCESS_TOKEN" ` + api + v.cfg.Reads[i].Path
	}
	return q, nil
}

// authorizeCommand prints the URL of the consent page. In an escaped value no character means
// anything to a shell.
func authorizeCommand(app, clientID, redirect string, scopes []string) string {
	return `VERIFIER=$(openssl rand -base64 48 | tr '+/' '-_')
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')
STATE=$(openssl rand -hex 16)
echo "` + app + `/oauth/authorize?response_type=code&client_id=` + url.QueryEscape(clientID) + `&redirect_uri=` + url.QueryEscape(redirect) +
		`&scope=` + url.QueryEscape(strings.Join(scopes, " ")) + `&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256"`
}

func exchangeCommand(api, credentials, redirect string) string {
	return `curl -s ` + api + `/oauth/token ` + credentials + ` \
  -d grant_type=authorization_code -d code="$CODE" \
  -d redirect_uri=` + url.QueryEscape(redirect) + ` -d code_verifier="$VERIFIER"`
}

// credentials are the options of curl that authenticate the app, and the variables that the
// developer sets for the exchange. A confidential app without a secret signs with its own key.
func (v *visit) credentials() (options, variables string, err error) {
	id := url.QueryEscape(v.app.ClientID)
	if v.app.Type == partner.Public {
		return "-d client_id=" + id, "CODE", nil
	}
	secrets, err := v.cfg.Console.Secrets(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return "", "", err
	}
	if len(secrets) == 0 {
		return `-d client_id=` + id + ` \
  -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
  -d client_assertion="$CLIENT_ASSERTION"`, "CODE and CLIENT_ASSERTION", nil
	}
	return "-u " + id + `:"$CLIENT_SECRET"`, "CODE and CLIENT_SECRET", nil
}

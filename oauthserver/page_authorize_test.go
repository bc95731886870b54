package oauthserver_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	notFoundOrExpired = "invalid_request: authorization request not found or expired"
	notRegistered     = "redirect_uri does not match any registered URI"
	notReviewed       = "This app has not completed review and can only connect to its own sandbox businesses"
	notPermitted      = "You do not have permission to connect apps to this business"
	notThisSession    = "invalid_request: csrf_token is not valid for this session; open the page again and decide there"
)

func public(a *partner.App)     { a.Type = partner.Public }
func unreviewed(a *partner.App) { a.Reviewed = false }

func registered(uris ...string) func(*partner.App) {
	return func(a *partner.App) { a.RedirectURIs = uris }
}

// AZ-01: the page names the app, the businesses and each scope in plain words, with
// Allow and Deny; the session's business is preselected (AZ-12).
func TestConsentPage_AZ01(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	p := e.browser(t).signIn("usr_owner", "biz_bikes").ask(app, withParam("scope", "invoices:write customers:read invoices:write")).wantOK()
	for _, want := range []string{
		"Ledger Sync", "Create and change invoices", "See your customers", "Corner Bakery", "Harbour Bikes", "partner.example",
		`name="decision" value="allow" class="primary">Allow<`, `name="decision" value="deny" formnovalidate>Deny<`,
	} {
		if !strings.Contains(p.Body, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if n := strings.Count(p.Body, "Create and change invoices"); n != 1 { // AZ-06: duplicates collapse
		t.Errorf("a scope is shown %d times", n)
	}
	if strings.Index(p.Body, "Create and change invoices") > strings.Index(p.Body, "See your customers") { // AZ-06: order is kept
		t.Error("the scopes are in another order")
	}
	if strings.Contains(p.Body, "See your invoices") {
		t.Error("the page shows a scope that was not asked for")
	}
	action, form := p.form()
	if action != "/oauth/authorize" || form.Get("business_id") != "biz_bikes" {
		t.Errorf("form to %q with business %q preselected", action, form.Get("business_id"))
	}
	if diff := cmp.Diff([]string{"biz_bakery", "biz_bikes", "biz_sandbox", "biz_other"}, p.choices()); diff != "" { // AZ-12: not biz_guest
		t.Errorf("businesses (-want +got):\n%s", diff)
	}
}

// AZ-01: sign-in first, then back to the same request. AZ-14: the request is validated
// before sign-in, and the binding to the browser survives the new session.
func TestSignInFirst_AZ01_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t)
	b.ask(app, withParam("scope", "journal:read")).wantRefusal(400, "Requested scopes not permitted for this client")
	p := b.ask(app, withParam("state", "s1"))
	login, err := url.Parse(p.location)
	if err != nil || p.Status != http.StatusSeeOther || login.Path != "/login" {
		t.Fatalf("%d to %q", p.Status, p.location)
	}
	for _, name := range []string{"Content-Security-Policy", "X-Frame-Options"} {
		if p.Header.Get(name) != "" {
			t.Errorf("the host's sign-in page gets our %s", name)
		}
	}
	returnTo := login.Query().Get("return_to")
	if !regexp.MustCompile(`^/oauth/authorize\?sealed_request=[A-Za-z0-9_-]+$`).MatchString(returnTo) {
		t.Fatalf("return_to %q", returnTo)
	}
	if p := b.get(returnTo); p.Status != http.StatusSeeOther || !strings.HasPrefix(p.location, "/login") {
		t.Errorf("still signed out: %d to %q", p.Status, p.location)
	}
	b.signIn("usr_owner", "biz_bakery")
	b.get(returnTo).wantOK()
	b.get(returnTo).wantOK() // reloading
	response := b.submit(b.get(returnTo), "allow").wantCallback(pageCallback)
	if response.Get("state") != "s1" || response.Get("code") == "" {
		t.Errorf("answer %v", response)
	}
	if n := e.count(t, "authorization_request"); n != 1 {
		t.Errorf("%d requests are held, want 1", n)
	}
}

// AZ-02, AZ-03, AZ-04: every failure is a page with its text, never a redirect, checked in
// order: client_id, redirect_uri, the rest. AZ-05 to AZ-08, AZ-15 too.
func TestAuthorizeRefusals_AZ02_AZ03_AZ04(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	confidential, spa := e.app(t), e.app(t, public)
	suspended := e.app(t, func(a *partner.App) { a.Status = partner.AppSuspended })
	deactivated := e.app(t, func(a *partner.App) { a.Status = partner.AppDeactivated })
	const (
		client     = "Invalid client_id"
		scopes     = "Requested scopes not permitted for this client"
		pkce       = "PKCE is required for public clients"
		target     = "invalid_target"
		targetLong = "invalid_target: resource must be one absolute URI of at most 512 characters"
		challenge  = "invalid_request: code_challenge is not the base64url form of a SHA-256"
		badScope   = "invalid_request: scope is not a list of scopes with spaces between them"
	)
	for name, test := range map[string]struct {
		app    partner.App
		change []func(url.Values)
		want   string
	}{
		"unknown client":                {confidential, []func(url.Values){withParam("client_id", "cli_none")}, client},
		"no client":                     {confidential, []func(url.Values){withoutParams("client_id")}, client},
		"empty client":                  {confidential, []func(url.Values){withParam("client_id", "")}, client},
		"client with NUL":               {confidential, []func(url.Values){withParam("client_id", "cli\x00")}, client},
		"client not UTF-8":              {confidential, []func(url.Values){withParam("client_id", "\xff\xfe")}, client},
		"long client":                   {confidential, []func(url.Values){withParam("client_id", strings.Repeat("x", 513))}, client},
		"suspended (APP-01)":            {suspended, nil, client},
		"deactivated (APP-01)":          {deactivated, nil, client},
		"client before redirect":        {confidential, []func(url.Values){withParam("client_id", "x"), withParam("redirect_uri", "https://evil.example")}, client},
		"client twice":                  {confidential, []func(url.Values){withParam("client_id", confidential.ClientID, confidential.ClientID)}, "invalid_request: client_id was sent more than once"},
		"no redirect":                   {confidential, []func(url.Values){withoutParams("redirect_uri")}, notRegistered},
		"other redirect":                {confidential, []func(url.Values){withParam("redirect_uri", "https://evil.example/cb")}, notRegistered},
		"redirect with slash":           {confidential, []func(url.Values){withParam("redirect_uri", pageCallback+"/")}, notRegistered},
		"redirect with query":           {confidential, []func(url.Values){withParam("redirect_uri", pageCallback+"?a=b")}, notRegistered},
		"redirect with fragment":        {confidential, []func(url.Values){withParam("redirect_uri", pageCallback+"#x")}, notRegistered},
		"redirect in upper case":        {confidential, []func(url.Values){withParam("redirect_uri", "https://PARTNER.example/cb")}, notRegistered},
		"redirect with default port":    {confidential, []func(url.Values){withParam("redirect_uri", "https://partner.example:443/cb")}, notRegistered},
		"redirect with user":            {confidential, []func(url.Values){withParam("redirect_uri", "https://x@partner.example/cb")}, notRegistered},
		"redirect by folding":           {confidential, []func(url.Values){withParam("redirect_uri", "https://partner.example/\u212ab")}, notRegistered},
		"redirect with NUL":             {confidential, []func(url.Values){withParam("redirect_uri", pageCallback+"\x00")}, notRegistered},
		"redirect twice":                {confidential, []func(url.Values){withParam("redirect_uri", pageCallback, "https://evil.example")}, "invalid_request: redirect_uri was sent more than once"},
		"redirect before scope":         {confidential, []func(url.Values){withParam("redirect_uri", "https://evil.example"), withoutParams("scope", "response_type")}, notRegistered},
		"no response type":              {confidential, []func(url.Values){withoutParams("response_type")}, "invalid_request: response_type is missing"},
		"response type token":           {confidential, []func(url.Values){withParam("response_type", "token")}, "invalid_request: response_type must be code"},
		"response type code id_token":   {confidential, []func(url.Values){withParam("response_type", "code id_token")}, "invalid_request: response_type must be code"},
		"response type twice (AZ-15)":   {confidential, []func(url.Values){withParam("response_type", "code", "code")}, "invalid_request: response_type was sent more than once"},
		"no scope (AZ-06)":              {confidential, []func(url.Values){withoutParams("scope")}, "invalid_request: scope is missing"},
		"empty scope (AZ-06)":           {confidential, []func(url.Values){withParam("scope", "")}, "invalid_request: scope is missing"},
		"spaces only (AZ-18)":           {confidential, []func(url.Values){withParam("scope", "  ")}, "invalid_request: scope is missing"},
		"tab between scopes":            {confidential, []func(url.Values){withParam("scope", "invoices:read\tcustomers:read")}, badScope},
		"malformed scope":               {confidential, []func(url.Values){withParam("scope", `in"voices`)}, badScope},
		"scope with NUL":                {confidential, []func(url.Values){withParam("scope", "a\x00")}, "invalid_request: scope is not valid percent-encoded UTF-8"},
		"scope not registered":          {confidential, []func(url.Values){withParam("scope", "invoices:read journal:read")}, scopes},
		"scope unknown":                 {confidential, []func(url.Values){withParam("scope", "<script>")}, scopes},
		"scope internal":                {confidential, []func(url.Values){withParam("scope", "internal:admin")}, scopes},
		"scope twice (AZ-15)":           {confidential, []func(url.Values){withParam("scope", "invoices:read", "customers:read")}, "invalid_request: scope was sent more than once"},
		"public without PKCE (AZ-07)":   {spa, []func(url.Values){withoutParams("code_challenge", "code_challenge_method")}, pkce},
		"public with empty challenge":   {spa, []func(url.Values){withParam("code_challenge", "")}, pkce},
		"public with plain (AZ-07)":     {spa, []func(url.Values){withParam("code_challenge_method", "plain")}, "invalid_request: code_challenge_method must be S256"},
		"plain (AZ-07)":                 {confidential, []func(url.Values){withParam("code_challenge_method", "plain")}, "invalid_request: code_challenge_method must be S256"},
		"method in lower case":          {confidential, []func(url.Values){withParam("code_challenge_method", "s256")}, "invalid_request: code_challenge_method must be S256"},
		"no method (AZ-07)":             {confidential, []func(url.Values){withoutParams("code_challenge_method")}, "invalid_request: code_challenge_method is missing"},
		"method alone":                  {confidential, []func(url.Values){withoutParams("code_challenge")}, "invalid_request: code_challenge is missing"},
		"short challenge (AZ-07)":       {confidential, []func(url.Values){withParam("code_challenge", pageChallenge[1:])}, challenge},
		"padded challenge (AZ-07)":      {confidential, []func(url.Values){withParam("code_challenge", pageChallenge+"=")}, challenge},
		"challenge, line feed (AZ-07)":  {confidential, []func(url.Values){withParam("code_challenge", pageChallenge[1:]+"\n")}, challenge},
		"challenge, CR LF (AZ-07)":      {confidential, []func(url.Values){withParam("code_challenge", "\r\n"+pageChallenge[2:])}, challenge},
		"challenge, line feed, 44":      {confidential, []func(url.Values){withParam("code_challenge", pageChallenge+"\n")}, challenge},
		"challenge in base64 (AZ-07)":   {confidential, []func(url.Values){withParam("code_challenge", "+"+pageChallenge[1:])}, challenge},
		"challenge twice (AZ-15)":       {confidential, []func(url.Values){withParam("code_challenge", pageChallenge, pageChallenge)}, "invalid_request: code_challenge was sent more than once"},
		"resource elsewhere (AZ-08)":    {confidential, []func(url.Values){withParam("resource", "https://evil.example/")}, target},
		"resource relative (AZ-08)":     {confidential, []func(url.Values){withParam("resource", "/invoices")}, target},
		"resource with fragment":        {confidential, []func(url.Values){withParam("resource", pageAPI+"/#x")}, target},
		"resource with empty fragment":  {confidential, []func(url.Values){withParam("resource", pageAPI+"/#")}, target},
		"resource empty":                {confidential, []func(url.Values){withParam("resource", "")}, target},
		"resource on another port":      {confidential, []func(url.Values){withParam("resource", pageAPI+":8443/")}, target},
		"resource twice (AZ-08)":        {confidential, []func(url.Values){withParam("resource", pageAPI, pageAPI)}, targetLong},
		"resource of 513 (AZ-08)":       {confidential, []func(url.Values){withParam("resource", longResource(513))}, targetLong},
		"state twice (AZ-15)":           {confidential, []func(url.Values){withParam("state", "a", "b")}, "invalid_request: state was sent more than once"},
		"state too long":                {confidential, []func(url.Values){withParam("state", strings.Repeat("x", 4097))}, "invalid_request: state is longer than 4096 bytes"},
		"AZ-17 query of 8193 bytes":     {confidential, []func(url.Values){padQuery(8193)}, "invalid_request: query is longer than 8192 bytes"},
		"AZ-17 long query, wrong URI":   {confidential, []func(url.Values){padQuery(9000), withParam("redirect_uri", "https://p.example/")}, notRegistered},
		"unknown one twice (AZ-15)":     {confidential, []func(url.Values){withParam("nonce", "a", "b")}, "invalid_request: nonce was sent more than once"},
		"hostile name twice (AZ-15)":    {confidential, []func(url.Values){withParam("<b>\n", "a", "b")}, "invalid_request: a parameter was sent more than once"},
		"request id beside a client id": {confidential, []func(url.Values){withParam("request_id", "pk_req_x"), withParam("client_id", "x")}, client},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, b := range []*pageBrowser{e.browser(t), e.browser(t).signIn("usr_owner", "biz_bakery")} { // AZ-14: signed in or not
				b.ip = "2001:db8:" + url.QueryEscape(b.ip[len(b.ip)-1:]) + "::1"
				b.ask(test.app, test.change...).wantRefusal(http.StatusBadRequest, test.want)
			}
		})
	}
}

// padQuery makes the query as long as this with a parameter that we do not know.
func padQuery(length int) func(url.Values) {
	return func(v url.Values) {
		v.Set("pad", "")
		v.Set("pad", strings.Repeat("x", length-len(v.Encode())))
	}
}

func longResource(length int) string {
	return pageAPI + "/" + strings.Repeat("x", length-len(pageAPI)-1)
}

// What is right is not refused.
func TestAuthorizeAccepts(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	confidential, spa := e.app(t), e.app(t, public)
	for name, test := range map[string]struct {
		app    partner.App
		change func(url.Values)
	}{
		"confidential without PKCE":    {confidential, withoutParams("code_challenge", "code_challenge_method")},
		"public with S256 (AZ-07)":     {spa, withParam("code_challenge", pageChallenge)},
		"without state":                {confidential, withoutParams("state")},
		"AZ-17_long_state":             {confidential, withParam("state", strings.Repeat("x", 4096))},
		"AZ-17_encoded_state":          {confidential, withParam("state", strings.Repeat("\x00", 2500))},
		"AZ-17_query_of_8_KiB":         {confidential, padQuery(8192)},
		"resource (AZ-08)":             {confidential, withParam("resource", pageAPI+"/any/path?x=1")},
		"resource of the origin alone": {confidential, withParam("resource", pageAPI)},
		"resource of 512 (AZ-08)":      {confidential, withParam("resource", longResource(512))},
		"what we do not know":          {confidential, withParam("prompt", "\xff;")},
		"a request object":             {confidential, withParam("request", "eyJ")},
		"all its scopes":               {confidential, withParam("scope", confidential.Scopes.String())},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e.browser(t).signIn("usr_owner", "biz_bakery").ask(test.app, test.change).wantOK()
		})
	}
}

// AZ-05: the port of a loopback redirect URI may differ for the apps that the option
// selects, at the request and at the decision.
func TestLoopbackPorts_AZ05(t *testing.T) {
	t.Parallel()
	document := func(a *partner.App) {
		public(a)
		a.Origin, a.ClientID, a.OrganizationID = partner.OriginDocument, "https://agent.example/client.json", ""
	}
	for name, test := range map[string]struct {
		option   oauthserver.LoopbackPorts
		app      func(*partner.App)
		uri      string
		accepted bool
	}{
		"document":               {"", document, "http://127.0.0.1:49152/cb", true},
		"document, other path":   {"", document, "http://127.0.0.1:49152/other", false},
		"document, other host":   {"", document, "http://localhost:49152/cb", false},
		"document, with a query": {"", document, "http://127.0.0.1:49152/cb?x", false},
		"document, option off":   {oauthserver.LoopbackPortsOff, document, "http://127.0.0.1:49152/cb", false},
		"document, port 0":       {"", document, "http://127.0.0.1:0/cb", false},
		"document, leading zero": {"", document, "http://127.0.0.1:05000/cb", false},
		"document, port 99999":   {"", document, "http://127.0.0.1:99999/cb", false},
		"document, port 65535":   {"", document, "http://127.0.0.1:65535/cb", true},
		"document, empty port":   {"", document, "http://127.0.0.1:/cb", false},
		"console":                {"", public, "http://127.0.0.1:49152/cb", false},
		"console, option all":    {oauthserver.LoopbackPortsAll, public, "http://127.0.0.1:49152/cb", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t, func(c *oauthserver.Config) { c.LoopbackPorts = test.option })
			app := e.app(t, test.app, registered("http://127.0.0.1/cb"))
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.ask(app, withParam("redirect_uri", test.uri))
			if !test.accepted {
				p.wantRefusal(400, notRegistered)
				return
			}
			if code := b.submit(p.wantOK(), "allow").wantCallback(test.uri).Get("code"); code == "" {
				t.Error("no code")
			}
		})
	}
}

// CIMD-03: the page shows the host of a client_id that is a URL.
func TestDocumentClientShowsItsHost_CIMD03(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t, public, func(a *partner.App) {
		a.Origin, a.ClientID = partner.OriginDocument, "https://agent.example/client.json"
	})
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	if p := b.ask(app).wantOK(); !strings.Contains(p.Body, "<strong>agent.example</strong>") {
		t.Error("the page does not show the client's host")
	}
	if p := b.ask(e.app(t)).wantOK(); strings.Contains(p.Body, "identifies itself") {
		t.Error("the page shows a host for a registered client")
	}
}

// AZ-09: 5 minutes from the valid GET, to the second; AZ-14: only in the browser
// that opened it.
func TestHeldRequest_AZ09_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t)
	login, err := url.Parse(b.ask(app).location)
	if err != nil {
		t.Fatal(err)
	}
	resume := login.Query().Get("return_to")
	b.signIn("usr_owner", "biz_bakery")
	p := b.get(resume).wantOK()

	foreign := e.browser(t).signIn("usr_owner", "biz_bakery")
	foreign.get(resume).wantRefusal(400, notFoundOrExpired)
	foreign.ask(app).wantOK() // has a cookie of its own now
	foreign.get(resume).wantRefusal(400, notFoundOrExpired)
	foreign.submit(p, "allow").wantRefusal(400, notFoundOrExpired)
	foreign.submit(p, "deny").wantRefusal(400, notFoundOrExpired)
	for _, unknown := range []string{"", "x", "pk_req_" + strings.Repeat("A", 43), "pk_ac_" + strings.Repeat("A", 43), "%00", "%zz"} {
		b.get("/oauth/authorize?request_id="+unknown).wantRefusal(400, notFoundOrExpired)
		b.submit(p, "allow", withParam("request_id", unknown)).wantRefusal(400, notFoundOrExpired)
	}
	b.post("/oauth/authorize", url.Values{}).wantRefusal(400, notFoundOrExpired)

	e.clock.Advance(5*time.Minute - time.Second)
	p = b.get(resume).wantOK()
	e.clock.Advance(time.Second)
	b.get(resume).wantRefusal(400, notFoundOrExpired)
	b.submit(p, "allow").wantRefusal(400, notFoundOrExpired)
	b.submit(p, "deny").wantRefusal(400, notFoundOrExpired)
	e.wantNothingGranted(t)
}

// AZ-09: a decision in the last second counts.
func TestDecisionInTheLastSecond_AZ09(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	p := b.ask(app).wantOK()
	e.clock.Advance(5*time.Minute - time.Second)
	b.submit(p, "allow").wantCallback(pageCallback)
}

// AZ-09, DEV-04: a decision is too late when its body arrives too late.
func TestDecisionWithALateBody_AZ09(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	consent, code := b.ask(app).wantOK(), e.device(t, app).UserCode
	device := b.enter(code).wantOK()
	b.late = func() { e.clock.Advance(5 * time.Minute) }
	b.submit(consent, "allow").wantRefusal(400, notFoundOrExpired)
	if p := b.submit(device, "allow"); p.Status == http.StatusOK { // ten minutes have passed
		t.Errorf("the device was approved: %s", p.Body)
	}
	if got := e.deviceStatus(t, code); got != oauthstore.DevicePending {
		t.Errorf("the device code is %s", got)
	}
	e.wantNothingGranted(t)
}

// AZ-14, AZ-05: an app that changes between request and page is checked again.
func TestResumeValidatesAgain_AZ14(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*testing.T, *pageEnv, partner.App)
		want   string
	}{
		"suspended": {func(t *testing.T, e *pageEnv, a partner.App) { e.setStatus(t, a, partner.AppSuspended) }, "Invalid client_id"},
		"redirect": {func(t *testing.T, e *pageEnv, a partner.App) {
			e.update(t, a, registered("https://partner.example/new"))
		}, notRegistered},
		"scopes": {func(t *testing.T, e *pageEnv, a partner.App) {
			e.update(t, a, func(a *partner.App) { a.Scopes = identity.MustScopes("customers:read") })
		}, "Requested scopes not permitted for this client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newPageEnv(t)
			app := e.app(t)
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			p := b.ask(app).wantOK()
			_, form := p.form()
			test.change(t, e, app)
			b.get("/oauth/authorize?request_id="+form.Get("request_id")).wantRefusal(400, test.want)
			b.submit(p, "allow").wantRefusal(400, test.want)
			b.submit(p, "deny").wantRefusal(400, test.want)
			e.wantNothingGranted(t)
		})
	}
}

// AZ-14: a user with only the session's cookie, whose browser cookie was replaced by
// another tab, can decide the requests that the session opened. No other session can.
func TestDecisionBySessionAlone_AZ14(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	onlySession := func(other *pageBrowser) *pageBrowser {
		at, _ := url.Parse(pageApp)
		kept := e.browser(t)
		kept.client.Jar.SetCookies(at, []*http.Cookie{other.session})
		return kept
	}
	p := b.ask(app)
	stranger := e.browser(t).signIn("usr_owner", "biz_bakery")
	stranger.submit(p, "allow").wantRefusal(400, notFoundOrExpired)
	if got := onlySession(b).submit(p, "allow"); got.Status != http.StatusSeeOther || !strings.Contains(got.location, "code=") {
		t.Errorf("the session that opened it: %d %s", got.Status, got.location)
	}
	device := e.device(t, app)
	form := onlySession(b).get("/device?user_code=" + device.UserCode)
	shown := onlySession(b).post("/device", url.Values{"user_code": {device.UserCode}})
	if form.Status != http.StatusOK {
		t.Errorf("the form: %d", form.Status)
	}
	onlySession(b).submit(shown, "allow").wantOK()
	if got := e.deviceStatus(t, device.UserCode); got != oauthstore.DeviceApproved {
		t.Errorf("the device is %s", got)
	}
}

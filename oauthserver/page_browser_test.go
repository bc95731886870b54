package oauthserver_test

import (
	"context"
	"html"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// pageBrowser keeps cookies and follows nothing by itself.
type pageBrowser struct {
	t      testing.TB
	e      *pageEnv
	client *http.Client
	ip     string
	header http.Header // sent with every request
	ctx    context.Context
	late   func() // runs between the headers of a request and its body

	session *http.Cookie // of the person who is signed in
}

func (e *pageEnv) browser(t testing.TB) *pageBrowser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &pageBrowser{t: t, e: e, ip: "192.0.2.1", header: http.Header{}}
	b.client = &http.Client{Jar: jar, Transport: b, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return b
}

// RoundTrip hands a request to the app host without a network.
func (b *pageBrowser) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	if b.ctx != nil {
		ctx = b.ctx
	}
	in := r.Clone(ctx)
	in.RemoteAddr = b.ip + ":4711"
	in.Host = r.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	if b.late != nil {
		in.Body = &lateBody{in.Body, b.late}
	}
	for name, values := range b.header {
		in.Header[name] = values
	}
	w := httptest.NewRecorder()
	b.e.http.ServeHTTP(w, in)
	response := w.Result()
	response.Request = r
	return response, nil
}

// signIn gives the browser a session of its own.
func (b *pageBrowser) signIn(userID, businessID string) *pageBrowser {
	b.t.Helper()
	b.session = b.e.host.NewSession(userID, businessID)
	at, _ := url.Parse(pageApp)
	b.client.Jar.SetCookies(at, []*http.Cookie{b.session})
	return b
}

// shownPage is what a browser got.
type shownPage struct {
	*partnertest.Response
	t        testing.TB
	location string
}

func (b *pageBrowser) do(r *http.Request) shownPage {
	b.t.Helper()
	got := partnertest.Send(b.t, b.client, r)
	return shownPage{Response: got, t: b.t, location: got.Header.Get("Location")}
}

func (b *pageBrowser) get(path string) shownPage {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodGet, pageApp+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.do(r)
}

func (b *pageBrowser) post(path string, form url.Values) shownPage {
	b.t.Helper()
	r, err := http.NewRequest(http.MethodPost, pageApp+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.do(r)
}

// submit posts a page's form with the decision, as its buttons do.
func (b *pageBrowser) submit(p shownPage, decision string, change ...func(url.Values)) shownPage {
	b.t.Helper()
	action, form := p.form()
	form.Set("decision", decision)
	for _, c := range change {
		c(form)
	}
	return b.post(action, form)
}

// ask opens the consent page for an app.
func (b *pageBrowser) ask(app partner.App, change ...func(url.Values)) shownPage {
	b.t.Helper()
	return b.get("/oauth/authorize?" + askQuery(app, change...).Encode())
}

func askQuery(app partner.App, change ...func(url.Values)) url.Values {
	query := url.Values{
		"response_type": {"code"}, "client_id": {app.ClientID}, "redirect_uri": {app.RedirectURIs[0]}, "scope": {"invoices:read"},
		"state": {"xyz"}, "code_challenge": {pageChallenge}, "code_challenge_method": {"S256"},
	}
	for _, c := range change {
		c(query)
	}
	return query
}

func withParam(name string, values ...string) func(url.Values) {
	return func(v url.Values) { v[name] = values }
}

func withoutParams(names ...string) func(url.Values) {
	return func(v url.Values) {
		for _, name := range names {
			v.Del(name)
		}
	}
}

var (
	pageFormTag   = regexp.MustCompile(`<form method="post" action="([^"]*)">`)
	pageInputTag  = regexp.MustCompile(`<input type="([a-z]+)"([^>]*)>`)
	pageAttribute = regexp.MustCompile(`([a-z_-]+)="([^"]*)"`)
	pageAlertTag  = regexp.MustCompile(`<p class="alert" role="alert"[^>]*>([^<]*)</p>`)
)

// main is the body without its head.
func (p shownPage) main() string {
	_, main, _ := strings.Cut(p.Body, "<main")
	return main
}

// form reads the one form of a page: what a browser would send.
func (p shownPage) form() (action string, form url.Values) {
	p.t.Helper()
	found := pageFormTag.FindStringSubmatch(p.Body)
	if found == nil {
		p.t.Fatalf("%d without a form:\n%s", p.Status, p.main())
	}
	form = url.Values{}
	for _, input := range pageInputTag.FindAllStringSubmatch(p.Body, -1) {
		attributes := map[string]string{}
		for _, a := range pageAttribute.FindAllStringSubmatch(input[2], -1) {
			attributes[a[1]] = html.UnescapeString(a[2])
		}
		if input[1] != "radio" || strings.HasSuffix(input[2], " checked") {
			form.Set(attributes["name"], attributes["value"])
		}
	}
	return html.UnescapeString(found[1]), form
}

// choices are the businesses that a page offers.
func (p shownPage) choices() []string {
	var ids []string
	for _, input := range pageInputTag.FindAllStringSubmatch(p.Body, -1) {
		if input[1] == "radio" {
			ids = append(ids, pageAttribute.FindAllStringSubmatch(input[2], -1)[1][2])
		}
	}
	return ids
}

// wantRefusal checks that nothing redirects and that the page shows exactly this text.
func (p shownPage) wantRefusal(status int, text string) {
	p.t.Helper()
	found := pageAlertTag.FindStringSubmatch(p.Body)
	if p.Status != status || p.location != "" || found == nil || html.UnescapeString(found[1]) != text {
		p.t.Errorf("%d %q to %q, want %d %q", p.Status, found, p.location, status, text)
	}
}

func (p shownPage) wantOK() shownPage {
	p.t.Helper()
	if p.Status != http.StatusOK {
		p.t.Fatalf("%d, want 200:\n%s", p.Status, p.main())
	}
	return p
}

// wantCallback is the query with which an app was answered.
func (p shownPage) wantCallback(redirectURI string) url.Values {
	p.t.Helper()
	query, ok := strings.CutPrefix(p.location, redirectURI+"?")
	if p.Status != http.StatusSeeOther || !ok {
		p.t.Fatalf("%d to %q, want 303 to %s:\n%s", p.Status, p.location, redirectURI, p.main())
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		p.t.Fatal(err)
	}
	return values
}

package pages_test

import (
	"context"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/internal/consoletest"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	consent "github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/webhooks"
)

const appOrigin = "https://app.example.com"

// The people of the tests.
const (
	ann = consoletest.Ann
	ben = consoletest.Ben
	eve = consoletest.Eve
	zoe = consoletest.Zoe
)

// harness is the pages of a console over a real store and the real features.
type harness struct {
	testing.TB
	store *testdb.Env
	clock *clock.Manual
	host  *partnertest.Host
	oauth *oauthserver.Server
	consoletest.Features
	console    *console.Console
	pages      *pages.Pages
	limiter    *ratelimit.Memory
	prefix     string
	logged     *logtest.Buffer
	businesses map[string]string // names by id
}

func newHarness(t testing.TB, changes ...func(*pages.Config)) *harness {
	t.Helper()
	o := &harness{TB: t, clock: clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)), logged: new(logtest.Buffer)}
	o.store, o.host = testdb.NewEnv(t, testdb.SQLite), consoletest.NewHost()
	var err error
	logger := slog.New(slog.NewTextHandler(o.logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.oauth, err = oauthserver.New(oauthserver.Config{
		Store: o.store, Host: o.host, Keyring: fixture.Keyring(1), Pages: consent.New(), APIURL: "https://api.example.com", AppURL: appOrigin, Clock: o.clock, Logger: logger,
	})
	o.must(err)
	o.limiter, err = ratelimit.NewMemory(ratelimit.MemoryConfig{})
	o.must(err)
	consoles := console.Config{
		Host: o.host, OAuth: o.oauth, Origins: []string{appOrigin}, Clock: o.clock, Logger: logger, Limiter: o.limiter, UserName: userName,
		BusinessName: func(_ context.Context, id string) (string, error) { return o.businesses[id], nil },
	}
	o.Features = consoletest.Add(t, o.store, &consoles)
	o.console, err = console.New(consoles)
	o.must(err)
	cfg := pages.Config{Console: o.console, SignIn: o.host.SignIn, Prefix: "/developer", Clock: o.clock, Logger: logger}
	for _, change := range changes {
		change(&cfg)
	}
	o.pages, err = pages.New(cfg)
	o.must(err)
	o.prefix = cfg.Prefix
	return o
}

// userName knows one of the people.
func userName(_ context.Context, userID string) (string, error) {
	return map[string]string{ben: "Ben Okafor"}[userID], nil
}

func (o *harness) must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}

// run sends deliveries until the test ends.
func (o *harness) run() {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = o.Hooks.Run(ctx) })
	o.Cleanup(func() { stop(); running.Wait() })
}

// settle waits until all that is due has been attempted.
func (o *harness) settle() {
	o.Helper()
	o.must(o.Hooks.Settle(o.Context()))
	o.must(o.Hooks.AwaitResponses(o.Context(), time.Minute))
}

// actor is a person, to call the console for.
func (o *harness) actor(userID string) console.Actor {
	o.Helper()
	r := httptest.NewRequest(http.MethodGet, appOrigin, nil)
	r.AddCookie(o.host.NewSession(userID, ""))
	by, err := o.console.Actor(r)
	o.must(err)
	return by
}

// newApp is an app of Ann's, confidential unless it says otherwise.
func (o *harness) newApp(changes ...func(*console.NewApp)) partner.App {
	o.Helper()
	n := console.NewApp{
		Name: "Sync", Type: partner.Confidential, RedirectURIs: []string{"https://partner.example/cb"}, Scopes: []string{"invoices:read", "events:read"},
	}
	for _, change := range changes {
		change(&n)
	}
	created, err := o.console.CreateApp(o.Context(), o.actor(ann), n)
	o.must(err)
	return created.App
}

// newWebhook is one of an app.
func (o *harness) newWebhook(app partner.App, at string, names ...string) partner.Webhook {
	o.Helper()
	hook, _, err := o.Hooks.Create(o.Context(), webhooks.NewWebhook{AppID: app.ID, URL: at, Events: names})
	o.must(err)
	return hook
}

// ask is a request for a page, or of a form of one.
type ask struct {
	method, path string     // below the prefix
	form         url.Values // what is posted
	by           string     // empty: not signed in
	set          http.Header
}

// response is what came back.
type response struct {
	*partnertest.Response
	o *harness
}

func (o *harness) send(a ask) response {
	o.Helper()
	r := httptest.NewRequest(a.method, appOrigin+o.prefix+a.path, nil)
	if a.method == http.MethodPost {
		r = httptest.NewRequest(a.method, appOrigin+o.prefix+a.path, strings.NewReader(a.form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", appOrigin)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		o.clock.Advance(time.Millisecond) // so that the audit log has an order
	}
	if a.by != "" {
		r.AddCookie(o.host.NewSession(a.by, ""))
	}
	for name, values := range a.set {
		r.Header[name] = values
	}
	return response{partnertest.Serve(o.TB, o.pages, r), o}
}

// get is a page as Ann sees it.
func (o *harness) get(path string) response {
	o.Helper()
	return o.send(ask{method: http.MethodGet, path: path, by: ann})
}

// post is what Ann gets for a form: names and values in turn.
func (o *harness) post(path string, pairs ...string) response {
	o.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	return o.send(ask{method: http.MethodPost, path: path, form: form, by: ann})
}

func (a response) want(status int) response {
	a.o.Helper()
	a.Want(status)
	return a
}

// wantTo checks that it leads on, to a path below the prefix, and returns what is there.
func (a response) wantTo(path string) response {
	a.o.Helper()
	if got := a.want(http.StatusSeeOther).Header.Get("Location"); got != a.o.prefix+path {
		a.o.Fatalf("%s: leads to %q, want %q", a.Request, got, a.o.prefix+path)
	}
	return a.o.get(path).want(http.StatusOK)
}

// text is all that a person reads, with single spaces.
func (a response) text() string {
	return textOf(a.Body)
}

func textOf(body string) string {
	return strings.Join(strings.Fields(html.UnescapeString(markup.ReplaceAllString(inline.ReplaceAllString(body, ""), " "))), " ")
}

var (
	markup = regexp.MustCompile(`<[^>]*>`)
	inline = regexp.MustCompile(`</?(a|code|span|strong|time)\b[^>]*>`)
)

// whole is the text of the page with the titles of what is shortened, such as times and ids, in
// its place.
func (a response) whole() string {
	return textOf(titled.ReplaceAllString(a.Body, "$2</"))
}

var titled = regexp.MustCompile(`<(time|code|a|span)\b[^>]*\stitle="([^"]*)"[^>]*>[^<]*</`)

// shows checks that a person reads all of these, at once or on what is shortened.
func (a response) shows(texts ...string) response {
	a.o.Helper()
	for _, want := range texts {
		if !strings.Contains(a.text(), want) && !strings.Contains(a.whole(), want) {
			a.o.Errorf("%s: does not show %q: %s", a.Request, want, a.text())
		}
	}
	return a
}

// lacks checks that none of these is anywhere in the page.
func (a response) lacks(texts ...string) response {
	a.o.Helper()
	for _, not := range texts {
		if strings.Contains(a.Body, not) {
			a.o.Errorf("%s: has %q: %s", a.Request, not, a.Body)
		}
	}
	return a
}

// alerts checks that this is what went wrong, and nothing else.
func (a response) alerts(want ...string) response {
	a.o.Helper()
	var got []string
	if found := alert.FindStringSubmatch(a.Body); found != nil {
		for one := range strings.SplitSeq(strings.ReplaceAll(found[1], "</li>", "<li>"), "<li>") {
			if one = strings.TrimSpace(html.UnescapeString(markup.ReplaceAllString(one, ""))); one != "" {
				got = append(got, one)
			}
		}
	}
	if !slices.Equal(got, want) {
		a.o.Errorf("%s: alerts %q, want %q", a.Request, got, want)
	}
	return a
}

var alert = regexp.MustCompile(`(?s)<(?:p|div) class="alert" role="alert"[^>]*>(.*?)</(?:p|div)>`)

// values are those of an attribute, wherever it stands.
func (a response) values(attribute string) []string {
	var all []string
	for _, found := range regexp.MustCompile(`\s`+attribute+`="([^"]*)"`).FindAllStringSubmatch(a.Body, -1) {
		all = append(all, html.UnescapeString(found[1]))
	}
	return all
}

// did checks what the audit log has of an app, newest first and from a number of
// entries on.
func (o *harness) did(app partner.App, want ...string) {
	o.Helper()
	page, err := o.console.Audit(o.Context(), o.actor(ann), app.ID, console.Page{Limit: len(want)})
	o.must(err)
	var got []string
	for _, entry := range page.Items {
		if entry.UserID != ann {
			o.Errorf("%s was done by %q", entry.Action, entry.UserID)
		}
		got = append(got, string(entry.Action))
	}
	if !slices.Equal(got, want) {
		o.Errorf("the audit log has %q, want %q", got, want)
	}
}

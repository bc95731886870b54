package console_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/consoletest"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partnertest"
)

const (
	apiOrigin = "https://api.example.com"
	appOrigin = "https://app.example.com"
)

// The people of the tests.
const (
	ann = consoletest.Ann
	ben = consoletest.Ben
	eve = consoletest.Eve
	zoe = consoletest.Zoe
)

// harness is a console over a real store and the real features.
type harness struct {
	testing.TB
	store  *testdb.Env
	clock  *clock.Offset
	people *people
	oauth  *oauthserver.Server
	consoletest.Features
	console *console.Console
	logged  *logtest.Buffer
}

func newHarness(t testing.TB, changes ...func(*console.Config)) *harness {
	t.Helper()
	return newHarnessOn(t, testdb.SQLite, oauthserver.Config{}, changes...)
}

func newHarnessOn(t testing.TB, open testdb.Opener, oauth oauthserver.Config, changes ...func(*console.Config)) *harness {
	t.Helper()
	d := &harness{TB: t, clock: new(clock.Offset), people: newPeople(), logged: new(logtest.Buffer)}
	d.store = testdb.NewEnv(t, open)
	var err error
	oauth.Store, oauth.Host, oauth.Keyring, oauth.Pages = d.store, d.people, fixture.Keyring(1), pages.New()
	oauth.APIURL, oauth.AppURL, oauth.Clock = apiOrigin, appOrigin, d.clock
	d.oauth, err = oauthserver.New(oauth)
	d.must(err)
	cfg := console.Config{
		Host: d.people, OAuth: d.oauth, Origins: []string{apiOrigin, appOrigin}, Clock: d.clock, Logger: slog.New(slog.NewTextHandler(d.logged, nil)),
	}
	d.Features = consoletest.Add(t, d.store, &cfg)
	for _, change := range changes {
		change(&cfg)
	}
	d.console, err = console.New(cfg)
	d.must(err)
	return d
}

func (d *harness) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// people is the host. It counts what it was asked.
type people struct {
	*partnertest.Host
	sessions, memberships atomic.Int64
}

func newPeople() *people { return &people{Host: consoletest.NewHost()} }

func (p *people) Session(r *http.Request) (identity.Session, bool, error) {
	p.sessions.Add(1)
	return p.Host.Session(r)
}

func (p *people) Organizations(ctx context.Context, userID string) ([]console.Organization, error) {
	p.memberships.Add(1)
	return p.Host.Organizations(ctx, userID)
}

// call is a request to the console: "POST /developer/apps".
type call struct {
	what string
	body string // empty: none
	by   string // empty: not signed in
	set  http.Header

	contentType string // of the body; empty: JSON
	ctx         context.Context
}

// response is what came back.
type response struct {
	*partnertest.Response
	harness *harness
	body    map[string]any // when it is JSON
}

func (d *harness) send(c call) response {
	d.Helper()
	method, path, _ := strings.Cut(c.what, " ")
	var r *http.Request
	if c.body == "" {
		r = httptest.NewRequest(method, apiOrigin+path, nil)
	} else {
		r = httptest.NewRequest(method, apiOrigin+path, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
	}
	if c.contentType != "" {
		r.Header.Set("Content-Type", c.contentType)
	}
	if c.by != "" {
		r.AddCookie(d.people.NewSession(c.by, ""))
	}
	for name, values := range c.set {
		r.Header[name] = values
	}
	if c.ctx != nil {
		r = r.WithContext(c.ctx)
	}
	got := response{Response: partnertest.Serve(d.TB, d.console, r), harness: d}
	if kind := got.Header.Get("Content-Type"); strings.HasPrefix(kind, "application/json") && kind != "application/jsonl" {
		got.body = got.JSON()
	}
	return got
}

// ann sends a request of hers.
func (d *harness) ann(what string, body ...string) response {
	d.Helper()
	return d.send(call{what: what, body: strings.Join(body, ""), by: ann})
}

// want checks the status.
func (r response) want(status int) response {
	r.harness.Helper()
	r.Want(status)
	return r
}

// wantCode checks that it was refused with a code.
func (r response) wantCode(status int, code string) {
	r.harness.Helper()
	r.WantCode(status, apierror.Code(code))
}

// wantInvalid checks that it was refused with a list of all that is wrong.
func (r response) wantInvalid(problems ...string) {
	r.harness.Helper()
	var got struct{ Message []string }
	r.Want(http.StatusBadRequest).Decode(&got)
	if diff := cmp.Diff(problems, got.Message); diff != "" {
		r.harness.Errorf("%s (-want +got)\n%s", r.Request, diff)
	}
}

// wantBody compares the whole body.
func (r response) wantBody(want map[string]any) {
	r.harness.Helper()
	if diff := cmp.Diff(want, r.body); diff != "" {
		r.harness.Errorf("%s (-want +got)\n%s", r.Request, diff)
	}
}

func (r response) text(name string) string {
	r.harness.Helper()
	return r.Text(name)
}

// data is a list in the response.
func (r response) data() []map[string]any {
	r.harness.Helper()
	var got struct{ Data []map[string]any }
	if r.Want(http.StatusOK).Decode(&got); got.Data == nil {
		r.harness.Fatalf("%s: no data", r)
	}
	return got.Data
}

// wantTime checks that a member is a time in UTC, about as far from now as it should
// be: a minute does not matter.
func (r response) wantTime(name string, fromNow time.Duration) {
	r.harness.Helper()
	text := r.text(name)
	at, err := time.Parse(time.RFC3339, text)
	if off := at.Sub(r.harness.clock.Now().Add(fromNow)); err != nil || !strings.HasSuffix(text, "Z") || off.Abs() > time.Minute {
		r.harness.Errorf("%s: %s is %q", r.Request, name, text)
	}
}

const (
	confidentialApp = `{"name": "Sync", "type": "CONFIDENTIAL", "redirectUris": ["https://partner.example/cb"], "scopes": ["invoices:read", "events:read"]}`
	publicApp       = `{"name": "Desktop", "type": "PUBLIC", "redirectUris": ["com.example.desktop:/cb"], "scopes": ["invoices:read"]}`
)

// newApp creates an app of Ann's and returns its path.
func (d *harness) newApp(body string) (path, appID string) {
	d.Helper()
	appID = d.ann("POST /developer/apps", body).want(http.StatusCreated).text("id")
	return "/developer/apps/" + appID, appID
}

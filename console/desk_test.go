package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/jscheck"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/storage/storetest"
	"github.com/partnerkit/partnerkit/webhooks"
)

const (
	apiOrigin = "https://api.example.com"
	appOrigin = "https://app.example.com"
)

// What the people of the tests are called. Ann and Ben are of one organization, Ben of
// another one too, Eve of a third, Zoe of none.
const (
	ann = "usr_ann"
	ben = "usr_ben"
	eve = "usr_eve"
	zoe = "usr_zoe"
)

// desk is a console over a real store and the real features.
type desk struct {
	testing.TB
	store   *storetest.Env
	clock   *clock.Offset
	people  *people
	oauth   *oauthserver.Server
	hooks   *webhooks.Service
	calls   *analytics.Counter
	events  *events.Log
	console *console.Console
	logged  *lockedBuffer
}

func newDesk(t testing.TB, changes ...func(*console.Config)) *desk {
	t.Helper()
	return newDeskOn(t, storetest.SQLite, oauthserver.Config{}, changes...)
}

func newDeskOn(t testing.TB, open storetest.Opener, oauth oauthserver.Config, changes ...func(*console.Config)) *desk {
	t.Helper()
	d := &desk{TB: t, clock: new(clock.Offset), people: newPeople(), logged: new(lockedBuffer)}
	d.store = storetest.NewEnv(t, open)
	ring, err := keyring.Parse(strings.Repeat("c", 43))
	d.must(err)
	oauth.Store, oauth.Host, oauth.Keyring, oauth.Pages = d.store, d.people, ring, pages.New()
	oauth.APIURL, oauth.AppURL, oauth.Clock = apiOrigin, appOrigin, d.clock
	d.oauth, err = oauthserver.New(oauth)
	d.must(err)
	d.hooks, err = webhooks.New(webhooks.Config{Store: d.store, Keyring: ring, CurrentVersion: "2026-09-01", AllowLoopback: true, Clock: d.clock})
	d.must(err)
	d.calls, err = analytics.New(analytics.Config{Store: d.store, Clock: d.clock})
	d.must(err)
	d.events, err = events.New(events.Config{Store: d.store, Clock: d.clock})
	d.must(err)
	data, err := appdata.New(appdata.Config{Store: d.store, Records: books{}, Clock: d.clock})
	d.must(err)
	cfg := console.Config{
		Store: d.store, Host: d.people, OAuth: d.oauth, Webhooks: d.hooks, Analytics: d.calls, AppData: data,
		Versions: []string{"2026-01-15", "2026-09-01"}, Origins: []string{apiOrigin, appOrigin},
		FunctionChecker: console.FunctionCheckerFunc(jscheck.Check), Clock: d.clock, Logger: slog.New(slog.NewTextHandler(d.logged, nil)),
	}
	for _, change := range changes {
		change(&cfg)
	}
	d.console, err = console.New(cfg)
	d.must(err)
	return d
}

func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// people is the host: who is signed in by which cookie, and who is a member of what.
type people struct {
	mu            sync.Mutex
	organizations map[string][]console.Organization
	sessions      int // how often it was asked
	memberships   int
}

func newPeople() *people {
	one, two, three := console.Organization{ID: "org_1", Name: "One"}, console.Organization{ID: "org_2", Name: "Two"}, console.Organization{ID: "org_3", Name: "Three"}
	return &people{organizations: map[string][]console.Organization{ann: {one}, ben: {one, two}, eve: {three}}}
}

// Session takes the name of the person for their cookie.
func (p *people) Session(r *http.Request) (identity.Session, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions++
	cookie, err := r.Cookie("session")
	if err != nil {
		return identity.Session{}, false, nil
	}
	return identity.Session{ID: "ses_" + cookie.Value, UserID: cookie.Value}, true, nil
}

func (p *people) Organizations(_ context.Context, userID string) ([]console.Organization, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memberships++
	return p.organizations[userID], nil
}

func (*people) SignIn(http.ResponseWriter, *http.Request, string) {}
func (*people) Businesses(context.Context, string) ([]oauthserver.Business, error) {
	return nil, nil
}
func (*people) IsMember(context.Context, string, string) (bool, error) { return true, nil }

// books is the host's records, of which the console asks nothing.
type books struct{ appdata.Records }

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// call is a request to the console: "POST /developer/apps".
type call struct {
	what string
	body string // empty: none
	by   string // empty: nobody
	set  http.Header

	contentType string // of the body; empty: JSON
	ctx         context.Context
}

// reply is what came back.
type reply struct {
	desk   *desk
	what   string
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (d *desk) send(c call) reply {
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
		r.AddCookie(&http.Cookie{Name: "session", Value: c.by})
	}
	for name, values := range c.set {
		r.Header[name] = values
	}
	if c.ctx != nil {
		r = r.WithContext(c.ctx)
	}
	w := httptest.NewRecorder()
	d.console.ServeHTTP(w, r)
	got := reply{desk: d, what: c.what, status: w.Code, header: w.Header(), raw: w.Body.String()}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		if err := json.Unmarshal(w.Body.Bytes(), &got.body); err != nil {
			d.Fatalf("%s: %v in %s", c.what, err, got.raw)
		}
	}
	return got
}

// ann sends a request of hers.
func (d *desk) ann(what string, body ...string) reply {
	d.Helper()
	return d.send(call{what: what, body: strings.Join(body, ""), by: ann})
}

// want checks the status.
func (r reply) want(status int) reply {
	r.desk.Helper()
	if r.status != status {
		r.desk.Fatalf("%s: %d, want %d: %s", r.what, r.status, status, r.raw)
	}
	return r
}

// wantCode checks that it was refused with a code.
func (r reply) wantCode(status int, code string) {
	r.desk.Helper()
	if r.want(status).body["code"] != code {
		r.desk.Errorf("%s: %s, want the code %s", r.what, r.raw, code)
	}
}

// wantInvalid checks that it was refused with a list of all that is wrong.
func (r reply) wantInvalid(problems ...string) {
	r.desk.Helper()
	var got struct{ Message []string }
	if err := json.Unmarshal([]byte(r.want(http.StatusBadRequest).raw), &got); err != nil {
		r.desk.Fatalf("%s: %v in %s", r.what, err, r.raw)
	}
	if diff := cmp.Diff(problems, got.Message); diff != "" {
		r.desk.Errorf("%s (-want +got)\n%s", r.what, diff)
	}
}

// wantBody compares the whole body.
func (r reply) wantBody(want map[string]any) {
	r.desk.Helper()
	if diff := cmp.Diff(want, r.body); diff != "" {
		r.desk.Errorf("%s (-want +got)\n%s", r.what, diff)
	}
}

func (r reply) text(name string) string {
	r.desk.Helper()
	text, ok := r.body[name].(string)
	if !ok {
		r.desk.Fatalf("%s: %s is not a text in %s", r.what, name, r.raw)
	}
	return text
}

// data is a list in the answer.
func (r reply) data() []map[string]any {
	r.desk.Helper()
	var got struct{ Data []map[string]any }
	if err := json.Unmarshal([]byte(r.want(http.StatusOK).raw), &got); err != nil || got.Data == nil {
		r.desk.Fatalf("%s: no data in %s: %v", r.what, r.raw, err)
	}
	return got.Data
}

// wantTime checks that a member is a time in UTC, about as far from now as it should
// be: a minute does not matter.
func (r reply) wantTime(name string, fromNow time.Duration) {
	r.desk.Helper()
	text := r.text(name)
	at, err := time.Parse(time.RFC3339, text)
	if off := at.Sub(r.desk.clock.Now().Add(fromNow)); err != nil || !strings.HasSuffix(text, "Z") || off.Abs() > time.Minute {
		r.desk.Errorf("%s: %s is %q", r.what, name, text)
	}
}

const (
	confidentialApp = `{"name": "Sync", "type": "CONFIDENTIAL", "redirectUris": ["https://partner.example/cb"], "scopes": ["invoices:read", "events:read"]}`
	publicApp       = `{"name": "Desktop", "type": "PUBLIC", "redirectUris": ["com.example.desktop:/cb"], "scopes": ["invoices:read"]}`
)

// newApp creates an app of Ann's and returns its path.
func (d *desk) newApp(body string) (path, appID string) {
	d.Helper()
	appID = d.ann("POST /developer/apps", body).want(http.StatusCreated).text("id")
	return "/developer/apps/" + appID, appID
}

package partnertest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage/postgres"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/theme"
)

// whoami responds with the principal of the call.
func whoami(w http.ResponseWriter, r *http.Request) error {
	caller, _ := identity.PrincipalFrom(r.Context())
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"business": caller.BusinessID, "user": caller.UserID, "app": caller.AppID})
}

func withWhoami(c *partnerkit.Config) {
	c.Routes = append(c.Routes, guard.Route{Pattern: "GET /whoami", Scope: "profile:read", SessionsAllowed: true, Handler: whoami})
}

func record(h *partnertest.Harness, eventType string) {
	h.Record(events.Draft{Type: eventType, Data: map[string]string{"id": "inv_1"}})
}

func TestConnect(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, withWhoami)
	h.Host.AddBusiness("usr_ben", oauthserver.Business{ID: "biz_bikes", Name: "Harbour Bikes", MayConnect: true})
	app := h.Connect(partnertest.ConnectOptions{})
	other := h.Connect(partnertest.ConnectOptions{App: app, UserID: "usr_ben", Scopes: []string{"profile:read"}})
	public := h.Connect(partnertest.ConnectOptions{Type: partner.Public, Name: "Desktop"})
	for _, test := range []struct {
		app            *partnertest.App
		business, user string
	}{
		{app, partnertest.Business, partnertest.User},
		{other, "biz_bikes", "usr_ben"},
		{public, partnertest.Business, partnertest.User},
	} {
		got := test.app.Get("/whoami").Want(http.StatusOK)
		if got.Text("business") != test.business || got.Text("user") != test.user || got.Text("app") != test.app.ID || test.app.BusinessID != test.business {
			t.Errorf("%s, want %s in %s", got, test.user, test.business)
		}
	}
	if app.ID != other.ID || app.ID == public.ID || public.ClientSecret != "" || app.ClientSecret == "" {
		t.Errorf("apps %s, %s and %s", app.ID, other.ID, public.ID)
	}
	other.Get("/events").WantCode(http.StatusForbidden, apierror.InsufficientScope.Code)
}

func TestAppDo(t *testing.T) {
	t.Parallel()
	echo := guard.Route{Pattern: "POST /echo", Scope: "profile:read", Handler: func(w http.ResponseWriter, r *http.Request) error {
		var body map[string]int
		if err := strictjson.Decode(r, &body, strictjson.Limits{}); err != nil {
			return err
		}
		return apierror.WriteJSON(w, http.StatusCreated, body)
	}}
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Routes = []guard.Route{echo} })
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"profile:read"}})
	if got := app.Do(http.MethodPost, "/echo", map[string]int{"n": 7}).Want(http.StatusCreated); strings.TrimSpace(got.Body) != `{"n":7}` {
		t.Error(got)
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	t.Cleanup(elsewhere.Close)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, elsewhere.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	partnertest.Send(t, app.Client, r).Want(http.StatusOK) // the token is for the API host only
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, withWhoami)
	app := h.Connect(partnertest.ConnectOptions{})
	before := h.Clock.Now()
	h.Advance(lifetimes.AccessToken)
	if moved := h.Clock.Now().Sub(before); moved != lifetimes.AccessToken {
		t.Errorf("the clock moved by %v", moved)
	}
	app.Get("/whoami").Want(http.StatusUnauthorized)
	used := app.RefreshToken
	app.Refresh()
	app.Get("/whoami").Want(http.StatusOK)
	if app.RefreshToken == used {
		t.Error("Refresh kept the refresh token")
	}
}

func TestReceiver(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Store = openStore(t) })
	app := h.Connect(partnertest.ConnectOptions{})
	r := h.Receiver(app, "invoice.created", "invoice.paid")
	r.ExpectNone()

	record(h, "invoice.created")
	d := r.Expect("invoice.created")
	if d.BusinessID != partnertest.Business || string(d.Data) != `{"id":"inv_1"}` || d.EventID == "" {
		t.Errorf("delivery %s", d.Raw)
	}

	r.Respond(http.StatusInternalServerError, http.StatusServiceUnavailable)
	record(h, "invoice.paid")
	first := r.Expect("invoice.paid")
	r.ExpectNone() // the retry is not due
	h.Advance(time.Hour)
	second := r.Expect("invoice.paid")
	h.Advance(24 * time.Hour)
	third := r.Expect("invoice.paid")
	if first.ID != second.ID || second.ID != third.ID || r.Count() != 4 {
		t.Errorf("%d requests; deliveries %s, %s, %s", r.Count(), first.ID, second.ID, third.ID)
	}
	h.Advance(24 * time.Hour)
	r.ExpectNone() // it was delivered

	secret, _, err := h.Webhooks().RotateSecret(t.Context(), r.AppID, r.WebhookID)
	if err != nil {
		t.Fatal(err)
	}
	h.Advance(48 * time.Hour)
	r.SetSecret(secret)
	record(h, "invoice.paid")
	r.Next()
}

// openStore opens a store that the harness does not close.
func openStore(t *testing.T) partnerkit.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	address, schema := testenv.Postgres(t)
	store, err := postgres.Open(t.Context(), address, postgres.Config{Schema: schema, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Store = store })
	r := h.Receiver(h.Connect(partnertest.ConnectOptions{}), "invoice.paid")
	record(h, "invoice.paid")
	r.Expect("invoice.paid")
}

// backend is a host of its own.
type backend struct{ partnertest.Host }

func (*backend) Session(r *http.Request) (identity.Session, bool, error) {
	user := r.Header.Get("X-Gateway-User")
	return identity.Session{ID: user, UserID: user, BusinessID: "biz_own"}, user != "", nil
}

func (*backend) Businesses(context.Context, string) ([]oauthserver.Business, error) {
	return []oauthserver.Business{{ID: "biz_own", Name: "Own", MayConnect: true}}, nil
}

func (*backend) IsMember(context.Context, string, string) (bool, error) { return true, nil }

func (*backend) Organizations(_ context.Context, userID string) ([]console.Organization, error) {
	return []console.Organization{{ID: "org_" + userID, Name: "Own"}}, nil
}

func TestHostOfItsOwn(t *testing.T) {
	t.Parallel()
	own := &backend{}
	h := partnertest.New(t, withWhoami, func(c *partnerkit.Config) { c.Host, c.Developers = own, own })
	if got := h.Connect(partnertest.ConnectOptions{UserID: "cem"}).Get("/whoami").Want(http.StatusOK); got.Text("business") != "biz_own" || got.Text("user") != "cem" {
		t.Error(got)
	}
	r := httptest.NewRequest(http.MethodGet, h.APIURL+"/whoami", http.NoBody)
	r.Header.Set("X-Gateway-User", "dee")
	if got := partnertest.Serve(t, h.API(), r).Want(http.StatusOK); got.Text("user") != "dee" {
		t.Error(got)
	}
	console, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.APIURL+"/developer/apps", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	partnertest.Send(t, h.Browser("cem", ""), console).Want(http.StatusOK)
}

// Functions that choose the look of a page see the person who is signed in, be it by the
// harness or by the backend.
func TestLookBySession(t *testing.T) {
	t.Parallel()
	userOf := func(r *http.Request) string {
		session, _ := identity.SessionFrom(r.Context())
		return session.UserID
	}
	own := &backend{}
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Host, c.Developers = own, own
		c.Languages = locale.Languages{Offered: []string{"en", "de"}, Choose: func(r *http.Request) string {
			return map[string]string{"usr_greta": "de"}[userOf(r)]
		}}
		c.ThemeFor = func(r *http.Request) theme.Theme {
			if user := userOf(r); user != "" {
				return theme.Theme{StyleSheet: "/" + user + ".css"}
			}
			return theme.Theme{}
		}
	})
	for _, path := range []string{"/device", "/settings/apps", "/developer"} {
		for user, lang := range map[string]string{"usr_greta": "de", "usr_hal": "en"} {
			if path == "/developer" {
				lang = "en" // the console is in English
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.AppURL+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			for name, page := range map[string]*partnertest.Response{
				"harness": partnertest.Send(t, h.Browser(user, "biz_own"), r),
				"backend": partnertest.Serve(t, h.App(), gateway(t, path, user)),
			} {
				if page.Want(http.StatusOK); !strings.Contains(page.Body, `lang="`+lang+`"`) || !strings.Contains(page.Body, user+".css") {
					t.Errorf("%s of %s by the %s: %s", path, user, name, page.Body)
				}
			}
		}
	}
}

// gateway returns a request to the app host by a user of the backend.
func gateway(t *testing.T, path, user string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
	r.Header.Set("X-Gateway-User", user)
	return r
}

func TestBrowser(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.AppRoutes = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusSeeOther)
		})
	})
	get := func(address string) *partnertest.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return partnertest.Send(t, h.Browser(partnertest.User, partnertest.Business), r)
	}
	get(h.AppURL + "/leave?to=/developer").Want(http.StatusOK)
	get(h.AppURL + "/leave?to=https://partner.example/").Want(http.StatusSeeOther)
	cookie := h.Host.NewSession(partnertest.User, "")
	r := httptest.NewRequest(http.MethodGet, h.APIURL+"/developer/apps", http.NoBody)
	r.AddCookie(cookie)
	partnertest.Serve(t, h.API(), r).Want(http.StatusOK)
	h.Host.ChangeSession(cookie, func(s *identity.Session) { s.BusinessID = "biz_bikes" })
	if session, ok, err := h.Host.Session(r); !ok || err != nil || session.BusinessID != "biz_bikes" {
		t.Errorf("session %+v, %v, %v", session, ok, err)
	}
	h.Host.EndSession(cookie)
	partnertest.Serve(t, h.API(), r).Want(http.StatusUnauthorized)
}

func TestHost(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t, withWhoami)
	app := h.Connect(partnertest.ConnectOptions{})
	h.Host.SetError(errors.New("database is down"))
	app.Get("/whoami").Want(http.StatusInternalServerError)
	h.Host.SetError(nil)
	app.Get("/whoami").Want(http.StatusOK)
	h.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: partnertest.Business, Name: "Renamed"})
	if all, err := h.Host.Businesses(t.Context(), partnertest.User); err != nil || len(all) != 1 || all[0].Name != "Renamed" {
		t.Errorf("businesses %v, %v", all, err)
	}
	h.Host.RemoveBusiness(partnertest.User, partnertest.Business)
	app.Get("/whoami").Want(http.StatusUnauthorized)
}

// CAT-01: what the host records must follow the schema of its type; what a test records need not.
func TestHostRecordsWhatIsDescribed_CAT01(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t)
	draft := events.Draft{Type: "invoice.paid", BusinessID: partnertest.Business, Data: map[string]any{"id": 1}}
	h.Record(draft)
	_, err := h.Events().Record(t.Context(), draft)
	if !errors.Is(err, events.ErrInvalidDraft) || !strings.Contains(err.Error(), `"invoice.paid"`) || !strings.Contains(err.Error(), `at "/id": got number, want string`) {
		t.Errorf("recording wrong data: %v", err)
	}
	paid, _ := h.Events().Catalog().Lookup("invoice.paid")
	draft.Data = paid.Sample
	if _, err := h.Events().Record(t.Context(), draft); err != nil {
		t.Errorf("recording the sample: %v", err)
	}
	h = partnertest.New(t, func(c *partnerkit.Config) { c.CompileSchema = nil })
	draft.Data = struct{}{}
	if _, err := h.Events().Record(t.Context(), draft); err != nil {
		t.Errorf("without checks: %v", err)
	}
}

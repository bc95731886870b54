package oauthserver_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// A door counts connections, of any protocol.
type door struct {
	url    string
	knocks atomic.Int32
}

func newDoor(t testing.TB) *door {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	d := &door{url: "https://" + listener.Addr().String() + "/client.json"}
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
	})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			d.knocks.Add(1)
			_ = conn.Close()
		}
	}()
	return d
}

// code finds an authorization code of an app by its text.
func (e *pageEnv) code(t testing.TB, app partner.App, text string) oauthstore.Code {
	t.Helper()
	given, err := secret.Parse(secret.AuthorizationCode, text)
	if err != nil {
		t.Fatal(err)
	}
	code, err := e.Code(t.Context(), given.Digest())
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// CVE-2021-27582, CVE-2018-15758: a decision takes a decision. What else a form
// brings along does not change what was asked for.
func TestDecisionTakesNothingElse(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app, other := e.app(t), e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	more := func(form url.Values) {
		for name, value := range map[string]string{
			"scope": "invoices:read invoices:write", "scopes": "invoices:write", "client_id": other.ClientID, "app_id": other.ID,
			"redirect_uri": "https://evil.example/cb", "code_challenge": strings.Repeat("A", 43), "user_id": "usr_guest",
			"approved": "true", "authorities": "internal:admin",
		} {
			form.Set(name, value)
		}
	}
	response := b.submit(b.ask(app).wantOK(), "allow", more).wantCallback(pageCallback)
	code := e.code(t, app, response.Get("code"))
	if code.AppID != app.ID || code.UserID != "usr_owner" || code.Scopes.String() != "invoices:read" ||
		code.RedirectURI != pageCallback || code.CodeChallenge != pageChallenge {
		t.Errorf("code %+v", code)
	}
	installation, err := e.ActiveInstallation(t.Context(), app.ID, "biz_bakery")
	if err != nil || installation.Scopes.String() != "invoices:read" {
		t.Errorf("installation %+v, %v", installation, err)
	}
}

// CVE-2023-34246: consent is asked for every time, even if the same public client_id was
// approved before.
func TestConsentIsAskedEveryTime(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t, public)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	b.submit(b.ask(app).wantOK(), "allow").wantCallback(pageCallback)
	for _, change := range []func(url.Values){
		withParam("state", "again"), withParam("prompt", "none"), withParam("approval_prompt", "auto"), withParam("skip_authorization", "true"),
	} {
		p := b.ask(app, change).wantOK()
		if action, _ := p.form(); action != "/oauth/authorize" || p.location != "" {
			t.Errorf("form to %q, redirect to %q", action, p.location)
		}
	}
	if n := e.count(t, "code"); n != 1 {
		t.Errorf("%d codes of one approval", n)
	}
}

// CVE-2026-63687, CVE-2020-10770: a request object is not read, by value or by
// reference, so that it neither overrides what was checked nor makes us call out.
func TestRequestObjectsAreNotRead(t *testing.T) {
	t.Parallel()
	door := newDoor(t)
	e := newPageEnv(t, onLoopback)
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	claims := fmt.Sprintf(`{"client_id":%q,"scope":"invoices:write","redirect_uri":"https://evil.example/cb","code_challenge":%q}`,
		app.ClientID, strings.Repeat("A", 43))
	encode := base64.RawURLEncoding.EncodeToString
	for name, change := range map[string]func(url.Values){
		"by value":     withParam("request", encode([]byte(`{"alg":"none"}`))+"."+encode([]byte(claims))+"."),
		"by reference": withParam("request_uri", door.url),
	} {
		response := b.submit(b.ask(app, change).wantOK(), "allow").wantCallback(pageCallback)
		code := e.code(t, app, response.Get("code"))
		if code.Scopes.String() != "invoices:read" || code.CodeChallenge != pageChallenge || code.RedirectURI != pageCallback {
			t.Errorf("%s: code %+v", name, code)
		}
	}
	if n := door.knocks.Load(); n != 0 {
		t.Errorf("%d connections to an address out of the query", n)
	}
}

// CVE-2021-26715, CVE-2026-22752: what a registration says about itself is neither
// fetched, nor made into links or images on the page that asks a person.
func TestMetadataIsNotFetched(t *testing.T) {
	t.Parallel()
	door := newDoor(t)
	e := newPageEnv(t, onLoopback, func(c *oauthserver.Config) {
		c.Registration = func(*http.Request) (string, error) { return "org_dev", nil }
	})
	body, err := json.Marshal(map[string]any{
		"client_name": "Tool", "redirect_uris": []string{pageCallback}, "scope": "invoices:read",
		"client_uri": door.url, "logo_uri": door.url, "tos_uri": door.url, "policy_uri": door.url,
		"jwks_uri": door.url, "sector_identifier_uri": door.url, "request_uris": []string{door.url},
	})
	mustDo(t, err)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/oauth/register", strings.NewReader(string(body)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	e.server.APIHandler().ServeHTTP(w, r)
	var made struct {
		ClientID string `json:"client_id"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &made); err != nil || w.Code != http.StatusCreated {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	app, err := fixture.AppByClientID(t.Context(), e, made.ClientID)
	mustDo(t, err)
	p := e.browser(t).signIn("usr_owner", "biz_sandbox").ask(app).wantOK()
	if !strings.Contains(p.Body, "Tool") || strings.Contains(p.Body, door.url) || strings.Contains(p.Body, "<img") {
		t.Errorf("the page shows\n%s", p.main())
	}
	if n := door.knocks.Load(); n != 0 {
		t.Errorf("%d connections to an address out of a registration", n)
	}
}

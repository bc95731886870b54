package oauthserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
	"github.com/partnerkit/partnerkit/partner"
)

// REG-02, CIMD-05: what a registration with keys may say.
func TestRegisterKeys(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, openRegistration, withKeys)
	h := newKeyHolder(k, "one")
	private, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: h.key, KeyID: "one"}}})
	k.Must(err)
	const app = `{"client_name":"A","redirect_uris":["` + apiRedirect + `"],"token_endpoint_auth_method":"private_key_jwt"`
	for name, test := range map[string]struct {
		members string
		fine    bool
	}{
		"CIMD-05 jwks":             {`,"jwks":` + h.jwks(), true},
		"CIMD-05 jwks_uri":         {`,"jwks_uri":"https://a.example/jwks"`, true},
		"CIMD-05 neither":          {``, false},
		"CIMD-05 null":             {`,"jwks":null,"jwks_uri":null`, false},
		"CIMD-05 both":             {`,"jwks_uri":"https://a.example/jwks","jwks":` + h.jwks(), false},
		"CIMD-05 a private key":    {`,"jwks":` + string(private), false},
		"CIMD-05 no keys":          {`,"jwks":{"keys":[]}`, false},
		"CIMD-05 jwks a text":      {`,"jwks":"x"`, false},
		"CIMD-05 jwks of 17 KiB":   {`,"jwks":{"x":"` + strings.Repeat("a", 17<<10) + `","keys":` + strings.TrimPrefix(h.jwks(), `{"keys":`), false},
		"CIMD-05 jwks_uri http":    {`,"jwks_uri":"http://a.example/jwks"`, false},
		"CIMD-05 jwks_uri inside":  {`,"jwks_uri":"https://169.254.169.254/jwks"`, false},
		"CIMD-05 jwks_uri a user":  {`,"jwks_uri":"https://u@a.example/jwks"`, false},
		"CIMD-05 jwks_uri a list":  {`,"jwks_uri":["https://a.example/jwks"]`, false},
		"CIMD-05 jwks_uri too far": {`,"jwks_uri":"https://a.example/` + strings.Repeat("a", 512) + `"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			k.ip = "192.0.2." + fmt.Sprint(len(name)) // the limit of registrations is not what is tested
			got := k.register(app + test.members + `}`)
			if !test.fine {
				got.refused(http.StatusBadRequest, "invalid_client_metadata", "*")
				return
			}
			if got.Status != http.StatusCreated || got.text("client_secret") != "" || got.text("token_endpoint_auth_method") != "private_key_jwt" ||
				(got.body["jwks"] == nil) == (got.body["jwks_uri"] == nil) {
				t.Fatalf("%d %s", got.Status, got.Body)
			}
			app := k.app(got.text("client_id"))
			if app.Type != partner.Confidential {
				t.Errorf("%s", app.Type)
			}
			if _, _, err := k.OAuth.AddClientSecret(t.Context(), app.ID); err == nil {
				t.Error("a secret was added")
			}
		})
	}
	t.Run("META-08 off", func(t *testing.T) {
		newAPIHarness(t, openRegistration).register(app+`,"jwks":`+h.jwks()+`}`).refused(http.StatusBadRequest, "invalid_client_metadata", "*")
	})
	t.Run("CIMD-05 keys of another method are ignored", func(t *testing.T) {
		got := k.register(`{"client_name":"A","redirect_uris":["` + apiRedirect + `"],"jwks":` + h.jwks() + `}`)
		if got.Status != http.StatusCreated || got.text("client_secret") == "" || got.body["jwks"] != nil {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	})
}

// CIMD-05: keys at a jwks_uri are fetched when they are needed, kept by their headers, and
// fetched again once for an unknown key.
func TestKeysAtAURL(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, openRegistration, withKeys, onLoopback)
	site := newDocSite(t)
	serve := func(h keyHolder) {
		site.handle(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jwk-set+json")
			w.Header().Set("Cache-Control", "max-age=3600")
			_, _ = w.Write([]byte(h.jwks()))
		})
	}
	fetches := func(want int32) {
		t.Helper()
		if got := site.hits.Swap(0); got != want {
			t.Errorf("%d fetches, want %d", got, want)
		}
	}
	h := newKeyHolder(k, "one")
	serve(h)
	h = k.registerKey(h, `"jwks_uri":"`+site.URL+`"`)
	fetches(0)
	k.try(h.params(map[string]any{"exp": 0})).notAuthenticated()
	fetches(0) // it could not have been valid
	k.try(h.params(nil)).authenticated()
	fetches(1)
	k.try(h.params(nil)).authenticated()
	fetches(0)
	rotated := h
	rotated.key, rotated.keyID = newKeyHolder(k, "").key, "two"
	k.try(rotated.params(nil)).notAuthenticated()
	fetches(1)
	serve(rotated)
	k.try(rotated.params(nil)).authenticated()
	fetches(1)
	k.try(rotated.params(nil)).authenticated()
	k.try(h.params(nil)).notAuthenticated() // its key is gone
	fetches(1)
	// An outage does not lock out any client, and does not count as the client's failure.
	site.fail(http.StatusBadGateway)
	k.Clock.Advance(time.Hour)
	k.try(rotated.params(nil)).authenticated()
	fetches(1)
	k.Clock.Advance(30 * 24 * time.Hour)
	for range 32 { // more than the lockout allows
		k.ip = "192.0.2.7"
		k.try(rotated.params(nil)).notAuthenticated()
	}
	k.Clock.Advance(time.Minute)
	site.hits.Store(0)
	serve(rotated)
	k.try(rotated.params(nil)).authenticated()
	fetches(1)
}

// CIMD-05, CIMD-02: responses that are not key sets.
func TestKeysThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	for name, serve := range map[string]func(h keyHolder) http.HandlerFunc{
		"CIMD-02 redirect": func(keyHolder) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }
		},
		"CIMD-02 HTML": func(h keyHolder) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write([]byte(h.jwks()))
			}
		},
		"CIMD-05 64 KiB and more": func(h keyHolder) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(h.jwks() + strings.Repeat(" ", 64<<10)))
			}
		},
		"CIMD-05 no keys": func(keyHolder) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(`{"keys":[]}`))
			}
		},
		"CIMD-02 hangs": func(keyHolder) http.HandlerFunc {
			return func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t, openRegistration, withKeys, onLoopback)
			site := newDocSite(t)
			h := newKeyHolder(k, "one")
			site.handle(serve(h))
			h = k.registerKey(h, `"jwks_uri":"`+site.URL+`"`)
			params := h.params(nil)
			k.try(params).notAuthenticated()
			if site.hits.Load() != 1 {
				t.Errorf("%d fetches", site.hits.Load())
			}
			// Nothing of it was kept, and the assertion was not used up.
			site.handle(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(h.jwks()))
			})
			k.try(params).authenticated()
		})
	}
	t.Run("CIMD-02 inside", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, openRegistration, withKeys)
		site := newDocSite(t)
		h := k.registerKey(newKeyHolder(k, "one"), `"jwks_uri":"https://agent.example/jwks"`)
		app := k.app(h.clientID)
		_, err := k.Store.UpdateApp(t.Context(), app.ID, func(a partner.App) (partner.App, error) {
			a.Metadata = strings.Replace(a.Metadata, "https://agent.example/jwks", site.URL, 1)
			return a, nil
		})
		k.Must(err)
		k.try(h.params(nil)).notAuthenticated()
		if site.hits.Load() != 0 {
			t.Error("fetched")
		}
	})
	t.Run("CIMD-02 budget", func(t *testing.T) {
		t.Parallel()
		k := newAPIHarness(t, openRegistration, withKeys, onLoopback)
		site := newDocSite(t)
		h := newKeyHolder(k, "one")
		site.handle(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "max-age=3600")
			_, _ = w.Write([]byte(h.jwks()))
		})
		h = k.registerKey(h, `"jwks_uri":"`+site.URL+`"`)
		flood := h
		for i := range 200 {
			k.ip = fmt.Sprint("198.51.100.", i)
			flood.keyID = fmt.Sprint("unknown ", i)
			k.try(flood.params(nil)).notAuthenticated()
		}
		if got := site.hits.Load(); got != 61 { // the first one, and 60 for unknown keys
			t.Errorf("%d fetches", got)
		}
		k.try(h.params(nil)).authenticated()
	})
}

// CIMD-05: a document with keys makes a CONFIDENTIAL app.
func TestKeyDocument(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t, withKeys, onLoopback)
	site, h := newDocSite(t), newKeyHolder(k, "one")
	h.clientID = site.URL
	keyed := map[string]any{
		"token_endpoint_auth_method": "private_key_jwt", "jwks": json.RawMessage(h.jwks()),
		"token_endpoint_auth_methods_supported": []string{"private_key_jwt", "none"}, "redirect_uris": []string{apiRedirect, "cursor://x/callback"},
	}
	site.serve(withMembers(goodDocument(site.URL), keyed), nil)
	k.try(h.params(nil)).authenticated()
	if app := k.app(site.URL); app.Type != partner.Confidential || len(app.RedirectURIs) != 1 {
		t.Errorf("%+v", app)
	}
	k.token(withBasic(site.URL, ""), "grant_type", "x").notAuthenticated()
	k.try(h.params(nil)).authenticated()

	t.Run("CIMD-05 off again", func(t *testing.T) {
		cfg := oauthserver.Config{
			Store: k.Store, Host: k.Host, Keyring: newDocumentHarness(t, nil).cfg.Keyring, Pages: harness.NoPages{}, Clock: k.Clock, APIURL: apiOrigin, AppURL: appOrigin,
		}
		onLoopback(&cfg)
		off, err := oauthserver.New(cfg)
		k.Must(err)
		node := &apiHarness{Harness: &harness.Harness{TB: t, Store: k.Store, Clock: k.Clock, OAuth: off, API: off.APIHandler()}, ip: k.ip}
		node.token(withBasic(site.URL, ""), "grant_type", "x").authenticated()
	})
	t.Run("CODE-05 a code of before needs a challenge", func(t *testing.T) {
		if k.app(site.URL).Type != partner.Public {
			t.Fatal("the app is not PUBLIC")
		}
		code := k.code(site.URL, "")
		k.token(withBasic(site.URL, ""), "grant_type", "authorization_code", "code", code, "redirect_uri", apiRedirect).dead("*")
	})
	t.Run("CIMD-05 without keys", func(t *testing.T) {
		body, err := json.Marshal(withMembers(goodDocument(toolURL), map[string]any{"token_endpoint_auth_method": "private_key_jwt"}))
		mustDo(t, err)
		if _, err := oauthserver.ParseDocumentBy(toolURL, body, document.Rules{PrivateKeyJWT: true}); err == nil {
			t.Error("accepted")
		}
	})
}

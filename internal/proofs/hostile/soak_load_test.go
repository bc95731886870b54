//go:build linux

package hostile_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// partner connects one app after the other to a business, works with it, and leaves. That
// leaves most of the budget of each app in each business, 300 calls a minute.
func (s *soak) partner(i int, until time.Time) {
	userID, businessID := fmt.Sprintf("usr_%d", i), fmt.Sprintf("biz_%d", i)
	for turn := i; time.Now().Before(until); turn++ {
		a := s.data.Apps[turn%soakApps]
		b, got, err := s.connect(a, userID, businessID)
		if errors.Is(err, errLimited) {
			// A fast machine uses up an app's 600 token requests before the minute is over.
			s.note("connect", response{servertest.Response{Status: http.StatusTooManyRequests}}, nil, http.StatusTooManyRequests)
			time.Sleep(time.Second)
			continue
		}
		s.note("connect", response{servertest.Response{Status: http.StatusOK}}, err, http.StatusOK)
		if err != nil {
			return
		}
		s.keep(b.session.Cookie, got.access, got.refresh)
		for range 3 {
			if time.Now().After(until) {
				break
			}
			s.calls(b.Client, got.access)
			s.console(b, a)
			if got, err = s.rotate(b.Client, a, got); err != nil {
				break
			}
		}
		s.device(b.Client, a)
		s.leave(b.Client, a, got)
		b.CloseIdleConnections()
	}
}

// calls makes the calls of an app with its token.
func (s *soak) calls(client *http.Client, token string) {
	bearer := []string{"Authorization", "Bearer " + token}
	call := func(what, method, path, body string, want int, headers ...string) response {
		contentType := ""
		if body != "" {
			contentType = "application/json"
		}
		got, err := send(client, method, s.API+path, contentType, body, append(headers, bearer...)...)
		// Several connections of a business in one minute may use up its budget.
		s.note(what, got, err, want, http.StatusTooManyRequests)
		return got
	}
	key := rand.Text()
	invoice := fmt.Sprintf(`{"number":%q,"currency":"EUR","total":100}`, key)
	first := call("write", http.MethodPost, "/invoices", invoice, http.StatusCreated, "Idempotency-Key", key)
	again := call("write again", http.MethodPost, "/invoices", invoice, http.StatusCreated, "Idempotency-Key", key)
	if first.Status == http.StatusCreated && again.Status == http.StatusCreated && first.Text("id") != again.Text("id") {
		s.proof.Violation("a key made %s and %s", first.Text("id"), again.Text("id"))
	}
	if id := first.Text("id"); id != "" {
		call("read", http.MethodGet, "/invoices/"+id, "", http.StatusOK)
		call("app data", http.MethodPut, "/app-data", fmt.Sprintf(`{"values":[{"resourceType":"invoice","resourceId":%q,"key":"note","value":"x"}]}`, id), http.StatusOK)
	}
	call("list", http.MethodGet, "/invoices?limit=20", "", http.StatusOK)
	call("events", http.MethodGet, "/events?limit=20", "", http.StatusOK)
	call("a scope that it lacks", http.MethodGet, "/accounts", "", http.StatusForbidden)
	call("a bad body", http.MethodPost, "/invoices", `{"number":`, http.StatusBadRequest)
}

// device starts a device authorization that no user approves.
func (s *soak) device(client *http.Client, a app) {
	form := url.Values{"client_id": {a.ClientID}, "client_secret": {string(a.ClientSecret)}}
	begun, err := send(client, http.MethodPost, s.API+"/oauth/device/authorize", formType, form.Encode())
	if !s.note("device", begun, err, http.StatusOK) {
		return
	}
	s.keep(begun.Text("device_code"))
	_, polled, err := s.token(client, a, "grant_type", "urn:ietf:params:oauth:grant-type:device_code", "device_code", begun.Text("device_code"))
	if s.note("poll", polled, err, http.StatusBadRequest, http.StatusTooManyRequests) && polled.Status == http.StatusBadRequest && polled.Text("error") != "authorization_pending" {
		s.proof.Violation("the first poll: %v", polled)
	}
}

// console requests the pages that a developer uses.
func (s *soak) console(b *browser, a app) {
	for what, address := range map[string]string{
		"deliveries": s.API + "/developer/apps/" + a.ID + "/webhooks/whk_" + a.ID[len("app_"):] + "/deliveries", "analytics": s.API + "/developer/apps/" + a.ID + "/analytics?days=7",
		"console page": s.App + "/developer/apps/" + a.ID, "settings page": s.App + "/settings/apps",
	} {
		got, err := b.get(address)
		s.note(what, got, err, http.StatusOK)
	}
}

// rotate refreshes the tokens, after which the old access token is rejected (REF-01).
func (s *soak) rotate(client *http.Client, a app, old tokens) (tokens, error) {
	fresh, got, err := s.token(client, a, "grant_type", "refresh_token", "refresh_token", old.refresh)
	if !s.note("refresh", got, err, http.StatusOK, http.StatusTooManyRequests) || got.Status != http.StatusOK {
		return old, fmt.Errorf("refresh: %v, %v", got, err)
	}
	s.keep(fresh.access)
	dead, err := send(client, http.MethodGet, s.API+"/profile", "", "", "Authorization", "Bearer "+old.access)
	s.note("a token that was replaced", dead, err, http.StatusUnauthorized)
	return fresh, nil
}

// leave introspects and revokes.
func (s *soak) leave(client *http.Client, a app, got tokens) {
	form := url.Values{"client_id": {a.ClientID}, "client_secret": {string(a.ClientSecret)}, "token": {got.refresh}}
	revoked, err := send(client, http.MethodPost, s.API+"/oauth/revoke", formType, form.Encode())
	s.note("revoke", revoked, err, http.StatusOK)
	r, err := http.NewRequest(http.MethodPost, s.API+"/oauth/introspect", http.NoBody)
	if err != nil {
		s.proof.Violation("%v", err)
		return
	}
	r.SetBasicAuth(a.ClientID, string(a.ClientSecret))
	told, err := send(client, http.MethodPost, s.API+"/oauth/introspect", formType, url.Values{"token": {got.access}}.Encode(), "Authorization", r.Header.Get("Authorization"))
	var is struct{ Active *bool }
	if s.note("introspect", told, err, http.StatusOK) && (json.Unmarshal([]byte(told.Body), &is) != nil || is.Active == nil || *is.Active) {
		s.proof.Violation("after its family was revoked a token is %s", []byte(told.Body))
	}
}

// nuisance sends invalid requests from many addresses.
func (s *soak) nuisance(until time.Time) {
	for n := 0; time.Now().Before(until); n++ {
		client := servertest.NewClient()
		for what, request := range map[string]struct {
			method, address, contentType, body string
			want                               int
		}{
			"a wrong secret":         {http.MethodPost, s.API + "/oauth/token", formType, "grant_type=refresh_token&refresh_token=x&client_id=client-0&client_secret=wrong", http.StatusUnauthorized},
			"an unknown client":      {http.MethodPost, s.API + "/oauth/token", formType, fmt.Sprintf("grant_type=x&client_id=nobody-%d", n), http.StatusUnauthorized},
			"no token":               {http.MethodGet, s.API + "/invoices", "", "", http.StatusUnauthorized},
			"a wrong path":           {http.MethodGet, s.App + fmt.Sprintf("/nothing-%d", n), "", "", http.StatusNotFound},
			"a wrong consent":        {http.MethodGet, s.App + "/oauth/authorize?client_id=nobody", "", "", http.StatusBadRequest},
			"a bad registration":     {http.MethodPost, s.API + "/oauth/register", "application/json", `{"redirect_uris":["javascript:1"]}`, http.StatusBadRequest},
			"a device that is none":  {http.MethodPost, s.API + "/oauth/device/authorize", formType, "client_id=nobody", http.StatusUnauthorized},
			"a form that is no form": {http.MethodPost, s.API + "/oauth/token", "text/plain", "x", http.StatusBadRequest},
		} {
			got, err := send(client, request.method, request.address, request.contentType, request.body)
			if s.note(what, got, err, request.want) {
				if problem := got.problem(); problem != "" {
					s.proof.Violation("%s: %s: %v", what, problem, got)
				}
			}
		}
		client.CloseIdleConnections()
		time.Sleep(50 * time.Millisecond)
	}
}

package partnerkit_test

import (
	"context"
	"errors"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

var hiddenFields = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// AN-03: a custom connection needs room like every other.
func TestMaxConnectionsOfCustomConnections_AN03(t *testing.T) {
	t.Parallel()
	var calls []identity.Principal
	most, fault := 1, error(nil)
	h := partnertest.New(t, withCustom(&calls), func(c *partnerkit.Config) {
		c.OAuth.MaxConnectionsFor = func(context.Context, partner.App) (int, error) { return most, fault }
	})
	h.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: "biz_second", Name: "Second", MayConnect: true})
	scopes := []string{"invoices:read"}
	app := h.Connect(partnertest.ConnectOptions{Scopes: scopes})
	second := "biz_second"
	named, err := h.OAuth().UpdateApp(t.Context(), app.ID, oauthserver.AppChange{CustomBusinessID: &second})
	if err != nil {
		t.Fatal(err)
	}
	page, err := url.Parse(h.OAuth().ConnectionPage(named))
	if err != nil {
		t.Fatal(err)
	}
	session := h.Host.NewSession(partnertest.User, second)
	send := func(method string, form url.Values, cookies ...*http.Cookie) *partnertest.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, h.AppURL+page.RequestURI(), strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		if method == http.MethodPost {
			r.URL.RawQuery = ""
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}
		for _, cookie := range append(cookies, session) {
			r.AddCookie(cookie)
		}
		return partnertest.Serve(t, h.App(), r)
	}
	shown := send(http.MethodGet, nil).Want(http.StatusOK)
	form := url.Values{"decision": {"allow"}, "business_id": {second}}
	for _, field := range hiddenFields.FindAllStringSubmatch(shown.Body, -1) {
		form.Set(html.UnescapeString(field[1]), html.UnescapeString(field[2]))
	}
	cookies := (&http.Response{Header: shown.Header}).Cookies()
	if refused := send(http.MethodPost, form, cookies...).Want(http.StatusForbidden); !strings.Contains(refused.Body, "This app has reached its number of connections") {
		t.Errorf("AN-03: %s", refused.Body)
	}
	most, fault = 2, errors.New("billing is down")
	send(http.MethodPost, form, cookies...).Want(http.StatusInternalServerError)
	fault = nil
	send(http.MethodPost, form, cookies...).Want(http.StatusOK)
}

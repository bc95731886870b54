package partnerkit_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partnertest"
)

// CON-15: names that come from the host are shown without characters that cannot be seen or
// that turn the text around them.
func TestHostNames_CON15(t *testing.T) {
	t.Parallel()
	const hidden = "\u202e\u2066\u200b\ufeff\x1b\n"
	hostile := func(name string) string { return name[:3] + hidden + name[3:] }
	spaced := func(name string) string { return name[:3] + " " + name[3:] } // for the line break
	h := partnertest.New(t, func(c *partnerkit.Config) { c.Operators, _ = c.Developers.(*partnertest.Host) })
	app := h.Connect(partnertest.ConnectOptions{})
	h.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: partnertest.Business, Name: hostile("Bakery"), MayConnect: true})
	h.Host.AddBusiness(partnertest.User, oauthserver.Business{ID: "biz_2", Name: hostile("Closed")})
	h.Host.AddOrganization(partnertest.User, console.Organization{ID: "org_2", Name: hostile("Second")})
	h.Host.SetUser(operator.User{ID: partnertest.User, Name: hostile("Ada Lovelace"), Email: hostile("ada@example.com"), IsOperator: true})
	cookie := h.Host.NewSession(partnertest.User, partnertest.Business)
	h.Host.ChangeSession(cookie, func(s *identity.Session) { s.DisplayName = hostile("Ada Lovelace") })
	get := func(host http.Handler, url string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.AddCookie(cookie)
		return partnertest.Serve(t, host, r).Want(http.StatusOK).Body
	}
	authorize := "/oauth/authorize?response_type=code&client_id=" + app.ClientID + "&redirect_uri=" + app.RedirectURI + "&scope=invoices:read&state=1"
	for page, names := range map[string][]string{
		h.AppURL + authorize:                 {"Bakery", "Closed", "Ada Lovelace"},
		h.AppURL + "/settings/apps":          {"Bakery", "Ada Lovelace"},
		h.AppURL + "/device":                 {"Ada Lovelace"},
		h.AppURL + "/developer/apps/new":     {"Second", "Ada Lovelace"},
		h.AppURL + "/operator/users/usr_ada": {"Ada Lovelace", "ada@example.com"},
		h.APIURL + "/operator/users/usr_ada": {"Ada Lovelace", "ada@example.com"},
	} {
		host := h.App()
		if strings.HasPrefix(page, h.APIURL) {
			host = h.API()
		}
		shown := get(host, page)
		for _, name := range names {
			if !strings.Contains(shown, spaced(name)) {
				t.Errorf("%s does not show %s", page, name)
			}
		}
		for _, r := range hidden {
			if r != '\n' && strings.ContainsRune(shown, r) {
				t.Errorf("%s shows %U", page, r)
			}
		}
	}
}

package browser_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partnertest"
)

// INST-06: a person who connected an app leaves the business. Another one finds that on the
// page of connected apps, declines first and then takes the connection over. The app's token
// works again.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	invoices := request{method: "GET", path: "/invoices", token: s.connect(s.enter(open(t), "usr_ada", "biz_bakery"))}
	s.call(invoices, nil)
	s.dev("/memberships", map[string]any{"businessId": "biz_bakery", "userId": "usr_ben", "role": "admin"}, nil)
	s.dev("/memberships", map[string]any{"businessId": "biz_bakery", "userId": "usr_ada", "role": nil}, nil)
	if status, response := s.send(invoices); status != http.StatusUnauthorized {
		t.Errorf("after the departure: %d %s", status, response)
	}

	b := s.enter(open(t), "usr_ben", "biz_bakery")
	for _, decision := range []string{"Not now", "Take over"} {
		b.visit(s.App + "/settings/apps")
		b.sees("A person who connected Ledgerlink Sync is no longer a member of")
		b.inspect("orphaned")
		b.submit("Take over…")
		b.sees("Take over Ledgerlink Sync?")
		b.sees("with your permissions")
		b.inspect("take-over")
		b.submit(decision)
	}
	b.sees("You have taken the connection over. The app works again.")
	s.call(invoices, nil)
	if faults := b.faults(); len(faults) > 0 {
		t.Errorf("the console says: %v", faults)
	}
}

// INST-06: the same in German, on the pages of a host with a brand.
func TestGermanTakeOver(t *testing.T) {
	t.Parallel()
	needAxe(t)
	h := partnertest.New(t, branded)
	app := h.Connect(partnertest.ConnectOptions{Name: "Ledgerlink Sync", Scopes: []string{"invoices:read"}})
	h.Host.AddBusiness("usr_grace", oauthserver.Business{ID: partnertest.Business, Name: "Corner Bakery", MayConnect: true})
	h.Host.RemoveBusiness(app.UserID, partnertest.Business)
	b := open(t)
	session := h.Host.NewSession("usr_grace", partnertest.Business)
	cookie := network.SetCookieParams{Name: session.Name, Value: session.Value, URL: h.AppURL, SameSite: network.CookieSameSiteLax}
	if _, err := chromedp.Call(b.ctx, network.SetCookie, cookie); err != nil {
		t.Fatal(err)
	}
	b.visit(h.AppURL + "/settings/apps")
	b.sees("Eine Person, die Ledgerlink Sync verbunden hat, gehört nicht mehr zu Corner Bakery.")
	b.inspect("orphaned-german")
	b.submit("Übernehmen …")
	b.sees("Ledgerlink Sync übernehmen?")
	b.sees("Ihre Rechnungen sehen")
	b.isBranded()
	b.inspect("take-over-german")
	b.submit("Übernehmen")
	b.sees("Sie haben die Verbindung übernommen. Die App funktioniert wieder.")
	if _, err := h.OAuth().VerifyAccessToken(t.Context(), app.AccessToken); err != nil {
		t.Error(err)
	}
}

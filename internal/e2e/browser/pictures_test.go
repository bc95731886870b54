package browser_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// Screenshots for docs/images, taken from a running server.
func TestPictures(t *testing.T) {
	folder := os.Getenv("PARTNERKIT_SCREENSHOTS")
	if folder == "" {
		t.Skip("nobody wants pictures: set PARTNERKIT_SCREENSHOTS to a folder")
	}
	t.Parallel()
	s := serve(t)
	ada := s.enter(open(t), "usr_ada", "biz_bakery")
	ada.visit(s.authorize(map[string][]string{"scope": {"profile:read invoices:read invoices:write customers:read"}}))
	ada.do(chromedp.EmulateViewport(800, 760))
	ada.snap(filepath.Join(folder, "consent.png"))

	// An endpoint that is down for a day, recovers, and fails again.
	s.partner.responses(http.StatusBadGateway, "upstream is away")
	ada.submit("Allow")
	s.attempts("/webhooks/sync", 0, 1)
	for range 5 {
		s.advance(6 * 3600)
	}
	s.attempts("/webhooks/sync", 0, 6)
	s.partner.responses(http.StatusOK, "thanks")
	token := s.connect(ada)
	var invoice struct{ ID string }
	s.write(token, "/customers", map[string]any{"name": "Hill & Sons"}, nil)
	s.write(token, "/invoices", map[string]any{"number": "2026-0042", "currency": "EUR", "total": 11900}, &invoice)
	s.attempts("/webhooks/sync", 6, 2)
	s.advance(1500)
	s.write(token, "/payments", map[string]any{"invoiceId": invoice.ID, "amount": 11900, "currency": "EUR"}, nil)
	s.attempts("/webhooks/sync", 8, 1)
	s.advance(800)
	s.partner.responses(http.StatusServiceUnavailable, `{"error": "we are moving to another rack"}`)
	s.write(token, "/invoices", map[string]any{"number": "2026-0043", "currency": "EUR", "total": 4200}, nil)
	s.attempts("/webhooks/sync", 9, 1)
	s.advance(60)
	s.attempts("/webhooks/sync", 9, 2)

	dev := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	dev.do(chromedp.EmulateViewport(1280, 864))
	dev.visit(s.App + "/developer/apps/app_sync/webhooks/whk_sync")
	dev.await(`words(document.querySelector("#deliveries tbody tr")).startsWith("Retrying")`)
	dev.snap(filepath.Join(folder, "console.png"))
	dev.click(`document.querySelector("#deliveries tbody tr a")`)
	dev.follows("Retrying")
	dev.snap(filepath.Join(folder, "delivery.png"))

	// Two weeks of calls, some of them rejected.
	for day := range 14 {
		token = s.connect(ada)
		for i := range 5 + day*day%17 {
			path := "/invoices"
			if i%9 == 8 {
				path = "/nowhere"
			}
			s.send(request{method: "GET", path: path, token: token})
		}
		s.advance(24 * 3600)
	}
	dev.scheme("dark")
	eventually(t, "the calls are counted", func() bool {
		dev.visit(s.App + "/developer/apps/app_sync/analytics")
		return get[int](dev, `document.querySelectorAll("svg.chart rect.succeeded").length`) >= 14
	})
	dev.snap(filepath.Join(folder, "analytics.png"))
}

// advance moves the clock.
func (s *service) advance(seconds int) {
	s.t.Helper()
	s.dev("/clock", map[string]int{"advanceSeconds": seconds}, nil)
}

// write creates a record in the business of a token.
func (s *service) write(token, path string, in, out any) {
	s.t.Helper()
	s.call(request{method: "POST", path: path, token: token, body: in}, out)
}

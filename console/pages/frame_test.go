package pages_test

import (
	"net/http"
	"strings"
	"testing"
)

// The title and the breadcrumb trail of a page distinguish it from other pages.
func TestTitlesIdentify(t *testing.T) {
	t.Parallel()
	o, app, fill := newComplete(t)
	hook, delivery := fill("{webhookId}"), fill("{deliveryId}")
	own := "/apps/" + app.ID
	for path, want := range map[string]string{
		"":                        "Apps · Service",
		own:                       "Overview · " + app.Name + " · Service",
		own + "/audit":            "Audit log · " + app.Name + " · Service",
		own + "/webhooks/" + hook: "Webhook " + hook + " · Webhooks · " + app.Name + " · Service",
		own + "/webhooks/" + hook + "/deliveries/" + delivery: "Delivery " + delivery + " · Deliveries · Webhook · Webhooks · " + app.Name + " · Service",
	} {
		page := o.get(path).want(http.StatusOK)
		if !strings.Contains(page.Body, "<title>"+want+"</title>") {
			t.Errorf("%s: no title %q", path, want)
		}
		if !strings.Contains(page.Body, `<link rel="icon" `) || !strings.Contains(page.Body, `<a class="skip" href="#main">`) {
			t.Errorf("%s: no icon or no skip link", path)
		}
	}
}

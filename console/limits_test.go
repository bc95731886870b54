package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

// CON-02: an app has only so many of each.
func TestItemLimits_CON02(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	path, _ := d.newApp(strings.Replace(confidentialApp, `{`, `{"appUrl": "https://partner.example/", `, 1))
	for range console.MaxAssets {
		d.upload(path, upload{kind: "icon", file: webpLossless(128, 128)}).want(http.StatusCreated)
	}
	d.upload(path, upload{kind: "icon", file: webpLossless(128, 128)}).wantInvalid("an app has at most 50 assets")
	for range console.MaxExtensions {
		d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/", "label": "L"}`).want(http.StatusCreated)
	}
	d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/", "label": "L"}`).wantInvalid("an app has at most 50 extensions")
	for range console.MaxFunctions {
		d.ann("POST "+path+"/functions", `{"name": "n", "source": "export default 1"}`).want(http.StatusCreated)
	}
	d.ann("POST "+path+"/functions", `{"name": "n", "source": "export default 1"}`).wantInvalid("an app has at most 20 functions")
}

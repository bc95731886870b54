package guard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// CON-10: the content of a call in the request log.
func TestRequestLog_CON10(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	token := k.token()
	last := func() analytics.Call {
		t.Helper()
		if len(k.calls.all) == 0 {
			t.Fatal("no call was told")
		}
		return k.calls.all[len(k.calls.all)-1]
	}
	k.send("GET /invoices", bearer(token))
	if c := last(); c.Route != "GET /invoices" || c.Method != "GET" || c.Status != 200 || c.Error != nil || c.BusinessID == "" || c.HasDeadToken {
		t.Errorf("a good call: %+v", c)
	}
	k.send("GET /nothing/"+token, bearer(token))
	if c := last(); c.Route != "" || c.Status != 403 || c.Code != "ENDPOINT_NOT_EXPOSED" || !strings.Contains(string(c.Error), "ENDPOINT_NOT_EXPOSED") {
		t.Errorf("an unknown path: %+v", c)
	}
	told := len(k.calls.all)
	k.send("GET /invoices", bearer(secret.New(secret.AccessToken).Reveal()))
	if len(k.calls.all) != told {
		t.Error("a token that was never issued has an app")
	}
	k.Clock.Advance(48 * time.Hour)
	k.send("GET /invoices", bearer(token))
	if c := last(); len(k.calls.all) != told+1 || !c.HasDeadToken || c.AppID != k.app.ID || c.Status != http.StatusUnauthorized || len(c.Error) == 0 {
		t.Errorf("a dead token: %+v", c)
	}
	var _ guard.Analytics = k.calls
}

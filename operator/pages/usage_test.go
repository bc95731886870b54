package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/analytics"
)

// AN-03: staff read and export the usage of any app.
func TestUsage_AN03(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.newApp("Sync")
	day := h.Clock.Now().UTC().Format("2006-01-02")
	h.Analytics().Count(analytics.Call{AppID: app, BusinessID: "@biz", At: h.Clock.Now(), Status: 200, Bytes: 42})
	sees(t, h.page(olga, "GET /operator/apps/"+app, nil).Want(http.StatusOK), "/operator/apps/"+app+"/usage.csv", "/operator/apps/"+app+"/usage.jsonl")
	if got := h.page(olga, "GET /operator/apps/"+app+"/usage.csv?from="+day, nil).Want(http.StatusOK); got.Body != "date,businessId,calls,errors,bytes\n"+day+",'@biz,1,0,42\n" {
		t.Errorf("AN-03: %q", got.Body)
	}
	entry := `{"date":"` + day + `","businessId":"@biz","calls":1,"errors":0,"bytes":42}`
	if got := h.page(olga, "GET /operator/apps/"+app+"/usage.jsonl", nil).Want(http.StatusOK); got.Body != entry+"\n" {
		t.Errorf("AN-03: %q", got.Body)
	}
	if got := h.api(olga, "GET /operator/apps/"+app+"/usage", "").Want(http.StatusOK); strings.TrimSpace(got.Body) != `{"data":[`+entry+`],"hasMore":false}` {
		t.Errorf("AN-03: %q", got.Body)
	}
	h.api(olga, "GET /operator/apps/"+app+"/usage?from=x", "").Want(http.StatusBadRequest)
	h.api(olga, "GET /operator/apps/app_none/usage", "").Want(http.StatusNotFound)
	h.api("usr_nobody", "GET /operator/apps/"+app+"/usage", "").Want(http.StatusNotFound)
	h.page(olga, "GET /operator/apps/app_none/usage.csv", nil).Want(http.StatusNotFound)
	h.page("usr_nobody", "GET /operator/apps/"+app+"/usage.csv", nil).Want(http.StatusNotFound)
}

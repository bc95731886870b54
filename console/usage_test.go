package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/analytics"
)

// AN-03: usage by business and day, by page and as a file.
func TestUsage_AN03(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // where it does not become tomorrow
		d := newHarness(t)
		path, appID := d.newApp(confidentialApp)
		now := d.clock.Now()
		day := func(ago int) string { return now.AddDate(0, 0, -ago).UTC().Format(time.DateOnly) }
		count := func(ago int, business string, status int, bytes int64) {
			d.Calls.Count(analytics.Call{AppID: appID, BusinessID: business, At: now.AddDate(0, 0, -ago), Status: status, Bytes: bytes})
		}
		count(0, "=cmd|' /C calc'!A0", 200, 5)
		count(0, "biz_1", 200, 1<<40)
		count(0, "biz_1", 404, 3)
		count(29, "biz_1", 200, 7)
		count(30, "biz_1", 200, 9)
		row := func(ago int, business string, calls, errors, bytes float64) map[string]any {
			return map[string]any{"date": day(ago), "businessId": business, "calls": calls, "errors": errors, "bytes": bytes}
		}
		all := []any{row(30, "biz_1", 1, 0, 9), row(29, "biz_1", 1, 0, 7), row(0, "=cmd|' /C calc'!A0", 1, 0, 5), row(0, "biz_1", 2, 1, 1<<40+3)}
		at := path + "/usage"
		for query, want := range map[string][]any{
			"": all[1:], "?from=" + day(30): all, "?from=" + day(399): all, "?from=" + day(30) + "&to=" + day(30): all[:1], "?to=" + day(1): all[:2], "?from=2030-01-01&to=2030-01-02": {},
		} {
			d.ann("GET " + at + query).want(http.StatusOK).wantBody(map[string]any{"data": want, "hasMore": false})
		}
		first := d.ann("GET " + at + "?limit=2&from=" + day(30))
		first.wantBody(map[string]any{"data": all[:2], "hasMore": true, "nextCursor": first.text("nextCursor")})
		d.ann("GET " + at + "?limit=2&from=" + day(30) + "&after=" + first.text("nextCursor")).wantBody(map[string]any{"data": all[2:], "hasMore": false})

		export := func(format, query string) response {
			r := d.send(call{what: "GET " + at + query, by: ann, set: http.Header{"Accept": {format}}}).want(http.StatusOK)
			if got := r.Header.Get("Content-Type"); !strings.HasPrefix(got, format) || !strings.HasPrefix(r.Header.Get("Content-Disposition"), "attachment") {
				t.Errorf("AN-03 %s: header %v", format, r.Header)
			}
			return r
		}
		want := "date,businessId,calls,errors,bytes\n" + fmt.Sprintf("%s,biz_1,1,0,7\n%s,'=cmd|' /C calc'!A0,1,0,5\n%s,biz_1,2,1,%d\n", day(29), day(0), day(0), int64(1<<40+3))
		if diff := cmp.Diff(want, export("text/csv", "").Body); diff != "" {
			t.Errorf("AN-03 (-want +got)\n%s", diff)
		}
		want = fmt.Sprintf(`{"date":"%s","businessId":"biz_1","calls":1,"errors":0,"bytes":9}`+"\n", day(30))
		if diff := cmp.Diff(want, export("application/jsonl", "?from="+day(30)+"&to="+day(30)).Body); diff != "" {
			t.Errorf("AN-03 (-want +got)\n%s", diff)
		}
		if got := export("text/csv", "?from=2030-01-01&to=2030-01-02").Body; got != "date,businessId,calls,errors,bytes\n" {
			t.Errorf("AN-03 no usage: %q", got)
		}
		if got := export("application/jsonl", "?from=2030-01-01&to=2030-01-02").Body; got != "" {
			t.Errorf("AN-03 no usage: %q", got)
		}

		for _, wrong := range []string{"?from=x", "?from=2026-13-01", "?to=", "?from=2026-09-01T00:00:00Z", "?from=" + day(0) + "&to=" + day(1), "?from=" + day(400), "?days=3", "?after=x", "?after=2026-99-01biz_1", "?after=2026-09-01%00", "?limit=0"} {
			d.ann("GET " + at + wrong).want(http.StatusBadRequest)
			if !strings.HasPrefix(wrong, "?after") { // an export has no pages
				d.send(call{what: "GET " + at + wrong, by: ann, set: http.Header{"Accept": {"text/csv"}}}).want(http.StatusBadRequest)
			}
		}
		d.send(call{what: "GET " + at, by: zoe}).want(http.StatusNotFound)
	})
}

package operator_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage"
)

type harness struct {
	*partnertest.Harness
	t *testing.T
}

func newHarness(t *testing.T, edits ...func(*partnerkit.Config)) *harness {
	t.Helper()
	h := &harness{Harness: partnertest.New(t, append(edits, func(c *partnerkit.Config) {
		c.Operators, _ = c.Developers.(*partnertest.Host)
	})...), t: t}
	for _, name := range []string{"Olga", "Otto"} {
		h.Host.SetUser(operator.User{ID: "usr_" + strings.ToLower(name), Name: name, IsOperator: true})
	}
	return h
}

// call sends a request with the session of a user; empty: without one.
func (h *harness) call(userID, what, body string, headers ...string) *partnertest.Response {
	h.t.Helper()
	method, path, _ := strings.Cut(what, " ")
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.APIURL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if userID != "" {
		r.AddCookie(h.Host.NewSession(userID, partnertest.Business))
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return partnertest.Serve(h.t, h.API(), r)
}

// submitted makes an app with a submitted listing and returns its id.
func (h *harness) submitted(slug string) string {
	h.t.Helper()
	app := h.call("usr_ada", "POST /developer/apps", `{"name": "Sync_`+slug+`", "type": "CONFIDENTIAL", "redirectUris": ["https://partner.example/cb"], "scopes": ["invoices:read"]}`).
		Want(http.StatusCreated).Text("id")
	h.call("usr_ada", "POST /developer/apps/"+app+"/listing", `{"slug": "`+slug+`", "name": "Sync", "summary": "Syncs", "description": "All of it."}`).Want(http.StatusCreated)
	h.call("usr_ada", "POST /developer/apps/"+app+"/listing/submit", "").Want(http.StatusOK)
	return app
}

// Every operation is denied to every other kind of caller.
func TestCallers(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.Connect(partnertest.ConnectOptions{})
	unknown := h.call("usr_ada", "GET /operators", "").Want(http.StatusNotFound)
	calls := append(h.Operator().Patterns(), "GET /operator", "PUT /operator/apps", "GET /operator/nothing")
	for _, pattern := range calls {
		what := strings.NewReplacer("{appId}", app.ID, "{userId}", "usr_ada", "{documentId}", "tdh_1", "{businessId}", "biz_1").Replace(pattern)
		t.Run("OPS-01 "+pattern, func(t *testing.T) {
			for _, caller := range []struct {
				name, userID, token, code string
				status                    int
			}{
				{"app token", "", app.AccessToken, "ENDPOINT_NOT_EXPOSED", http.StatusForbidden},
				{"app token beside an operator's session", "usr_olga", app.AccessToken, "ENDPOINT_NOT_EXPOSED", http.StatusForbidden},
				{"no credentials", "", "", "", http.StatusUnauthorized},
				{"console token", "", "pk_ct_unknown", "", http.StatusUnauthorized},
				{"developer's session", "usr_ada", "", "", http.StatusNotFound},
				{"session of a user whom the host does not know", "usr_nobody", "", "", http.StatusNotFound},
			} {
				var headers []string
				if caller.token != "" {
					headers = []string{"Authorization", "Bearer " + caller.token}
				}
				got := h.call(caller.userID, what, "", headers...)
				if got.Status != caller.status || caller.code != "" && !strings.Contains(got.Body, caller.code) {
					t.Errorf("%s: %s", caller.name, got)
				}
				if caller.status == http.StatusNotFound && got.Body != unknown.Body {
					t.Errorf("%s: %s; an unknown path: %s", caller.name, got.Body, unknown.Body)
				}
			}
		})
	}
	t.Run("OPS-01 a suspended operator is no operator", func(t *testing.T) {
		h.call("usr_olga", "POST /operator/users/usr_otto/status", `{"status": "SUSPENDED", "reason": "left"}`).Want(http.StatusOK)
		if got := h.call("usr_otto", "GET /operator/apps", ""); got.Status == http.StatusOK {
			t.Error(got)
		}
	})
	t.Run("CON-07 a write from another site", func(t *testing.T) {
		h.call("usr_olga", "POST /operator/trusted-documents", `{"host": "agent.example"}`, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").Want(http.StatusForbidden)
	})
}

// CON-09: the log of the operators has all that the developers' log has.
func TestAuditOfConsoleToken(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.submitted("sync")
	token := h.call("usr_ada", "POST /developer/tokens", `{"name": "nightly", "organizationId": "org_ledgerlink"}`).Want(http.StatusCreated).Text("token")
	h.call("", "PATCH /developer/apps/"+app, `{"name": "Renamed"}`, "Authorization", "Bearer "+token).Want(http.StatusOK)
	for _, path := range []string{"/operator/audit?action=app.updated", "/operator/apps/" + app} {
		got := h.call("usr_olga", "GET "+path, "").Want(http.StatusOK)
		if !strings.Contains(got.Body, `"token":"nightly"`) || !strings.Contains(got.Body, `"detail":"name: Sync_sync → Renamed"`) {
			t.Errorf("%s: %s", path, got.Body)
		}
	}
}

func TestApps(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.submitted("sync-one")
	h.submitted("other")
	for query, want := range map[string]int{"": 2, "query=SYNC_SYNC": 1, "query=sync%25one": 0, "query=" + app: 1, "query=org_ledgerlink": 2, "status=SUSPENDED": 0} {
		got := h.call("usr_olga", "GET /operator/apps?"+query, "").Want(http.StatusOK)
		if n := strings.Count(got.Body, `"clientId"`); n != want {
			t.Errorf("OPS-01 %q: %d apps, want %d: %s", query, n, want, got.Body)
		}
	}
	for query, problem := range map[string]string{"status=PAUSED": "status must be ACTIVE, SUSPENDED or DEACTIVATED", "query=%00": "query must be UTF-8 without NUL", "query=" + strings.Repeat("x", 513): "query must have at most 512 characters"} {
		if got := h.call("usr_olga", "GET /operator/apps?"+query, "").Want(http.StatusBadRequest); !strings.Contains(got.Body, problem) {
			t.Errorf("OPS-01 %q: %s", query, got)
		}
	}
	status := "POST /operator/apps/" + app + "/status"
	h.call("usr_olga", status, `{"status": "SUSPENDED"}`).Want(http.StatusBadRequest)
	h.call("usr_olga", status, `{"status": "PAUSED", "reason": "x"}`).Want(http.StatusBadRequest)
	h.call("usr_olga", "POST /operator/apps/app_none/status", `{"status": "SUSPENDED", "reason": "x"}`).Want(http.StatusNotFound)
	h.call("usr_olga", status, `{"status": "SUSPENDED", "reason": "Too many errors"}`).Want(http.StatusOK)
	if got := h.call("usr_ada", "GET /developer/apps/"+app, "").Want(http.StatusOK); got.Text("statusReason") != "Too many errors" {
		t.Errorf("OPS-01 the developer does not see the reason: %s", got)
	}
	h.call("usr_olga", status, `{"status": "ACTIVE", "reason": "Fixed"}`).Want(http.StatusOK)
	h.call("usr_olga", status, `{"status": "DEACTIVATED", "reason": "Fraud"}`).Want(http.StatusOK)
	h.call("usr_olga", status, `{"status": "ACTIVE", "reason": "Sorry"}`).Want(http.StatusConflict)
	got := h.call("usr_olga", "GET /operator/audit?actor=usr_olga&appId="+app, "").Want(http.StatusOK)
	for _, want := range []string{"app.suspended", "Too many errors", "app.reactivated", "app.deactivated", "Fraud"} {
		if !strings.Contains(got.Body, want) {
			t.Errorf("CON-07 no %s in %s", want, got.Body)
		}
	}
	if strings.Contains(got.Body, "Sorry") {
		t.Errorf("CON-07 a rejected change is in the log: %s", got.Body)
	}
	lines := h.call("usr_olga", "GET /operator/audit?action=app.suspended", "", "Accept", "application/jsonl").Want(http.StatusOK)
	if lines.Header.Get("Content-Type") != "application/jsonl" || strings.Count(lines.Body, "\n") != 1 || !strings.HasPrefix(lines.Body, `{"id":"aud_`) {
		t.Errorf("OPS-01 export %q", lines.Body)
	}
	if got := h.call("usr_olga", "GET /operator/audit?until=2026-01-01T00:00:00Z", "").Want(http.StatusOK); strings.Contains(got.Body, "aud_") {
		t.Errorf("OPS-01 entries before there were any: %s", got.Body)
	}
	h.call("usr_olga", "GET /operator/audit?since=yesterday", "").Want(http.StatusBadRequest)
	h.call("usr_olga", "GET /operator/audit?since=1970-01-01T00:00:00%2B14:00", "").Want(http.StatusBadRequest) // before 1970 in UTC
	h.call("usr_olga", "GET /operator/apps/"+app, "").Want(http.StatusOK)
	if got := h.call("usr_olga", "GET /operator/figures", "").Want(http.StatusOK); !strings.Contains(got.Body, `"deactivated":1`) {
		t.Errorf("OPS-01 figures %s", got.Body)
	}
}

// OPS-01: the pages of the list, also of apps that the host has imported with ids of its own.
func TestAppsByPage(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	want := []string{"zeta", h.submitted("sync"), "alpha"} // newest first, which is by id
	for _, id := range []string{"zeta", "alpha"} {
		app := fixture.App(h.Clock.Now(), h.OAuth().Scopes().Requestable())
		app.ID = id
		if err := fixture.AddApp(t.Context(), h.Store, app); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	after := ""
	for range want {
		page := h.call("usr_olga", "GET /operator/apps?limit=1"+after, "").Want(http.StatusOK)
		var body struct {
			Data       []struct{ ID string }
			NextCursor string
		}
		page.Decode(&body)
		for _, app := range body.Data {
			got = append(got, app.ID)
		}
		after = "&after=" + body.NextCursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, after := range []string{"beta", "app_1", "%00"} {
		h.call("usr_olga", "GET /operator/apps?after="+after, "").Want(http.StatusBadRequest)
	}
	for query, status := range map[string]int{strings.Repeat("!", 512): 200, strings.Repeat("!", 513): 400, strings.Repeat("a", 50_000): 400} {
		h.call("usr_olga", "GET /operator/apps?query="+query, "").Want(status)
	}
}

func TestReviews(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	first := h.submitted("first")
	h.Advance(time.Second)
	second := h.submitted("second")
	queue := h.call("usr_olga", "GET /operator/reviews", "").Want(http.StatusOK).Body
	if i, j := strings.Index(queue, first), strings.Index(queue, second); i < 0 || j < i {
		t.Errorf("OPS-02 the queue is not oldest first: %s", queue)
	}
	step := func(userID, state string) *partnertest.Response {
		return h.call(userID, "POST /operator/apps/"+first+"/listing", `{"state": "`+state+`", "note": "Note of `+state+`"}`)
	}
	step("usr_olga", "approved").WantCode(http.StatusBadRequest, "LISTING_STATE_INVALID")
	step("usr_olga", "in_review").Want(http.StatusOK)
	step("usr_olga", "in_review").WantCode(http.StatusBadRequest, "LISTING_STATE_INVALID")
	if got := step("usr_otto", "approved").WantCode(http.StatusConflict, "REVIEW_CONFLICT"); !strings.Contains(got.Body, `"p0":"Olga"`) {
		t.Errorf("OPS-02 conflict %s", got)
	}
	step("usr_olga", "changes_requested").Want(http.StatusOK)
	step("usr_otto", "in_review").WantCode(http.StatusConflict, "REVIEW_CONFLICT")
	if got := h.call("usr_ada", "GET /developer/apps/"+first+"/listing", "").Want(http.StatusOK); !strings.Contains(got.Body, "Note of changes_requested") || strings.Contains(got.Body, "usr_olga") {
		t.Errorf("OPS-02 the developer sees %s", got)
	}
	h.call("usr_ada", "PUT /developer/apps/"+first+"/listing", `{"slug": "first", "name": "Sync", "summary": "Better", "description": "All."}`).Want(http.StatusOK)
	step("usr_otto", "in_review").WantCode(http.StatusBadRequest, "LISTING_STATE_INVALID")
	h.call("usr_ada", "POST /developer/apps/"+first+"/listing/submit", "").Want(http.StatusOK)
	step("usr_otto", "in_review").Want(http.StatusOK)
	t.Run("OPS-02 a revision of a suspended operator", func(t *testing.T) {
		h.call("usr_olga", "POST /operator/users/usr_otto/status", `{"status": "SUSPENDED", "reason": "left"}`).Want(http.StatusOK)
		step("usr_olga", "changes_requested").Want(http.StatusOK)
		h.call("usr_olga", "POST /operator/users/usr_otto/status", `{"status": "ACTIVE", "reason": "back"}`).Want(http.StatusOK)
		h.call("usr_ada", "PUT /developer/apps/"+first+"/listing", `{"slug": "first", "name": "Sync", "summary": "Better", "description": "All."}`).Want(http.StatusOK)
		h.call("usr_ada", "POST /developer/apps/"+first+"/listing/submit", "").Want(http.StatusOK)
		step("usr_otto", "in_review").Want(http.StatusOK)
	})
	t.Run("OPS-02 a revision of a former operator", func(t *testing.T) {
		h.Host.SetUser(operator.User{ID: "usr_otto", Name: "Otto"})
		step("usr_olga", "approved").Want(http.StatusOK)
	})
}

// OPS-02: 32 operators at once on one revision, on both databases.
func TestRaceOfOperators(t *testing.T) {
	t.Parallel()
	const operators = 32
	for name, open := range map[string]func(testing.TB) storage.DB{"SQLite": testdb.SQLite, "PostgreSQL": testdb.Postgres} {
		t.Run("OPS-02 "+name, func(t *testing.T) {
			t.Parallel()
			store := testdb.NewEnv(t, open)
			h := newHarness(t, func(c *partnerkit.Config) { c.Store = store })
			for i := range operators {
				id := fmt.Sprint("usr_op", i)
				h.Host.SetUser(operator.User{ID: id, Name: fmt.Sprint("Operator ", i), IsOperator: true})
			}
			app := h.submitted("raced")
			race := func(state string, by func(i int) string) (winner int) {
				got := make([]*partnertest.Response, operators)
				testdb.Race(operators, func(i int) {
					got[i] = h.call(by(i), "POST /operator/apps/"+app+"/listing", `{"state": "`+state+`"}`)
				})
				winner = -1
				for i, one := range got {
					if one.Status == http.StatusOK {
						if winner >= 0 {
							t.Errorf("%d and %d both took it", winner, i)
						}
						winner = i
					}
				}
				for i, one := range got {
					lost := one.Status == http.StatusConflict && strings.Contains(one.Body, fmt.Sprintf(`"p0":"Operator %d"`, winner))
					twice := one.Status == http.StatusBadRequest && by(0) == by(1)
					if i != winner && !lost && !twice {
						t.Errorf("%d: %s", i, one)
					}
				}
				return winner
			}
			taker := race("in_review", func(i int) string { return fmt.Sprint("usr_op", i) })
			if taker < 0 {
				t.Fatal("no operator took it")
			}
			if race("approved", func(int) string { return fmt.Sprint("usr_op", taker) }) < 0 {
				t.Error("no operator approved it")
			}
			got := h.call("usr_olga", "GET /operator/audit?appId="+app, "").Want(http.StatusOK)
			if strings.Count(got.Body, `"listing.in_review"`) != 1 || strings.Count(got.Body, `"listing.approved"`) != 1 {
				t.Errorf("CON-07 the audit log has not one entry of each: %s", got.Body)
			}
		})
	}
}

// CIMD-04: the spellings of a name are one entry, those that were stored before included.
func TestDocumentNames_CIMD04(t *testing.T) {
	t.Parallel()
	const path = "/operator/trusted-documents"
	spellings := []string{"agent.example", "agent.example:443", "https://agent.example", "https://agent.example/", "https://AGENT.example:443/"}
	listed := func(h *harness, want ...string) {
		h.t.Helper()
		var got struct{ Data []struct{ Host string } }
		h.call("usr_olga", "GET "+path, "").Want(http.StatusOK).Decode(&got)
		var hosts []string
		for _, one := range got.Data {
			hosts = append(hosts, one.Host)
		}
		if diff := cmp.Diff(want, hosts); diff != "" {
			h.t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, first := range spellings {
		t.Run("CIMD-04 "+first, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t)
			added := h.call("usr_olga", "POST "+path, `{"host": "`+first+`"}`).Want(http.StatusCreated)
			if got := added.Text("host"); got != "agent.example" {
				t.Errorf("kept as %s", got)
			}
			for _, again := range spellings {
				h.call("usr_olga", "POST "+path, `{"host": "`+again+`"}`).WantCode(http.StatusConflict, "CONFLICT")
			}
			h.Clock.Advance(time.Second)
			h.call("usr_olga", "POST "+path, `{"host": "https://agent.example/clients"}`).Want(http.StatusCreated) // another entry
			listed(h, "agent.example", "https://agent.example/clients")
			h.call("usr_olga", "DELETE "+path+"/"+url.PathEscape(first), "").Want(http.StatusNoContent)
			h.call("usr_olga", "DELETE "+path+"/"+url.PathEscape(first), "").Want(http.StatusNotFound)
			h.call("usr_olga", "DELETE "+path+"/a%20b", "").Want(http.StatusNotFound)
			listed(h, "https://agent.example/clients")
			h.call("usr_olga", "POST "+path, `{"host": "agent.example"}`).Want(http.StatusCreated)
			got := h.call("usr_olga", "GET /operator/audit", "").Want(http.StatusOK).Body
			if strings.Count(got, `"target":"agent.example"`) != 3 {
				t.Errorf("the audit log: %s", got)
			}
		})
	}
	t.Run("CIMD-04 stored as entered", func(t *testing.T) {
		t.Parallel()
		h := newHarness(t)
		var stored []string
		for i, host := range append(spellings, "https://Other.example/clients") {
			one := consolestore.TrustedDocument{ID: fmt.Sprintf("tdh_%d", i), Host: host, CreatedAt: h.Clock.Now()}
			if err := h.Store.AddTrustedDocument(t.Context(), one); err != nil {
				t.Fatal(err)
			}
			stored = append(stored, one.ID)
		}
		listed(h, "agent.example", "https://other.example/clients")
		for _, again := range append(spellings, "https://other.example/clients") {
			h.call("usr_olga", "POST "+path, `{"host": "`+again+`"}`).WantCode(http.StatusConflict, "CONFLICT")
		}
		h.call("usr_olga", "DELETE "+path+"/"+stored[2], "").Want(http.StatusNoContent)
		listed(h, "https://other.example/clients")
		trust, err := operator.DocumentPolicy(h.Store, nil)(t.Context(), "https://agent.example/client")
		if err != nil || trust.Review != "" {
			t.Errorf("trusted after its removal: %+v, %v", trust, err)
		}
		h.call("usr_olga", "DELETE "+path+"/https:%2F%2Fother.example%2Fclients", "").Want(http.StatusNoContent)
		listed(h)
	})
}

func TestUsersAndDocuments(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.Connect(partnertest.ConnectOptions{})
	h.call("usr_olga", "POST /operator/users/usr_ada/status", `{"status": "GONE", "reason": "x"}`).Want(http.StatusBadRequest)
	h.call("usr_olga", "POST /operator/users/usr_none/status", `{"status": "SUSPENDED", "reason": "x"}`).Want(http.StatusNotFound)
	h.call("usr_olga", "POST /operator/users/usr_olga/status", `{"status": "SUSPENDED", "reason": "x"}`).Want(http.StatusBadRequest)
	h.call("usr_olga", "POST /operator/users/usr_ada/status", `{"status": "RESTRICTED", "reason": "Asked for it"}`).Want(http.StatusOK)
	if got := h.call("usr_olga", "GET /operator/users/usr_ada", "").Want(http.StatusOK); got.Text("status") != "RESTRICTED" {
		t.Errorf("OPS-01 %s", got)
	}
	h.call("usr_olga", "POST /operator/users/usr_olga/erase", "").Want(http.StatusBadRequest)
	if got := h.call("usr_olga", "POST /operator/users/usr_ada/erase", `{"reason": "A request"}`).Want(http.StatusOK); !strings.Contains(got.Body, `"consents":1,"families":1`) {
		t.Errorf("OPS-04 erased %s", got)
	}
	h.call("usr_olga", "POST /operator/users/usr_ada/erase", "").Want(http.StatusOK)
	if got := h.call("usr_olga", "GET /operator/audit", "").Want(http.StatusOK); strings.Contains(got.Body, "usr_ada") || !strings.Contains(got.Body, "user.erased") {
		t.Errorf("OPS-04 the audit log after an erasure: %s", got)
	}

	for _, host := range []string{"", "agent.example/path", "ftp://agent.example", "a b"} {
		h.call("usr_olga", "POST /operator/trusted-documents", `{"host": "`+host+`"}`).Want(http.StatusBadRequest)
	}
	id := h.call("usr_olga", "POST /operator/trusted-documents", `{"host": "Agent.example", "reason": "Checked"}`).Want(http.StatusCreated).Text("id")
	h.call("usr_olga", "POST /operator/trusted-documents", `{"host": "agent.example"}`).Want(http.StatusConflict)
	policy := operator.DocumentPolicy(h.Store, nil)
	trust, err := policy(t.Context(), "https://agent.example/client")
	if err != nil || trust.Review != "reviewed" {
		t.Errorf("OPS-01 trusted: %+v, %v", trust, err)
	}
	h.call("usr_olga", "DELETE /operator/trusted-documents/"+id, "").Want(http.StatusNoContent)
	h.call("usr_olga", "DELETE /operator/trusted-documents/"+id, "").Want(http.StatusNotFound)
	if trust, err := policy(t.Context(), "https://agent.example/client"); err != nil || trust.Review != "" {
		t.Errorf("OPS-01 no longer trusted: %+v, %v", trust, err)
	}
	if got := h.call("usr_olga", "GET /operator/trusted-documents", "").Want(http.StatusOK); got.Body != "{\"data\":[]}\n" && got.Body != `{"data":[]}` {
		t.Error(got.Body)
	}
}

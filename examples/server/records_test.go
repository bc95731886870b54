package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// send makes a call of the API with a token and a JSON body.
func (r *harness) send(method, path, token, body string, header ...string) response {
	r.t.Helper()
	req := request(r.t, method, r.api+path, "application/json", body)
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return do(r.t, http.DefaultClient, req)
}

// allScopes opens all records to the demo's first app, and returns what to ask for.
func (r *harness) allScopes() string {
	r.t.Helper()
	scopes := []string{"events:read"}
	for _, family := range []string{"invoices", "customers", "suppliers", "payments", "accounts", "journal"} {
		scopes = append(scopes, family+":read", family+":write")
	}
	list, err := json.Marshal(scopes)
	if err != nil {
		r.t.Fatal(err)
	}
	r.dev("apps/"+syncID+"/scopes", `{"scopes": `+string(list)+`}`).want(r.t, http.StatusOK)
	return strings.Join(scopes, " ")
}

// gates are the calls of the ledger with what they ask for. A call that passes both
// gets as far as to what is wrong with it.
var gates = []struct {
	method, path, scope, permission string
	passed                          int
}{
	{"GET", "/invoices", "invoices:read", "", 200},
	{"GET", "/invoices/x", "invoices:read", "", 404},
	{"POST", "/invoices", "invoices:write", "", 400},
	{"POST", "/invoices/bulk-import", "invoices:write", "", 400},
	{"GET", "/customers", "customers:read", "", 200},
	{"GET", "/customers/x", "customers:read", "", 404},
	{"POST", "/customers", "customers:write", "", 400},
	{"GET", "/suppliers", "suppliers:read", "", 200},
	{"GET", "/suppliers/x", "suppliers:read", "", 404},
	{"POST", "/suppliers", "suppliers:write", "", 400},
	{"GET", "/payments", "payments:read", "", 200},
	{"GET", "/payments/x", "payments:read", "", 404},
	{"POST", "/payments", "payments:write", "", 400},
	{"DELETE", "/payments/x", "payments:write", "payments.delete", 404},
	{"GET", "/accounts", "accounts:read", "", 200},
	{"GET", "/accounts/x", "accounts:read", "", 404},
	{"POST", "/accounts", "accounts:write", "accounts.manage", 400},
	{"PATCH", "/accounts/x", "accounts:write", "accounts.manage", 404},
	{"GET", "/journal-entries", "journal:read", "", 200},
	{"GET", "/journal-entries/x", "journal:read", "", 404},
	{"POST", "/journal-entries", "journal:write", "journal.post", 400},
}

// API-03, API-05, BIZ-03: each call asks for its scope and then for its permission,
// and for nothing else.
func TestGatesOfTheRecords(t *testing.T) {
	t.Parallel()
	r := start(t)
	all := r.allScopes()
	owner := r.session("usr_ada", "biz_bakery")
	token := r.connect(owner, "biz_bakery", all)["access_token"].(string)
	byScope := map[string]string{}
	for _, gate := range gates {
		if byScope[gate.scope] == "" {
			byScope[gate.scope] = r.connect(owner, "biz_bakery", gate.scope)["access_token"].(string)
		}
	}
	permit := func(permissions string) {
		r.dev("permissions", `{"businessId": "biz_bakery", "userId": "usr_ada", "permissions": [`+permissions+`]}`).want(t, http.StatusOK)
	}
	check := func(gate int, token string, status int, says string) {
		t.Helper()
		g := gates[gate]
		if a := r.send(g.method, g.path, token, "{}"); a.StatusCode != status || !strings.Contains(a.body, says) {
			t.Errorf("%s %s: %d %s, want %d %s", g.method, g.path, a.StatusCode, a.body, status, says)
		}
	}
	permit("")
	for i, g := range gates {
		check(i, otherScope(byScope, g.scope), http.StatusForbidden, `"message":"Insufficient scope`) // the scope comes first
		if g.permission == "" {
			check(i, byScope[g.scope], g.passed, "")
			continue
		}
		check(i, token, http.StatusForbidden, "PERMISSION_REQUIRED")
	}
	for i, g := range gates {
		if g.permission != "" {
			permit(`"` + g.permission + `"`)
			check(i, byScope[g.scope], g.passed, "")
		}
	}
	for _, path := range []string{"PUT /invoices/x", "DELETE /invoices/x", "PATCH /payments/x", "DELETE /accounts/x", "GET /invoices/bulk-import/x"} {
		method, path, _ := strings.Cut(path, " ")
		if a := r.send(method, path, token, "{}"); a.StatusCode != http.StatusForbidden || !strings.Contains(a.body, "ENDPOINT_NOT_EXPOSED") {
			t.Errorf("%s %s: %d %s", method, path, a.StatusCode, a.body)
		}
	}
}

// otherScope is a token with a single scope that is not this one.
func otherScope(byScope map[string]string, scope string) string {
	for other, token := range byScope {
		if other != scope {
			return token
		}
	}
	return ""
}

// API-02, API-08: the business is always the token's, even if the request names another
// one, and records of other businesses are not visible.
func TestRecordsOfOneBusiness(t *testing.T) {
	t.Parallel()
	r := start(t)
	scopes := r.allScopes()
	bakery := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", scopes)["access_token"].(string)
	cycles := r.connect(r.session("usr_ben", "biz_cycles"), "biz_cycles", scopes)["access_token"].(string)
	made := r.send("POST", "/invoices?businessId=biz_cycles", bakery, `{"number": "1", "currency": "EUR", "total": 100}`, "X-Business-Id", "biz_cycles").
		want(t, http.StatusCreated)
	path := made.Header.Get("Location")
	r.call("GET", path, bakery).want(t, http.StatusOK)
	if a := r.call("GET", path, cycles, "X-Business-Id", "biz_bakery").want(t, http.StatusNotFound).json(t); a["code"] != "RECORD_NOT_FOUND" {
		t.Error(a)
	}
	if a := r.call("GET", "/invoices?businessId=biz_bakery", cycles).want(t, http.StatusOK); strings.Contains(a.body, made.json(t)["id"].(string)) {
		t.Errorf("in the list of another business: %s", a.body)
	}
	r.send("POST", "/invoices", bakery, `{"number": "1", "currency": "EUR", "total": 100, "businessId": "biz_cycles"}`).want(t, http.StatusBadRequest)
}

// BIZ-04, EVT-01, VER-01: the Events API shows the record as its GET does, in every
// version.
func TestEventsOfTheRecords(t *testing.T) {
	t.Parallel()
	r := start(t)
	token := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read invoices:write events:read")["access_token"].(string)
	for _, version := range []string{"2026-01-15", "2026-09-01"} {
		made := r.send("POST", "/invoices", token, `{"number": "<№ 1>", "currency": "EUR", "total": 100}`, "Service-Version", version).want(t, http.StatusCreated)
		shown := r.call("GET", made.Header.Get("Location"), token, "Service-Version", version).want(t, http.StatusOK)
		log := r.call("GET", "/events?types=invoice.created", token, "Service-Version", version).want(t, http.StatusOK)
		if shown.body != made.body || !strings.Contains(log.body, `"apiVersion":"`+version+`","businessId":"biz_bakery"`) || !strings.Contains(log.body, `"data":`+made.body+`}`) {
			t.Errorf("made %s\nshown %s\nevents %s", made.body, shown.body, log.body)
		}
	}
}

// APD-02, APD-04: apps attach values to records that there are.
func TestAppDataOnRecords(t *testing.T) {
	t.Parallel()
	r := start(t)
	token := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read invoices:write")["access_token"].(string)
	id := r.send("POST", "/invoices", token, `{"number": "1", "currency": "EUR", "total": 100}`).want(t, http.StatusCreated).json(t)["id"].(string)
	value := func(id string) string {
		return `{"values": [{"resourceType": "invoice", "resourceId": "` + id + `", "key": "syncStatus", "value": "synced"}]}`
	}
	r.send("PUT", "/app-data", token, value(id)).want(t, http.StatusOK)
	if a := r.call("GET", "/app-data?resourceId="+id, token).want(t, http.StatusOK); !strings.Contains(a.body, `"value":"synced"`) {
		t.Error(a.body)
	}
	other := r.connect(r.session("usr_ben", "biz_cycles"), "biz_cycles", "invoices:read")["access_token"].(string)
	for _, a := range []response{r.send("PUT", "/app-data", other, value(id)), r.send("PUT", "/app-data", token, value("inv_06g5plpa01o015r0g79mgnmm4c"))} {
		if a.want(t, http.StatusNotFound); !strings.Contains(a.body, "RECORD_NOT_FOUND") {
			t.Error(a.body)
		}
	}
}

// BIZ-01: plans are those of the fixtures, which bring no records; turnover is limited
// on the free plan alone. The demo has a few.
func TestPlansOfTheFixtures(t *testing.T) {
	t.Parallel()
	plan := func(plan string) string {
		return strings.Replace(demo, `"name": "Moreau Bakery",`, `"name": "Moreau Bakery", "currency": "USD", `+plan+`,`, 1)
	}
	for _, test := range []struct {
		fixtures string
		made     int    // invoices of 60 USD, and then
		says     string // what the refusal says, or empty
	}{
		{plan(`"plan": "FREE", "turnoverLimit": 100`), 2, "the FREE plan allows a turnover of 100 minor units of USD"},
		{plan(`"plan": "FREE", "invoiceLimit": 2`), 2, "the FREE plan allows 2 invoices"},
		{plan(`"turnoverLimit": 100, "invoiceLimit": 2`), 2, "the PAID plan allows 2 invoices"},
		{plan(`"plan": "FREE"`), 3, ""},
	} {
		r := start(t, "-fixtures", file(t, "plan.json", test.fixtures))
		token := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "invoices:read invoices:write")["access_token"].(string)
		if a := r.call("GET", "/invoices", token).want(t, http.StatusOK); a.body != `{"data":[],"hasMore":false}` {
			t.Errorf("at first: %s", a.body)
		}
		const invoice = `{"number": "1", "currency": "USD", "total": 60}`
		for range test.made {
			r.send("POST", "/invoices", token, invoice).want(t, http.StatusCreated)
		}
		if test.says == "" {
			continue
		}
		a := r.send("POST", "/invoices", token, invoice).want(t, http.StatusForbidden)
		if a.json(t)["code"] != "INVOICE_LIMIT_REACHED" || !strings.Contains(a.body, test.says) {
			t.Errorf("%s: %s", test.says, a.body)
		}
		if a := r.call("GET", "/invoices", token).want(t, http.StatusOK); strings.Count(a.body, `"inv_`) != test.made {
			t.Errorf("at the ceiling: %s", a.body)
		}
	}

	r := start(t)
	scopes := r.allScopes()
	for business, user := range map[string]string{"biz_bakery": "usr_ada", "biz_cycles": "usr_ben", "biz_ledgerlink_sandbox": "usr_dev"} {
		token := r.connect(r.session(user, business), business, scopes)["access_token"].(string)
		for _, path := range []string{"/invoices", "/customers", "/suppliers", "/payments", "/accounts", "/journal-entries"} {
			if a := r.call("GET", path, token).want(t, http.StatusOK); strings.Contains(a.body, `"data":[]`) {
				t.Errorf("the demo has no %s in %s", path, business)
			}
		}
		if a := r.call("GET", "/events", token).want(t, http.StatusOK); strings.Contains(a.body, "invoice.created") {
			t.Errorf("the demo's records are news: %s", a.body)
		}
	}
}

package main

import (
	"net/http"
	"strings"
	"testing"
)

// withHeaders sends a request with more headers, which are pairs.
func (r *harness) withHeaders(b *http.Client, method, path, body string, headers ...string) response {
	r.t.Helper()
	req := request(r.t, method, r.api+path, "application/json", body)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return do(r.t, b, req)
}

// BIZ-05: people with a session reach the endpoints of the books, with their own
// permissions, in the business that they are signed into.
func TestBooksOfPeople_BIZ05(t *testing.T) {
	t.Parallel()
	r := start(t)
	ada := r.session("usr_ada", "biz_bakery")
	cleo := r.session("usr_cleo", "biz_bakery")
	made := r.withHeaders(ada, "POST", "/invoices", `{"number": "B-1", "currency": "EUR", "total": 5}`, "Service-Version", "2026-01-15").want(t, http.StatusCreated)
	if made.Header.Get("Service-Version") != "2026-01-15" {
		t.Errorf("version %q", made.Header.Get("Service-Version"))
	}
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		if made.Header.Get(name) != "" {
			t.Errorf("%s: %q", name, made.Header.Get(name))
		}
	}
	for _, path := range []string{"/invoices", "/invoices/" + made.json(t)["id"].(string), "/customers", "/suppliers", "/payments", "/accounts", "/journal-entries"} {
		r.withHeaders(cleo, "GET", path, "").want(t, http.StatusOK)
	}
	if a := r.withHeaders(ada, "GET", "/profile", "").want(t, http.StatusOK); !strings.Contains(a.body, `"usr_ada"`) || !strings.Contains(a.body, `"biz_bakery"`) {
		t.Error(a.body)
	}
	r.withHeaders(ada, "POST", "/accounts", `{"code": "7777", "name": "Own", "type": "asset"}`).want(t, http.StatusCreated)
	for path, body := range map[string]string{"/accounts": `{"code": "7778", "name": "Own", "type": "asset"}`, "/journal-entries": `{}`} {
		if a := r.withHeaders(cleo, "POST", path, body).want(t, http.StatusForbidden); a.json(t)["code"] != "PERMISSION_REQUIRED" {
			t.Error(a.body)
		}
	}
	r.withHeaders(ada, "GET", "/invoices", "", "Service-Version", "2025-06-01").want(t, http.StatusBadRequest)
	for path, code := range map[string]string{"/app-data?resourceId=x": "APP_DATA_API_AVAILABLE_CONNECTED_APPS_ONLY", "/events": "EVENT_LOG_AVAILABLE_CONNECTED_APPS_ONLY", "/events/evt_1": "EVENT_LOG_AVAILABLE_CONNECTED_APPS_ONLY"} {
		if a := r.withHeaders(ada, "GET", path, "").want(t, http.StatusForbidden); a.json(t)["code"] != code {
			t.Error(a.body)
		}
	}
	// API-01: beside a cookie the Bearer counts.
	r.withHeaders(ada, "GET", "/invoices", "", "Authorization", "Bearer pk_at_wrong").want(t, http.StatusUnauthorized)
	// CON-07: writes of other sites are refused.
	for _, header := range [][]string{{"Origin", "https://evil.example"}, {"Sec-Fetch-Site", "cross-site"}, {"Origin", "null"}} {
		r.withHeaders(ada, "POST", "/invoices", `{"number": "B-2", "currency": "EUR", "total": 5}`, header...).want(t, http.StatusForbidden)
	}
	for _, origin := range []string{r.app, r.api} {
		r.withHeaders(ada, "POST", "/customers", `{"name": "Own"}`, "Origin", origin).want(t, http.StatusCreated)
	}
}

// BIZ-05: the business is the one that the person is signed into and is a member of.
func TestBusinessOfPeople_BIZ05(t *testing.T) {
	t.Parallel()
	r := start(t)
	lonely := start(t, "-fixtures", file(t, "lonely.json", `{"users": [{"id": "usr_1", "email": "one@example.com", "password": "demo-one", "name": "One"}]}`))
	nowhere := lonely.session("usr_1", "")
	for _, call := range []string{"GET /invoices", "POST /customers", "GET /profile"} {
		method, path, _ := strings.Cut(call, " ")
		if a := lonely.withHeaders(nowhere, method, path, `{"name": "x"}`).want(t, http.StatusBadRequest); !strings.Contains(a.body, "no business") {
			t.Error(a.body)
		}
	}
	ben := r.session("usr_ben", "biz_cycles")
	a := r.withHeaders(ben, "POST", "/invoices", `{"number": "C-1", "currency": "EUR", "total": 5}`).want(t, http.StatusCreated)
	if other := r.withHeaders(r.session("usr_ada", "biz_bakery"), "GET", "/invoices/"+a.json(t)["id"].(string), ""); other.StatusCode != http.StatusNotFound {
		t.Errorf("an invoice of another business: %d", other.StatusCode)
	}
	r.dev("users/usr_ben/status", `{"status": "SUSPENDED"}`).want(t, http.StatusOK)
	r.withHeaders(ben, "GET", "/invoices", "").want(t, http.StatusForbidden)
}

// BIZ-05: an Idempotency-Key belongs to user and business.
func TestKeysOfPeople_BIZ05(t *testing.T) {
	t.Parallel()
	r := start(t)
	const body = `{"number": "K-1", "currency": "EUR", "total": 5}`
	create := func(b *http.Client) (id string, replayed bool) {
		a := r.withHeaders(b, "POST", "/invoices", body, "Idempotency-Key", "k").want(t, http.StatusCreated)
		return a.json(t)["id"].(string), a.Header.Get("Idempotency-Replayed") == "true"
	}
	ada := r.session("usr_ada", "biz_bakery")
	first, _ := create(ada)
	if again, replayed := create(r.session("usr_ada", "biz_bakery")); again != first || !replayed {
		t.Errorf("%s after %s, replayed %t", again, first, replayed)
	}
	for name, other := range map[string]*http.Client{"another user": r.session("usr_ben", "biz_bakery"), "another business": r.session("usr_ben", "biz_cycles")} {
		if id, replayed := create(other); id == first || replayed {
			t.Errorf("%s: %s, replayed %t", name, id, replayed)
		}
	}
	r.withHeaders(ada, "POST", "/customers", `{"name": "x"}`, "Idempotency-Key", "k").want(t, http.StatusUnprocessableEntity)
}

// BIZ-05, LIM-05: 600 a minute for an address, without the code of apps.
func TestLimitOfPeople_LIM05(t *testing.T) {
	t.Parallel()
	r := start(t)
	ada := r.session("usr_ada", "biz_bakery")
	call := func() response { return r.withHeaders(ada, "GET", "/invoices?limit=1", "") }
	a, allowed := call(), 0
	for ; a.StatusCode == http.StatusOK && allowed < 1200; a = call() { // a new minute may begin meanwhile
		allowed++
	}
	a.want(t, http.StatusTooManyRequests)
	if allowed < 600 {
		t.Errorf("%d calls were allowed, want 600", allowed)
	}
	if a.Header.Get("Retry-After") == "" || a.json(t)["code"] != nil || a.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("%v %s", a.Header, a.body)
	}
}

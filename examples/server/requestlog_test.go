package main

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// secrets returns one secret of each kind, all of them valid at the server.
func (r *harness) secrets(developer *http.Client) map[string]string {
	r.t.Helper()
	verifier := rand.Text() + rand.Text() // 52 characters
	all := map[string]string{"PKCE verifier": verifier}

	ada := r.session("usr_ada", "biz_bakery")
	tokens := r.connect(ada, "biz_bakery", "events:read invoices:read invoices:write")
	all["access token"], all["refresh token"] = tokens["access_token"].(string), tokens["refresh_token"].(string)
	sum := sha256.Sum256([]byte(verifier))
	form := get(r.t, ada, r.app+"/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {syncID}, "redirect_uri": {syncCallback}, "scope": {"invoices:read"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode()).want(r.t, http.StatusOK).form()
	form.Set("business_id", "biz_bakery")
	form.Set("decision", "allow")
	back, err := url.Parse(post(r.t, ada, r.app+"/oauth/authorize", form).want(r.t, http.StatusSeeOther).Header.Get("Location"))
	if err != nil {
		r.t.Fatal(err)
	}
	all["authorization code"] = back.Query().Get("code")
	device := r.oauth("device/authorize", url.Values{"scope": {"invoices:read"}}).want(r.t, http.StatusOK).json(r.t)
	all["device code"], all["user code"] = device["device_code"].(string), device["user_code"].(string)
	all["session token"] = r.dev("session-tokens", `{"clientId": "`+syncID+`", "businessId": "biz_bakery", "userId": "usr_ada"}`).
		want(r.t, http.StatusOK).json(r.t)["sessionToken"].(string)
	host, err := url.Parse(r.app)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, cookie := range ada.Jar.Cookies(host) {
		all["cookie "+cookie.Name] = cookie.Value
	}

	all["client secret"] = r.console(developer, http.MethodPost, "apps/app_sync/secrets", "").want(r.t, http.StatusCreated).json(r.t)["secret"].(string)
	all["webhook secret"] = r.console(developer, http.MethodPost, "apps/app_sync/webhooks", `{"url": "http://localhost:9090/other", "events": []}`).
		want(r.t, http.StatusCreated).json(r.t)["secret"].(string)
	all["console token"] = r.console(developer, http.MethodPost, "tokens", `{"name": "Scripts", "organizationId": "org_ledgerlink"}`).
		want(r.t, http.StatusCreated).json(r.t)["token"].(string)
	proof := url.Values{}
	client{harness: r, id: syncID, key: newKey(r.t)}.prove(r.t, proof, nil)
	all["assertion"] = proof.Get("client_assertion")
	return all
}

// carry makes calls with a secret at every place of a request, in the name of the app. Errors
// name versions, cursors, ids and members that are not known.
func (r *harness) carry(secret, token string) (calls int) {
	r.t.Helper()
	try := func(method, path, contentType, body string, header ...string) {
		r.t.Helper()
		req := request(r.t, method, r.api+path, contentType, body)
		req.Header.Set("Authorization", "Bearer "+token)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			r.t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		calls++
	}
	const form, asJSON = "application/x-www-form-urlencoded", "application/json"
	inQuery, inJSON := url.QueryEscape(secret), func(format string) string {
		quoted, _ := json.Marshal(secret) // never fails for a string
		return strings.ReplaceAll(format, "%", string(quoted))
	}
	paths := []string{
		"/" + url.PathEscape(secret), "/invoices/" + url.PathEscape(secret) + "/" + url.PathEscape(secret), "/invoices?" + inQuery, "/invoices?limit=" + inQuery, "/invoices?token=" + inQuery,
		"/invoices?access_token=" + inQuery, "/invoices?code_verifier=" + inQuery, "/events?" + inQuery + "=1", "/nowhere?token=" + inQuery,
		"/invoices/" + url.PathEscape(secret), "/events/" + url.PathEscape(secret), "/invoices?after=" + inQuery, "/events?after=" + inQuery,
		"/app-data?resourceType=" + inQuery, "/app-data?resourceType=invoice&resourceId=" + inQuery,
	}
	headers := []string{"X-Request-Id", "Traceparent", "Cookie", "Accept", "User-Agent", "Referer", "X-Code-Verifier", "Service-Version", "Idempotency-Key"}
	bodies := []string{
		secret, inJSON(`%`), inJSON(`{"number": [%]}`), inJSON(`{"number": "1", "currency": %, "total": 1}`),
		inJSON(`{"number": "1", "currency": "EUR", "total": %}`), inJSON(`{"code_verifier": %}`), inJSON(`{%: 1}`),
	}
	try(http.MethodPut, "/app-data", asJSON, inJSON(`{"resourceType": %, "resourceId": %, "values": [{"key": %, "value": 1}]}`))
	for _, path := range paths {
		try(http.MethodGet, path, "", "")
	}
	if !strings.ContainsAny(secret, "\r\n") {
		for _, name := range headers {
			try(http.MethodGet, "/invoices", "", "", name, secret)
			try(http.MethodGet, "/nowhere", "", "", name, secret)
		}
		try(http.MethodPost, "/invoices", asJSON, `{"number": 7}`, "Idempotency-Key", secret)
		try(http.MethodPost, "/invoices", secret, `{"number": 7}`)
	}
	for _, body := range bodies {
		try(http.MethodPost, "/invoices", asJSON, body)
	}
	try(http.MethodPost, "/invoices", form, "token="+secret)
	try(http.MethodPost, "/nowhere", asJSON, inJSON(`{"token": %}`))
	try(http.MethodPost, "/oauth/token?token="+inQuery, form, url.Values{"grant_type": {secret}, "code": {secret}, "scope": {secret}}.Encode())
	if regexp.MustCompile(`^[A-Za-z0-9_.-]+$`).MatchString(secret) { // it can be a method
		try(secret, "/invoices", "", "")
		try(secret, "/nowhere", "", "")
	}
	return calls
}

// fragments are the parts of a secret that must not be anywhere: all of it, and its middle,
// which remains when its ends are cut off.
func fragments(secret string) []string {
	if len(secret) < 24 {
		return []string{secret, strings.ReplaceAll(secret, "-", "")}
	}
	return []string{secret, secret[len(secret)/2-6 : len(secret)/2+6]}
}

// CON-10: nothing that a call carries puts a secret into the request log, its JSON, its page
// or the server's log.
func TestRequestLogHoldsNoSecret_CON10(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "books.db")
	r := start(t, "-db", db, "-agents")
	developer := r.session("usr_dev", "")
	secrets := r.secrets(developer)
	if len(secrets) < 12 {
		t.Fatalf("there are %d kinds of secrets", len(secrets))
	}
	calls, encodings := 0, make(map[string][]string)
	for name, secret := range secrets {
		if secret == "" {
			t.Fatalf("the %s is empty", name)
		}
		calls += r.carry(secret, secrets["access token"]) - 1 // one of them is no call of the API
		r.dev("clock", `{"advanceSeconds": 60}`).want(t, http.StatusOK)
		if len(secret) > 24 { // a user code is too short to be recognized
			for _, encoded := range []string{
				base64.StdEncoding.EncodeToString([]byte(syncID + ":" + secret)), base64.RawURLEncoding.EncodeToString([]byte("x:" + secret)),
				strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(secret), "_", "%5F"), ".", "%2E"), secret[:20] + "\n" + secret[20:],
			} {
				if name == "PKCE verifier" && strings.Contains(encoded, "\n") {
					continue // its halves look like any other text
				}
				calls += r.carry(encoded, secrets["access token"]) - 1
				r.dev("clock", `{"advanceSeconds": 60}`).want(t, http.StatusOK)
				encodings[name] = append(encodings[name], encoded)
			}
		}
		if name != "access token" {
			r.call(http.MethodGet, "/invoices", secret).want(t, http.StatusUnauthorized)
		}
		r.dev("clock", `{"advanceSeconds": 60}`).want(t, http.StatusOK)
	}
	r.dev("clock", `{"advanceSeconds": 3600}`).want(t, http.StatusOK)
	for _, secret := range secrets { // with a token that has expired
		r.call(http.MethodGet, "/invoices/"+secret+"?token="+secret, secrets["access token"]).want(t, http.StatusUnauthorized)
		calls++
	}

	shown := map[string]string{"JSON": r.requestLog(developer), "page": r.requestPages(developer)}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	shown["server's log"] = r.stderr.String()
	rows := dump(t, db)
	if got := strings.Count(rows, "\nreq_"); got != calls {
		t.Errorf("the log has %d calls, want %d", got, calls)
	}
	shown["database"] = rows
	for place, text := range shown {
		for name, secret := range secrets {
			for _, part := range fragments(secret) {
				if i := strings.Index(text, part); i >= 0 {
					t.Errorf("the %s holds the %s: %s", place, name, text[max(0, i-200):min(len(text), i+100)])
				}
			}
			for _, encoded := range encodings[name] {
				for _, part := range []string{encoded[len(encoded)/2-8 : len(encoded)/2+8], encoded[len(encoded)-16:]} {
					if i := strings.Index(text, part); i >= 0 {
						t.Errorf("the %s holds the %s encoded as %q: %s", place, name, encoded, text[max(0, i-200):min(len(text), i+100)])
					}
				}
			}
		}
	}
}

// requestLog is the JSON of all calls.
func (r *harness) requestLog(developer *http.Client) string {
	r.t.Helper()
	var all strings.Builder
	for after := ""; ; {
		page := r.console(developer, http.MethodGet, "apps/app_sync/requests?limit=100&after="+after, "").want(r.t, http.StatusOK)
		all.WriteString(page.body)
		next, ok := page.json(r.t)["nextCursor"].(string)
		if !ok {
			return all.String()
		}
		after = next
	}
}

var older = regexp.MustCompile(`href="([^"]*)">Older<`)

// requestPages is the pages of all calls.
func (r *harness) requestPages(developer *http.Client) string {
	r.t.Helper()
	var all strings.Builder
	for path := "/developer/apps/app_sync/requests"; ; {
		page := get(r.t, developer, r.app+path).want(r.t, http.StatusOK)
		all.WriteString(page.body)
		next := older.FindStringSubmatch(page.body)
		if next == nil {
			return all.String()
		}
		path = html.UnescapeString(next[1])
	}
}

// dump is the rows of the tables of calls, a line each.
func dump(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var all strings.Builder
	for _, table := range []string{"partnerkit_request", "partnerkit_calls", "partnerkit_calls_group"} {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			for i, value := range values {
				if raw, ok := value.([]byte); ok {
					values[i] = string(raw)
				}
			}
			fmt.Fprint(&all, "\n", fmt.Sprintln(values...))
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	return all.String()
}

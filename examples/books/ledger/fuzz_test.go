package ledger_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partnertest"
)

// serve calls the API for one fixed business, with any query.
func (k *harness) serve(t *testing.T, method, path, query, body string) *partnertest.Response {
	r := httptest.NewRequestWithContext(identity.WithPrincipal(t.Context(), identity.Principal{AppID: "app_1", BusinessID: "biz_1", UserID: "usr_1", SignIn: identity.SignInOAuth}),
		method, path, strings.NewReader(body))
	r.URL.RawQuery = query
	r.Header.Set("Content-Type", "application/json")
	return partnertest.Serve(t, k.api, r)
}

// FuzzList: any query at all is answered, with a page of at most 100 or with a 400.
func FuzzList(f *testing.F) {
	k := newHarness(f, testdb.SQLite)
	made := k.create("/invoices", `{"number":"1","currency":"EUR","total":1}`)
	for _, seed := range []string{"", "limit=1", "limit=0", "limit=+1", "limit=1&limit=1", "after=" + made, "after=inv_", "after=%00", "after=cus_" + made[4:], "%", "a;b", "limit=99999999999999999999"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got := k.serve(t, http.MethodGet, "/invoices", query, "")
		var page struct {
			Data    []struct{ ID string }
			HasMore *bool
		}
		switch err := json.Unmarshal([]byte(got.Body), &page); {
		case got.Status == http.StatusOK && err == nil && page.Data != nil && page.HasMore != nil && len(page.Data) <= 1:
		case got.Status == http.StatusBadRequest && strings.HasPrefix(got.Body, `{"statusCode":400,`):
		default:
			t.Fatalf("%q: %d %s", query, got.Status, got.Body)
		}
	})
}

// FuzzWrite: every accepted record reads back unchanged, its amounts are minor units that
// every program reads exactly, and journal entries balance (BIZ-02, BIZ-03).
func FuzzWrite(f *testing.F) {
	paths := []string{"/invoices", "/invoices/bulk-import", "/customers", "/suppliers", "/payments", "/accounts", "/journal-entries"}
	k := newHarness(f, testdb.SQLite)
	invoice := k.create("/invoices", `{"number":"1","currency":"EUR","total":1}`)
	account := k.create("/accounts", `{"code":"1","name":"Cash","type":"asset"}`)
	for i, seed := range []string{
		`{"number":"2","currency":"EUR","total":1000000000000001}`, `{"invoices":[{"number":"3","currency":"EUR","total":1},{}]}`, `{"name":"a","email":"a@b@c"}`, `{"name":"\u0000"}`,
		`{"invoiceId":"` + invoice + `","amount":0,"currency":"EUR"}`, `{"code":"2","name":"\n","type":"x"}`,
		`{"date":"2026-02-30","currency":"EUR","lines":[{"accountId":"` + account + `","debit":9223372036854775807},{"accountId":"` + account + `","credit":1}]}`,
	} {
		f.Add(uint8(i), seed)
	}
	f.Add(uint8(0), `{"number":"4","currency":"EUR","total":1e3}`)
	f.Add(uint8(0), `{"number":"4","currency":"eur","total":1.5}`)
	f.Add(uint8(0), `{"number":"4","currency":"EUR","total":-0}`)
	f.Add(uint8(6), `{"date":"2026-09-01","currency":"EUR","lines":[{"accountId":"`+account+`","debit":1,"credit":1},{"accountId":"`+account+`","credit":0}]}`)
	f.Fuzz(func(t *testing.T, kind uint8, body string) {
		path := paths[int(kind)%len(paths)]
		got := k.serve(t, http.MethodPost, path, "", body)
		if got.Status != http.StatusCreated {
			if got.Status >= 500 || got.Status < 400 || !strings.HasPrefix(got.Body, `{"statusCode":4`) {
				t.Fatalf("%s %s: %d %s", path, body, got.Status, got.Body)
			}
			return
		}
		var made struct {
			ID            string
			Total, Amount int64
			Lines         []struct{ Debit, Credit int64 }
		}
		if path == "/invoices/bulk-import" {
			return
		}
		if err := json.Unmarshal([]byte(got.Body), &made); err != nil || made.Total < 0 || made.Total > 1e15 || made.Amount < 0 || made.Amount > 1e15 {
			t.Fatalf("%s %s: %s", path, body, got.Body)
		}
		var balance int64
		for _, line := range made.Lines {
			balance += line.Debit - line.Credit
		}
		if balance != 0 {
			t.Fatalf("%s does not balance: %s", body, got.Body)
		}
		if path == "/invoices" {
			if read := k.serve(t, http.MethodGet, path+"/"+made.ID, "", ""); read.Body != got.Body {
				t.Fatalf("%s was %s, and is %s", body, got.Body, read.Body)
			}
		}
	})
}

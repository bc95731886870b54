package ledger_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
)

type shownPage struct {
	Data       []struct{ ID, Number string }
	HasMore    bool
	NextCursor *string
}

func (k *harness) page(query string) (p shownPage) {
	k.Helper()
	k.must(json.Unmarshal([]byte(k.want(http.StatusOK, "GET", "/invoices"+query, "").Body), &p))
	return p
}

// BIZ-01: pages are newest first, and records created meanwhile do not move or repeat
// other records.
func TestPagesAreStable(t *testing.T) {
	onBoth(t, func(k *harness) {
		if body := k.want(http.StatusOK, "GET", "/invoices", "").Body; body != `{"data":[],"hasMore":false}` {
			k.Errorf("no invoices: %s", body)
		}
		k.want(http.StatusCreated, "POST", "/invoices/bulk-import", importOf(1, `{"number": "0", "currency": "EUR", "total": 1}`))
		var want []string
		for i := range 11 {
			want = append(want, k.create("/invoices", fmt.Sprintf(`{"number": "%d", "currency": "EUR", "total": 1}`, i)))
		}
		want = append([]string{k.page("?limit=100").Data[11].ID}, want...)
		slices.Reverse(want)
		k.in("biz_2", "POST", "/invoices", `{"number": "x", "currency": "EUR", "total": 1}`)
		var got []string
		for query := "?limit=4"; ; {
			p := k.page(query)
			for _, invoice := range p.Data {
				got = append(got, invoice.ID)
			}
			if p.HasMore != (p.NextCursor != nil) {
				k.Fatalf("hasMore %v, nextCursor %v", p.HasMore, p.NextCursor)
			}
			if !p.HasMore {
				break
			}
			k.create("/invoices", `{"number": "new", "currency": "EUR", "total": 1}`)
			query = "?limit=4&after=" + *p.NextCursor
		}
		if !slices.Equal(got, want) {
			k.Errorf("got %v\nwant %v", got, want)
		}
		k.want(http.StatusCreated, "POST", "/invoices/bulk-import", importOf(200, `{"number": "0", "currency": "EUR", "total": 1}`))
		if p := k.page(""); len(p.Data) != 50 || !p.HasMore {
			k.Errorf("a page without limit has %d", len(p.Data))
		}
		k.want(http.StatusCreated, "POST", "/invoices/bulk-import", `{"invoices": [
			{"number": "a", "currency": "EUR", "total": 1}, {"number": "b", "currency": "EUR", "total": 1}, {"number": "c", "currency": "EUR", "total": 1},
			{"number": "d", "currency": "EUR", "total": 1}, {"number": "e", "currency": "EUR", "total": 1}]}`)
		if p := k.page("?limit=5"); fmt.Sprint(p.Data[0].Number, p.Data[1].Number, p.Data[2].Number, p.Data[3].Number, p.Data[4].Number) != "edcba" {
			k.Errorf("an import is not in its order: %v", p.Data)
		}
	})
}

// A cursor outlives its record.
func TestCursorOfADeletedPayment(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	invoice := k.create("/invoices", `{"number": "1", "currency": "EUR", "total": 100}`)
	first := k.create("/payments", payment(invoice, 1, "EUR"))
	second := k.create("/payments", payment(invoice, 1, "EUR"))
	k.want(http.StatusNoContent, "DELETE", "/payments/"+second, "")
	if a := k.want(http.StatusOK, "GET", "/payments?after="+second, ""); !strings.Contains(a.Body, first) {
		t.Error(a.Body)
	}
}

func TestPagesThatAreNone(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	for _, query := range []string{
		"limit=0", "limit=101", "limit=-1", "limit=x", "limit=", "limit=1e1", "limit=5&limit=5", "limit=99999999999999999999",
		"after=", "after=x", "after=cus_06g5plpa01o015r0g79mgnmm4c", "after=%00", "after=%ff", "after=inv_1&after=inv_1",
	} {
		name, _, _ := strings.Cut(query, "=")
		for _, path := range []string{"/invoices", "/payments", "/accounts", "/suppliers", "/journal-entries"} {
			if a := k.want(http.StatusBadRequest, "GET", path+"?"+query, ""); !strings.Contains(a.Body, `"message":["`+name+" must be") {
				t.Errorf("%s?%s: %s", path, query, a.Body)
			}
		}
	}
	k.want(http.StatusBadRequest, "GET", "/invoices?limit=%zz", "")
	k.want(http.StatusOK, "GET", "/invoices?businessId=biz_2", "") // API-02: it says nothing here
}

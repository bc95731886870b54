package ledger_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/partnertest"
)

// BIZ-03: an account code is unique, even if accounts are created concurrently and through
// different routes.
func TestCodesRace(t *testing.T) {
	onBoth(t, func(k *harness) {
		others := make([]string, 8)
		for i := range others {
			others[i] = k.create("/accounts", fmt.Sprintf(`{"code": "%d", "name": "A", "type": "asset"}`, i))
		}
		var won, refused atomic.Int32
		testdb.Race(16, func(i int) {
			var a *partnertest.Response
			if i < len(others) {
				a = k.call("PATCH", "/accounts/"+others[i], `{"code": "same"}`)
			} else {
				a = k.call("POST", "/accounts", `{"code": "same", "name": "A", "type": "asset"}`)
			}
			switch {
			case a.Status < 300:
				won.Add(1)
			case a.Status == http.StatusBadRequest && strings.Contains(a.Body, "that of another account"):
				refused.Add(1)
			default:
				k.Errorf("%d %s", a.Status, a.Body)
			}
		})
		if won.Load() != 1 || refused.Load() != 15 {
			k.Errorf("%d winners, %d refused", won.Load(), refused.Load())
		}
		if a := k.in("biz_2", "POST", "/accounts", `{"code": "same", "name": "A", "type": "asset"}`); a.Status != http.StatusCreated {
			k.Errorf("the same code in another business: %d", a.Status)
		}
	})
}

// BIZ-03: what a change of an account changes, and tells.
func TestAccountChanges(t *testing.T) {
	t.Parallel()
	k := newHarness(t, testdb.SQLite)
	path := "/accounts/" + k.create("/accounts", `{"code": "1200", "name": "Bank", "type": "asset"}`)
	for _, step := range []struct {
		change string
		status int
		events []string
		shows  string
	}{
		{`{}`, 200, nil, `"code":"1200","name":"Bank","type":"asset","createdAt"`},
		{`{"name": "Bank"}`, 200, nil, `"name":"Bank"`},
		{`{"name": "Giro"}`, 200, []string{"account.updated"}, `"code":"1200","name":"Giro","type":"asset","createdAt"`},
		{`{"archived": true}`, 200, []string{"account.archived"}, `"archived":true`},
		{`{"archived": true}`, 200, nil, `"archived":true`},
		{`{"archived": false}`, 200, []string{"account.updated"}, `"type":"asset","createdAt"`},
		{`{"archived": true, "code": "1201"}`, 200, []string{"account.updated", "account.archived"}, `"code":"1201"`},
		{`{"name": null}`, 400, nil, "name must not be null"},
		{`{"type": "boat"}`, 400, nil, "type must be one of"},
		{`{"code": ""}`, 400, nil, "code must have"},
		{`{"id": "acc_1"}`, 400, nil, "id is not a known member"},
	} {
		before, _ := k.events()
		a := k.want(step.status, "PATCH", path, step.change)
		after, _ := k.events()
		if !slices.Equal(after[len(before):], step.events) {
			t.Errorf("%s: events %v, want %v", step.change, after[len(before):], step.events)
		}
		if !strings.Contains(a.Body, step.shows) {
			t.Errorf("%s: %s", step.change, a.Body)
		}
		if got := k.want(http.StatusOK, "GET", path, "").Body; step.status == http.StatusOK && got != a.Body {
			t.Errorf("%s: answered %s, is %s", step.change, a.Body, got)
		}
	}
	if a := k.in("biz_2", "PATCH", path, `{"name": "X"}`); a.Status != http.StatusNotFound { // API-08
		t.Errorf("another business: %d", a.Status)
	}
}

// Changes of different members of one account are all kept.
func TestAccountChangesRace(t *testing.T) {
	onBoth(t, func(k *harness) {
		changes := []string{`{"name": "Giro"}`, `{"type": "equity"}`, `{"code": "1201"}`, `{"archived": true}`}
		for round := range 5 {
			path := "/accounts/" + k.create("/accounts", `{"code": "1200", "name": "Bank", "type": "asset"}`)
			testdb.Race(len(changes), func(i int) { k.want(http.StatusOK, "PATCH", path, changes[i]) })
			if body := k.want(http.StatusOK, "GET", path, "").Body; !strings.Contains(body, `"code":"1201","name":"Giro","type":"equity","archived":true`) {
				k.Errorf("a change was lost: %s", body)
			}
			k.want(http.StatusOK, "PATCH", path, fmt.Sprintf(`{"code": "done %d"}`, round))
		}
	})
}

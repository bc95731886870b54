package appdata_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// IDEM-01, IDEM-02: the response of a write is recorded with it, and replayed.
func TestIdempotency(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT","maxLength":3}`)
	const body, broken = `{"values":[{"resourceType":"invoice","resourceId":"inv_1","key":"note","value":"a"}]}`,
		`{"values":[{"resourceType":"invoice","resourceId":"inv_1","key":"note","value":"long"}]}`
	p.call("PUT /app-data", broken, "Idempotency-Key", "1").refused(http.StatusBadRequest, codes.InvalidAppDataValue.Code) // not kept
	first := p.call("PUT /app-data", body, "Idempotency-Key", "1")
	p.Clock.Advance(time.Second)
	p.put(on("inv_1", "note", `"b"`)).values()
	again := p.call("PUT /app-data", body, "Idempotency-Key", "1")
	if first.Status != http.StatusOK || again.Status != http.StatusOK || again.Body != first.Body || again.Header.Get(idempotency.ReplayedHeader) != "true" {
		t.Errorf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	p.list("resourceId=inv_1").shows(`inv_1 note "b"`)

	path := "DELETE /app-data/" + first.values()[0].ID
	for _, replayed := range []string{"", "true"} {
		if a := p.call(path, "", "Idempotency-Key", "2"); a.Status != http.StatusNoContent || a.Body != "" || a.Header.Get(idempotency.ReplayedHeader) != replayed {
			t.Errorf("%d %s %v", a.Status, a.Body, a.Header)
		}
	}
	if told := p.told(); len(told) != 3 {
		t.Errorf("told %v", told)
	}
}

// Without the hook of a guard the handlers respond themselves.
func TestWithoutResponse(t *testing.T) {
	t.Parallel()
	p := newAPI(t, func(c *appdata.Config) { c.Respond = nil }).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	written := p.put(on("inv_1", "note", `"a"`))
	if diff := cmp.Diff(p.list("resourceId=inv_1").values(), written.values()); diff != "" {
		t.Errorf("(-listed +written)\n%s", diff)
	}
	if a := p.call("DELETE /app-data/"+written.values()[0].ID, ""); a.Status != http.StatusNoContent || a.Body != "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// When the response cannot be recorded, nothing is written.
func TestResponseFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no answer")
	failing := false
	p := newAPI(t, func(c *appdata.Config) {
		c.Respond = func(ctx context.Context, tx storage.Tx, status int, body any) error {
			if failing {
				return broken
			}
			return idempotency.Respond(ctx, tx, status, body)
		}
	}).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	value := p.put(on("inv_1", "note", `"a"`)).values()[0]
	failing = true
	p.put(on("inv_1", "note", `"b"`)).refused(http.StatusInternalServerError, "")
	p.call("DELETE /app-data/"+value.ID, "").refused(http.StatusInternalServerError, "")
	p.list("resourceId=inv_1").shows(`inv_1 note "a"`)
	if told := p.told(); len(told) != 1 {
		t.Errorf("told %v", told)
	}
}

// APD-02: any number at once succeed; one value is left, that of one of them.
func TestPutRace(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"n","type":"NUMBER"}`)
	const contenders = 32
	written := make([]string, contenders)
	testdb.Race(contenders, func(i int) {
		if a := p.put(on("inv_1", "n", fmt.Sprint(i)), on("inv_2", "n", fmt.Sprint(i))); a.Status == http.StatusOK {
			written[i] = a.values()[0].ID
		} else {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	left := p.list("resourceIds=inv_1,inv_2").values()
	if len(left) != 2 || string(left[0].Value) != string(left[1].Value) {
		t.Errorf("left %v", left)
	}
	for _, valueID := range written {
		if valueID != left[0].ID && valueID != left[1].ID {
			t.Errorf("%s was answered", valueID)
		}
	}
	if told := p.told(); len(told) != contenders {
		t.Errorf("told %d times", len(told))
	}
}

// An error of the store or of the host is a 5xx at any statement. Nothing is half done,
// and the next call works.
func TestFaults(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	p.put(on("inv_1", "note", `"a"`)).values()
	deleted := p.put(on("inv_9", "note", `"a"`)).values()[0].ID
	for i, test := range []struct {
		call, body string
		least      int
		after      string
	}{
		{"GET /app-data?resourceId=inv_1", "", 2, `inv_1 note "a"`},
		{"PUT /app-data", `{"values":[` + on("inv_1", "note", `"b"`) + `]}`, 6, `inv_1 note "a"`},
		{"DELETE /app-data/" + deleted, "", 3, `inv_1 note "b"`},
	} {
		struck := 0
		for n := 2; ; n++ { // the first is the token's
			p.Store.Tap.Arm(testdb.FaultError, n)
			a := p.call(test.call, test.body)
			if !p.Store.Tap.Struck() {
				break
			}
			struck++
			a.refused(http.StatusInternalServerError, "")
			p.Store.Tap.Reset()
			p.list("resourceId=inv_1").shows(test.after)
			p.Clock.Advance(time.Second)
		}
		p.Store.Tap.Reset()
		if struck < test.least {
			t.Errorf("%d: %d places", i, struck)
		}
	}
	p.list("resourceId=inv_9").shows()
	p.books.fault = errors.New("books are closed")
	p.put(on("inv_1", "note", `"c"`)).refused(http.StatusInternalServerError, "")
	p.list("resourceId=inv_1").shows(`inv_1 note "b"`)
}

// A store that is too busy is a 503.
func TestBusyStore(t *testing.T) {
	t.Parallel()
	p := newAPIOn(t, func(t testing.TB) storage.DB {
		return testdb.SQLiteWith(t, sqlite.Config{WriteWait: 20 * time.Millisecond})
	}).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	tx, err := p.Store.BeginTx(t.Context())
	p.Must(err)
	p.put(on("inv_1", "note", `"a"`)).refused(http.StatusServiceUnavailable, "")
	p.Must(tx.Rollback())
	p.put(on("inv_1", "note", `"a"`)).values()
}

// What calls cost: the token, then for a PUT the fields, the fields again under a lock,
// the space, what is there, four statements for 25 values, the event and its place in the outbox.
func TestStatements(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	values := make([]string, appdata.MaxValues)
	for i := range values {
		values[i] = on(fmt.Sprintf("inv_%d", i), "note", `"a"`)
	}
	var valueID string
	for _, test := range []struct {
		name                string
		statements, commits int
		act                 func()
	}{
		{"PUT", 10, 1, func() { valueID = p.put(values...).values()[0].ID }},
		{"PUT again", 5, 1, func() { p.put(values...).values() }},
		{"GET", 3, 0, func() { p.list("resourceIds=inv_0,inv_1,inv_2").values() }},
		{"DELETE", 5, 1, func() { p.call("DELETE /app-data/"+valueID, "") }},
		{"a broken PUT", 2, 0, func() { p.put(on("inv_1", "note", "1")) }},
	} {
		p.Store.Tap.Reset()
		test.act()
		if s, c := p.Store.Tap.Counts(); s != test.statements || c != test.commits {
			t.Errorf("%s: %d statements and %d commits, want %d and %d", test.name, s, c, test.statements, test.commits)
		}
	}
}

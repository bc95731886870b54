package steady_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// DLV-14: one business has committed 100,000 events in one transaction; the event of another
// one, committed afterwards, is at its webhook at most 100 ms later than on an idle server.
func TestImportDelaysNobody_DLV14(t *testing.T) {
	n := testenv.Rounds(20_000, 100_000)
	onEach(t, func(t *testing.T, p *platform) {
		for name, heard := range map[string]bool{"nobody hears it": false, "a webhook gets it": true} {
			of := proof.Begin(t, "Imports beside another business, "+t.Name()+", "+name, "events")
			svc, log := p.service(clock.System{})
			p.run(svc)
			quiet, busy := "biz_quiet_"+name, "biz_busy_"+name
			p.subscriber(svc, quiet)
			if heard {
				p.subscriber(svc, busy)
			}
			idle, _ := p.latencies(log, quiet, 20)
			event := map[bool]string{true: subscribed, false: "customer.created"}[heard]
			p.imported(busy, event, n)
			of.Tried(n)
			var most time.Duration
			for range 5 {
				most = max(most, p.latency(log, quiet))
			}
			of.Notef("idle %v, the slowest of five after the import %v", idle.Round(time.Millisecond/10), most.Round(time.Millisecond/10))
			t.Logf("%s: idle %v, after the import %v", name, idle, most)
			if testenv.Proving() && most > idle+100*time.Millisecond {
				t.Errorf("%s: %v after the import, %v on an idle server", name, most, idle)
			}
			began := time.Now()
			for page, err := p.Backlogs(t.Context(), nil); len(page) > 0; page, err = p.Backlogs(t.Context(), nil) {
				p.must(err)
				time.Sleep(10 * time.Millisecond)
			}
			t.Logf("%s: planned after %v", name, time.Since(began))
		}
	})
}

// DLV-14: somebody holds a snapshot while deliveries pass, on tables of which the database
// believes that they are empty. Deliveries are at most three times as late.
func TestHeldSnapshot_DLV14(t *testing.T) {
	testenv.Long(t)
	n := testenv.Rounds(20_000, 1_000_000)
	p := onPostgres(t)
	of := proof.Begin(t, "Deliveries beside a held snapshot", "deliveries")
	schema := p.Dialect().Schema
	p.must(storage.Each(t.Context(), p.Store, "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'", []any{schema},
		func(scan func(...any) error) error {
			var table string
			if err := scan(&table); err != nil {
				return err
			}
			tx, err := p.BeginTx(t.Context())
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if _, err := tx.Exec(t.Context(), fmt.Sprintf(`ALTER TABLE %q.%q SET (autovacuum_enabled = false)`, schema, table)); err != nil {
				return err
			}
			return tx.Commit(t.Context())
		}))
	svc, log := p.service(clock.System{})
	p.run(svc)
	var businesses []string
	for i := range 20 {
		businesses = append(businesses, fmt.Sprintf("biz_%d", i))
		p.subscriber(svc, businesses[i])
	}
	idle, _ := p.latencies(log, businesses[0], 50)

	url, _ := testenv.Postgres(t)
	release := holdSnapshot(t, url, schema)
	defer release()
	before := p.total()
	for left := n; left > 0; {
		some := min(left, 5000)
		p.recordMany(log, some, businesses...)
		left -= some
		for p.total()-before < n-left {
			time.Sleep(time.Millisecond)
		}
	}
	of.Tried(n)
	median, most := p.latencies(log, businesses[0], 100)
	of.Notef("idle %v, median of 100 after them %v, the slowest %v", idle.Round(time.Millisecond/10), median.Round(time.Millisecond/10), most.Round(time.Millisecond/10))
	t.Logf("idle %v, median %v, slowest %v", idle, median, most)
	if testenv.Proving() && median > 3*idle {
		t.Errorf("median %v, %v on an idle server", median, idle)
	}
	if text := p.logged.String(); text != "" {
		t.Errorf("logged: %s", text)
	}
}

// DLV-14: a first attempt is due at once, whatever the clock of the node says that planned it.
func TestClocksDiffer_DLV14(t *testing.T) {
	testenv.Long(t)
	for name, skew := range map[string]time.Duration{"ahead": 90 * time.Second, "behind": -90 * time.Second} {
		t.Run(name, func(t *testing.T) {
			p := onPostgres(t)
			of := proof.Begin(t, "Deliveries between nodes whose clocks differ by 90 s, "+name, "deliveries")
			right, log := p.service(clock.System{})
			wrong, wrongLog := p.service(skewed(skew))
			p.run(right)
			p.run(wrong)
			time.Sleep(8 * time.Second) // each has its share
			var most time.Duration
			behind := right // a webhook gets the events of afterwards, by its clock
			if skew < 0 {
				behind = wrong
			}
			for i := range 32 { // businesses and webhooks in many pairs of shards
				business := fmt.Sprintf("biz_%d", i)
				p.subscriber(behind, business)
				most = max(most, p.latency(log, business), p.latency(wrongLog, business))
				of.Tried(2)
			}
			of.Notef("the slowest took %v", most.Round(time.Millisecond))
			if most > 5*time.Second {
				t.Errorf("the slowest took %v", most)
			}
		})
	}
}

// skewed is a clock that is wrong by so much.
type skewed time.Duration

func (s skewed) Now() time.Time { return time.Now().Add(time.Duration(s)) }

// DLV-14: a row that cannot be read stops its own webhook or business, and the log names it.
func TestUnreadableRows_DLV14(t *testing.T) {
	onEach(t, func(t *testing.T, p *platform) {
		of := proof.Begin(t, "Rows that cannot be read, "+t.Name(), "rows")
		svc, log := p.service(clock.System{})
		p.run(svc)
		p.subscriber(svc, "biz_well")
		corrupt := func(what, statement, id string) {
			t.Helper()
			tx, err := p.BeginTx(t.Context())
			p.must(err)
			defer tx.Rollback()
			if schema := p.Dialect().Schema; schema != "" {
				statement = strings.ReplaceAll(statement, "partnerkit_", `"`+schema+`".partnerkit_`)
			}
			n, err := tx.Exec(t.Context(), statement, id)
			p.must(err)
			if n == 0 {
				t.Fatalf("%s: %d rows", what, n)
			}
			p.must(tx.Commit(t.Context()))
			of.Tried(1)
		}
		var broken []string
		for i, statement := range []string{
			"UPDATE partnerkit_webhook SET events = '[' WHERE app_id = $1",
			"UPDATE partnerkit_app SET scopes = 'a  b' WHERE id = $1",
			"UPDATE partnerkit_installation SET scopes = 'a  b' WHERE app_id = $1",
		} {
			business := fmt.Sprintf("biz_broken_%d", i)
			app, _ := p.subscriber(svc, business)
			corrupt(statement, statement, app.ID)
			broken = append(broken, business)
			var drafts []events.Draft
			for range 3 {
				drafts = append(drafts, draft(business, subscribed))
			}
			_, err := log.Record(t.Context(), drafts...)
			p.must(err)
		}
		for range 10 {
			if took := p.latency(log, "biz_well"); took > 5*time.Second {
				t.Errorf("the others took %v", took)
			}
		}
		if text := p.logged.String(); !strings.Contains(text, "cannot be read") {
			t.Errorf("the log does not name the rows of %v: %s", broken, text)
		}
	})
}

// DLV-06: one event of each of 20,000 businesses.
func TestManyBusinesses_DLV06(t *testing.T) {
	n := testenv.Rounds(2_000, 20_000)
	onEach(t, func(t *testing.T, p *platform) {
		of := proof.Begin(t, "One event of each of many businesses, "+t.Name(), "events")
		svc, _ := p.service(clock.System{})
		for range n / 50 {
			var all []partner.Event
			for range 50 {
				one := happened()
				all = append(all, one)
			}
			p.must(p.RecordEvents(t.Context(), all...))
		}
		began := time.Now()
		p.run(svc)
		for page, err := p.Backlogs(t.Context(), nil); len(page) > 0; page, err = p.Backlogs(t.Context(), nil) {
			p.must(err)
			time.Sleep(5 * time.Millisecond)
		}
		of.Tried(n)
		rate := float64(n) / time.Since(began).Seconds()
		of.Notef("%.0f planned a second by one node", rate)
		t.Logf("%.0f planned a second", rate)
	})
}

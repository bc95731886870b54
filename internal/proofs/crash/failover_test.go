//go:build linux

package crash_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// OPER-02: the primary ends under load, by a crash and by a fast shutdown in turn, and its
// synchronous standby is promoted. The other server then follows as the new standby, and so
// on. The nodes keep running. Nothing acknowledged is lost, and no token is refused.
func TestFailover(t *testing.T) {
	besideOthers(t)
	t.Run("OPER-02_several_hosts", func(t *testing.T) {
		servers := newPair(t)
		failover(t, servers, "several hosts", servers.url(), func() {})
	})
	t.Run("OPER-02_a_name_that_moves", func(t *testing.T) {
		if !testenv.Proving() {
			t.Skip("OPER-02_several_hosts is the short form")
		}
		servers := newPair(t)
		name := testenv.StartForwarder(t, "unix", servers.primary.socket())
		address := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: name.Address(), Path: "/postgres", RawQuery: "sslmode=disable"}
		failover(t, servers, "a name that moves", address.String(), func() { name.Move("unix", servers.primary.socket()) })
	})
}

// failover runs the load at a URL while the servers change their roles. moved is called after
// each promotion.
func failover(t *testing.T, servers *pair, how, address string, moved func()) {
	t.Helper()
	p := proof.Begin(t, "Failovers to a synchronous standby under load, "+how, "failovers")
	acts := proof.Begin(t, "Acknowledged acts among failovers, "+how, "acts")
	redis := newRedis(t)
	w := newFixture(t, p, 2)
	w.pace = 300 * time.Millisecond
	w.flags = append(w.flags, "-db", address, "-redis", redis.URL)
	w.start(0)
	w.start(1)
	w.begin()
	w.mayFault.Store(true)
	silence := w.watchSilence()
	var longest, ending, afterPromotion time.Duration
	for i := range testenv.Rounds(1, 3) {
		w.waitForActs(200)
		silence.reset()
		took := servers.fail([]syscall.Signal{syscall.SIGQUIT, syscall.SIGINT}[i%2])
		promoted := time.Now()
		moved()
		w.recover()
		afterPromotion = max(afterPromotion, time.Since(promoted))
		w.waitForActs(200)
		if l := silence.longest(); l > longest {
			longest, ending = l, took
		}
		servers.follow()
		w.check()
		p.Tried(1)
		if w.Failed() {
			w.Fatal(w.logTail())
		}
	}
	faults := w.faults.Load()
	w.mayFault.Store(false)
	w.end(testenv.Proving())
	acts.Tried(w.total())
	p.Notef("both nodes write at most %v after the promotion; the longest silence was %v, in which the old primary took %v to end; %d answers were 5xx, all in shape",
		afterPromotion.Round(time.Millisecond), longest.Round(time.Millisecond), ending.Round(time.Millisecond), faults)
}

// quiet measures how long no write succeeds.
type quiet struct{ last, most atomic.Int64 }

// watchSilence writes all the time, from a client of its own.
func (w *fixture) watchSilence() *quiet {
	q := new(quiet)
	q.reset()
	c := w.client("silence", w.over)
	w.work.Go(func() {
		for !c.isOver() {
			a := c.try(call{method: "POST", path: "/dev/sessions", json: map[string]string{"userId": theUser, "businessId": w.businesses[0]}})
			if a.isOK() {
				q.most.Store(max(q.most.Load(), int64(q.since())))
				q.last.Store(time.Now().UnixNano())
			}
			c.pause(5 * time.Millisecond)
		}
	})
	return q
}

func (q *quiet) since() time.Duration { return time.Duration(time.Now().UnixNano() - q.last.Load()) }

func (q *quiet) reset() {
	q.last.Store(time.Now().UnixNano())
	q.most.Store(0)
}

func (q *quiet) longest() time.Duration { return max(q.since(), time.Duration(q.most.Load())) }

// pair is two PostgreSQL servers for one test alone. Each commit waits for the standby.
type pair struct {
	t                *testing.T
	programs         string
	as               *syscall.Credential
	primary, standby *replica
}

// replica is one of the servers, on a socket in a folder of its own.
type replica struct {
	service
	dir string
}

func (r *replica) socket() string { return filepath.Join(r.dir, ".s.PGSQL.5432") }

// newPair starts a primary with an empty database, and its synchronous standby.
func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, programs: postgresPrograms(t)}
	p.primary, p.standby = p.newReplica(), p.newReplica()
	p.run("initdb", "-D", p.primary.data(), "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "-N")
	p.primary.start()
	p.follow()
	return p
}

func (r *replica) data() string { return filepath.Join(r.dir, "data") }

func (p *pair) newReplica() *replica {
	dir := shortDir(p.t)
	p.as = owner(p.t, dir)
	r := &replica{dir: dir}
	r.service = service{
		t: p.t, URL: "postgres:///postgres?user=postgres&host=" + dir,
		run: func() *exec.Cmd {
			return command(p.as, filepath.Join(p.programs, "postgres"), "-D", r.data(), "-k", dir, "-c", "listen_addresses=", "-c", "shared_buffers=32MB")
		},
		up: func() bool {
			return command(p.as, filepath.Join(p.programs, "pg_isready"), "-q", "-h", dir).Run() == nil
		},
	}
	p.t.Cleanup(func() {
		if r.cmd != nil && r.cmd.ProcessState == nil {
			r.stop(syscall.SIGQUIT)
		}
	})
	return r
}

// url names both servers.
func (p *pair) url() string {
	return "postgres:///postgres?user=postgres&port=5432,5432&host=" + p.primary.dir + "," + p.standby.dir
}

func (p *pair) run(program string, args ...string) {
	p.t.Helper()
	if out, err := command(p.as, filepath.Join(p.programs, program), args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", program, err, out)
	}
}

// fail ends the primary, and then promotes the standby. The new primary has no standby, and
// waits for none. It returns the time that the old one took to end.
func (p *pair) fail(signal syscall.Signal) (took time.Duration) {
	p.t.Helper()
	began := time.Now()
	p.primary.stop(signal)
	took = time.Since(began)
	p.primary, p.standby = p.standby, p.primary
	p.ask(p.primary, "SELECT pg_promote()")
	return took
}

// follow makes the standby from a copy of the primary, starts it, and has each commit wait for
// it. It returns when the standby has all that was committed before.
func (p *pair) follow() {
	p.t.Helper()
	if err := os.RemoveAll(p.standby.data()); err != nil {
		p.t.Fatal(err)
	}
	p.run("pg_basebackup", "-h", p.primary.dir, "-U", "postgres", "-D", p.standby.data(), "-R", "-c", "fast")
	p.standby.start()
	p.ask(p.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	p.ask(p.primary, "SELECT pg_reload_conf()")
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if p.ask(p.primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND flush_lsn >= pg_current_wal_flush_lsn()") == "1" {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatal("the standby does not follow")
		}
	}
}

// ask runs a statement on one of the servers.
func (p *pair) ask(r *replica, statement string) (result string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, statement, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		p.t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			p.t.Fatal(err)
		}
		result = strings.TrimSpace(fmt.Sprint(values...))
	}
	if err := rows.Err(); err != nil {
		p.t.Fatalf("%s: %v", statement, err)
	}
	return result
}

//go:build unix

package guard_test

import (
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// What the process that is killed works on, and where it is killed.
const (
	killWhereVar  = "PARTNERKIT_TEST_KILL_WHERE"
	killFileVar   = "PARTNERKIT_TEST_KILL_FILE"
	killSchemaVar = "PARTNERKIT_TEST_KILL_SCHEMA"
)

// IDEM-02, with a real process and kill -9: one invoice and one response, whether it
// dies before its commit or between the commit and the response. Where other nodes may
// have the database open, the key stays taken until the lease ends.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"midway", "after commit"} {
		t.Run(where+", sqlite", func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "shop.db")
			killed(t, killWhereVar+"="+where, killFileVar+"="+file)
			settleAfterKill(newShop(t, func(t testing.TB) storage.DB { return openFile(t, file) }), where)
		})
		t.Run(where+", postgres", func(t *testing.T) {
			t.Parallel()
			url, schema := testenv.Postgres(t)
			killed(t, killWhereVar+"="+where, killSchemaVar+"="+schema)
			settleAfterKill(newShop(t, func(t testing.TB) storage.DB { return openPostgres(t, url, schema) }), where)
		})
	}
}

func settleAfterKill(s *shop, where string) {
	s.Helper()
	if where == "midway" {
		s.wantInvoices(0)
		if !s.Tap.Dialect().IsOneProcess {
			s.serve(s.create, keyed("k", "hello")).is(http.StatusConflict, apierror.IdempotencyConflict)
			s.endLeases()
		}
	}
	got := s.serve(s.create, keyed("k", "hello")).is(http.StatusCreated, "")
	s.wantInvoices(1)
	if want := "/invoices/" + s.invoices()[0]; got.Header.Get("Location") != want || got.isReplayed() != (where != "midway") {
		s.Errorf("%v: %s, want Location %s", got.Header, got.Body, want)
	}
}

func openFile(t testing.TB, path string) storage.DB {
	t.Helper()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// killed runs TestKillChild in a process of its own, to its violent end.
func killed(t *testing.T, env ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKillChild$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("the process was not killed: %v\n%s", err, out)
	}
}

func TestKillChild(t *testing.T) {
	where := os.Getenv(killWhereVar)
	if where == "" {
		return // it is a part of TestKilledProcess
	}
	s := newShop(t, func(t testing.TB) storage.DB {
		if file := os.Getenv(killFileVar); file != "" {
			return openFile(t, file)
		}
		return openPostgres(t, os.Getenv(testenv.PostgresVar), os.Getenv(killSchemaVar))
	})
	die := func(http.ResponseWriter) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }
	if where == "midway" {
		s.midway = die
	} else {
		s.afterCommit = die
	}
	s.serve(s.create, keyed("k", "hello"))
	t.Fatal("it lived on")
}

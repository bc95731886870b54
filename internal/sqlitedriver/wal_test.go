package sqlitedriver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// logged is a file with a log, and what is written to logs beneath us.
type logged struct {
	t     *testing.T
	path  string
	conn  *sql.DB // one connection
	calls int
	fail  int32 // what the next writes end with, unless 0

	write dataCall // stands in between; SQLite has only its address
}

// connector opens a name.
type connector string

func (c connector) Connect(context.Context) (driver.Conn, error) { return Driver{}.Open(string(c)) }
func (c connector) Driver() driver.Driver                        { return Driver{} }

var synchronous = []string{"FULL", "NORMAL", "OFF"}

// newLogged is for tests that do not run beside others: it changes what logs do.
func newLogged(t *testing.T, pragmas string) *logged {
	l := &logged{t: t, path: filepath.Join(t.TempDir(), "test.db")}
	l.conn = l.open(filepath.Join(t.TempDir(), "first.db"), "&_pragma=journal_mode(WAL)") // a log that has the layer
	l.exec("CREATE TABLE a (id INTEGER PRIMARY KEY)")
	l.conn = l.open(l.path, pragmas+"&_pragma=journal_mode(WAL)")
	l.exec("CREATE TABLE a (id INTEGER PRIMARY KEY, v)", "CREATE TABLE b (id INTEGER PRIMARY KEY, v)", "CREATE TABLE c (id INTEGER PRIMARY KEY, v)")
	was := vfs.log.under
	l.write = func(tls *libc.TLS, file, data uintptr, size int32, at int64) int32 {
		l.calls++
		if l.fail != 0 {
			return l.fail
		}
		return call[dataCall](memory[lib.Tsqlite3_io_methods](was).FxWrite)(tls, file, data, size, at)
	}
	tls := libc.NewTLS()
	between := allocate[lib.Tsqlite3_io_methods](tls)
	*between = *vfs.log.beneath()
	between.FxWrite, vfs.log.under = address(l.write), address(between)
	t.Cleanup(func() {
		vfs.log.under = was
		libc.Xfree(tls, address(between))
		tls.Close()
		runtime.KeepAlive(l)
	})
	return l
}

func (l *logged) open(path, pragmas string) *sql.DB {
	db := sql.OpenDB(connector("file:" + filepath.ToSlash(path) + "?_pragma=busy_timeout(1000)" + pragmas))
	db.SetMaxOpenConns(1)
	l.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			l.t.Error(err)
		}
	})
	return db
}

func (l *logged) exec(statements ...string) {
	l.t.Helper()
	for _, text := range statements {
		if _, err := l.conn.Exec(text); err != nil {
			l.t.Fatalf("%s: %v", text, err)
		}
	}
}

// want checks what a query finds: over a connection that is there, over a new one, and
// over what a process that is killed now would leave.
func (l *logged) want(query, want string) {
	l.t.Helper()
	crashed := filepath.Join(l.t.TempDir(), "crashed.db")
	for _, end := range []string{"", "-wal"} {
		held, err := os.ReadFile(l.path + end)
		if err := errors.Join(err, os.WriteFile(crashed+end, held, 0o600)); err != nil {
			l.t.Fatal(err)
		}
	}
	for name, db := range map[string]*sql.DB{"here": l.conn, "elsewhere": l.open(l.path, ""), "after a crash": l.open(crashed, "")} {
		var got, sound string
		if err := errors.Join(db.QueryRow(query).Scan(&got), db.QueryRow("PRAGMA integrity_check").Scan(&sound)); err != nil {
			l.t.Fatalf("%s: %v", name, err)
		}
		if got != want || sound != "ok" {
			l.t.Errorf("%s: %s gives %s, want %s; the file is %s", name, query, got, want, sound)
		}
	}
}

// A commit writes its pages at once, and they are there when it returns, synced or not.
func TestLogOfCommit(t *testing.T) {
	for _, mode := range synchronous {
		t.Run(mode, func(t *testing.T) {
			l := newLogged(t, "&_pragma=synchronous("+mode+")")
			l.exec("INSERT INTO a VALUES (0, '')") // the log begins
			for i := 1; i <= 3; i++ {
				l.calls = 0
				l.exec(fmt.Sprintf("BEGIN; INSERT INTO a VALUES (%d, 'x'); INSERT INTO b VALUES (%[1]d, 'x'); INSERT INTO c VALUES (%[1]d, 'x'); COMMIT", i))
				if l.calls != 1 {
					t.Errorf("%d writes for a commit of three pages", l.calls)
				}
				l.want("SELECT (SELECT count(*) FROM a) || (SELECT count(*) FROM b) || (SELECT count(*) FROM c)", fmt.Sprintf("%d%d%[2]d", i+1, i))
			}
		})
	}
}

// some is a little more than fits into the cache: pages are written and held back.
const some = "INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT i, hex(randomblob(100)) FROM n"

func TestLogIsRead(t *testing.T) {
	l := newLogged(t, "&_pragma=cache_size(10)&_pragma=synchronous(FULL)")
	l.exec("BEGIN; " + some + "; INSERT INTO b SELECT 1, count(*) || ' ' || sum(length(v)) FROM a; COMMIT")
	l.want("SELECT v FROM b", "300 60000")
}

// fill is a transaction that does not fit into the cache: pages are written before it ends,
// read again, and written over in their places.
const fill = `INSERT INTO a WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i, hex(randomblob(100)) FROM n;
	UPDATE a SET v = 'even' || v WHERE id % 2 = 0; UPDATE a SET v = 'third' || v WHERE id % 3 = 0; DELETE FROM a WHERE id % 5 = 0;`

func TestLogOfLargeTransaction(t *testing.T) {
	for _, mode := range synchronous {
		t.Run(mode, func(t *testing.T) {
			l := newLogged(t, "&_pragma=cache_size(10)&_pragma=synchronous("+mode+")")
			const found = "SELECT count(*) || ' ' || count(CASE WHEN v LIKE 'third%' THEN 1 END) || ' ' || count(CASE WHEN v LIKE 'even%' OR v LIKE 'thirdeven%' THEN 1 END) FROM a"
			l.exec("BEGIN; " + fill + " ROLLBACK")
			l.want(found, "0 0 0")
			l.exec("BEGIN; "+fill+" COMMIT", "INSERT INTO b VALUES (1, 'after')")
			l.want(found, "1200 400 600")
			l.exec("BEGIN; DELETE FROM a; "+fill+" ROLLBACK", "INSERT INTO b VALUES (2, 'after')")
			l.want(found, "1200 400 600")
			l.exec("PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO b VALUES (3, 'after')")
			l.want("SELECT count(*) || '' FROM b", "3")
		})
	}
}

// What a transaction wrote before it was rolled back is not written over what others
// commit afterwards.
func TestLogOfRollback(t *testing.T) {
	l := newLogged(t, "&_pragma=cache_size(10)&_pragma=synchronous(FULL)")
	other := l.open(l.path, "")
	for i := range 3 {
		l.exec("PRAGMA wal_checkpoint(TRUNCATE)", "BEGIN; "+some+"; ROLLBACK")
		if _, err := other.Exec("INSERT INTO b VALUES ($1, 'b')", i); err != nil {
			t.Fatal(err)
		}
		l.want("SELECT count(*) || '' FROM b", fmt.Sprint(i+1))
		l.exec(fmt.Sprintf("INSERT INTO c VALUES (%d, 'c')", i))
		l.want("SELECT (SELECT count(*) FROM b) || (SELECT count(*) FROM c)", fmt.Sprintf("%d%[1]d", i+1))
	}
}

// In exclusive mode nobody takes the lock that says when a transaction is over.
func TestLogOfExclusiveMode(t *testing.T) {
	l := newLogged(t, "&_pragma=cache_size(10)&_pragma=synchronous(FULL)")
	l.exec(some, "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA locking_mode=EXCLUSIVE", "INSERT INTO b VALUES (0, 'b')",
		"BEGIN", "UPDATE a SET v = hex(randomblob(100))", "PRAGMA locking_mode=NORMAL", "ROLLBACK")
	other := l.open(l.path, "")
	for i := 1; i < 30; i++ {
		if _, err := other.Exec("INSERT INTO b VALUES ($1, 'b')", i); err != nil {
			t.Fatal(err)
		}
	}
	l.exec("SELECT count(*) FROM b")
	l.want("SELECT count(*) || '' FROM b", "30")
}

// Where a write may spoil what lies beside it, SQLite fills up sectors, and cuts pages.
func TestLogOfCarefulWrites(t *testing.T) {
	l := newLogged(t, "&psow=0&_pragma=page_size(512)&_pragma=synchronous(FULL)")
	for i := 1; i <= 100; i++ {
		l.exec(fmt.Sprintf("INSERT INTO a VALUES (%d, hex(randomblob(20)))", i))
	}
	l.want("SELECT count(*) || '' FROM a", "100")
}

// When there is no room for pages that are to be read again, they are not lost.
func TestLogThatIsReadInVain(t *testing.T) {
	l := newLogged(t, "&_pragma=cache_size(10)&_pragma=synchronous(FULL)")
	l.exec("CREATE TABLE d (id INTEGER PRIMARY KEY, v UNIQUE)", "INSERT INTO d VALUES (1, 1), (2, 2), (3, 3)", "BEGIN", some)
	l.fail = lib.SQLITE_FULL
	_, err := l.conn.Exec("UPDATE d SET v = v || (SELECT sum(length(v)) FROM a)")
	if err == nil || !strings.Contains(err.Error(), "full") {
		t.Errorf("%v, want that there is no room", err)
	}
	l.fail = 0
	want := "300"
	if _, err := l.conn.Exec("COMMIT"); err != nil { // it may be gone as a whole
		want = "0"
	}
	l.want("SELECT count(*) || '' FROM a", want)
}

// A write that fails is an error of the commit, and nothing of it is there.
func TestLogThatCannotBeWritten(t *testing.T) {
	for rc, want := range map[int32]string{lib.SQLITE_FULL: "full", lib.SQLITE_IOERR_WRITE: "disk I/O error"} {
		t.Run(want, func(t *testing.T) {
			l := newLogged(t, "&_pragma=synchronous(FULL)")
			l.exec("INSERT INTO a VALUES (1, 'before')")
			l.fail = rc
			for _, text := range []string{"INSERT INTO a VALUES (2, 'lost')", "INSERT INTO b VALUES (2, 'lost')"} {
				if _, err := l.conn.Exec(text); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
			}
			l.fail = 0
			l.want("SELECT group_concat(v) FROM (SELECT v FROM a UNION ALL SELECT v FROM b)", "before")
			l.exec("INSERT INTO b VALUES (2, 'after')")
			l.want("SELECT group_concat(v) FROM (SELECT v FROM a UNION ALL SELECT v FROM b)", "before,after")
		})
	}
}

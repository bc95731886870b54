package testenv

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PgBouncerVar names the PgBouncer that tests start, if it is not the one of the PATH: to run
// them with another version.
const PgBouncerVar = "PARTNERKIT_TEST_PGBOUNCER"

// PgBouncer is a PgBouncer in transaction mode before a PostgreSQL server.
type PgBouncer struct {
	URL string
	// Prepares reports that this version supports prepared statements in transaction mode, as
	// PgBouncer does from 1.21 on.
	Prepares bool
}

// pgBouncerVersion is what PgBouncer says about itself.
var pgBouncerVersion = regexp.MustCompile(`PgBouncer (\d+)\.(\d+)`)

// StartPgBouncer starts a PgBouncer for this test alone, on a socket in a folder of its own.
// Settings are lines of its configuration.
func StartPgBouncer(t testing.TB, server string, settings ...string) PgBouncer {
	t.Helper()
	program := pgBouncerProgram(t)
	out, err := exec.CommandContext(t.Context(), program, "--version").Output()
	version := pgBouncerVersion.FindStringSubmatch(string(out))
	if err != nil || version == nil {
		t.Fatalf("%s --version: %v, %s", program, err, out)
	}
	minor, _ := strconv.Atoi(version[2])
	dir, err := os.MkdirTemp("", "pgb") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Getuid() == 0 { // it does not run as root
		settings = append(settings, "user = postgres")
	}
	if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // PgBouncer may run as another user
		t.Fatal(err)
	}
	to, err := pgx.ParseConfig(server)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`[databases]
%s = host=%s port=%d user=%s%s
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
max_client_conn = 1000
default_pool_size = 8
%s
`, to.Database, to.Host, to.Port, to.User, password(to.Password), dir, strings.Join(settings, "\n"))
	file := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // for that user
		t.Fatal(err)
	}
	startPgBouncer(t, exec.CommandContext(context.Background(), program, "-q", file), filepath.Join(dir, ".s.PGSQL.6432")) //nolint:gosec // the test's own words
	through := url.URL{Scheme: "postgres", Path: "/" + to.Database, RawQuery: url.Values{"host": {dir}, "port": {"6432"}, "user": {to.User}, "sslmode": {"disable"}}.Encode()}
	return PgBouncer{URL: through.String(), Prepares: version[1] != "1" || minor >= 21}
}

func password(text string) string {
	if text == "" {
		return ""
	}
	return " password=" + text
}

// pgBouncerProgram finds the program. Debian has it where only root looks.
func pgBouncerProgram(t testing.TB) string {
	t.Helper()
	program := cmp.Or(os.Getenv(PgBouncerVar), "pgbouncer")
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	const debian = "/usr/sbin/pgbouncer"
	if _, err := os.Stat(debian); err != nil {
		Programs(t, program) // it reports the missing program
	}
	return debian
}

// startPgBouncer starts the program and waits for its socket.
func startPgBouncer(t testing.TB, program *exec.Cmd, socket string) {
	t.Helper()
	var log strings.Builder
	program.Stderr = &log
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = program.Wait()
	}()
	t.Cleanup(func() {
		_ = program.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return
		}
		select {
		case <-ended:
			t.Fatalf("PgBouncer ended: %s", log.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("PgBouncer does not start")
		}
	}
}

// Package machine describes the machine of the measurements.
package machine

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
	_ "modernc.org/sqlite"             // its own driver, named "sqlite"
)

// Notes are lines about the date, the commit, the machine and the services at these addresses,
// which may be empty.
func Notes(postgresURL, redisURL string) []string {
	notes := []string{
		time.Now().UTC().Format("2 January 2006") + ", commit " + commit(),
		fmt.Sprintf("%d cores (%s), %s, %s/%s", runtime.NumCPU(), processor(), runtime.Version(), runtime.GOOS, runtime.GOARCH),
		"SQLite " + ask("sqlite", ":memory:", "SELECT sqlite_version()") + " (" + version("modernc.org/sqlite") + ")",
	}
	if postgresURL != "" {
		notes = append(notes, "PostgreSQL "+ask("pgx", postgresURL, "SHOW server_version")+" with fsync "+ask("pgx", postgresURL, "SHOW fsync")+
			" and shared_buffers "+ask("pgx", postgresURL, "SHOW shared_buffers")+", on the same machine")
	}
	if redisURL != "" {
		notes = append(notes, "Redis "+redisVersion(redisURL)+", on the same machine")
	}
	return append(notes, fmt.Sprintf("a page of 4 KiB reaches the disk %.0f times a second", fsyncs()))
}

// commit returns the commit of the working tree, with "-dirty" if there are changes.
func commit() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// processor returns the name of the first one.
func processor() string {
	info, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	defer info.Close()
	for lines := bufio.NewScanner(info); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// version returns the version of a linked module.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, one := range info.Deps {
		if one.Path == module {
			return one.Path + " " + one.Version
		}
	}
	return module
}

// ask returns the result of a query, or the error.
func ask(driver, address, query string) string {
	db, err := sql.Open(driver, address)
	if err != nil {
		return err.Error()
	}
	defer db.Close()
	var text string
	if err := db.QueryRow(query).Scan(&text); err != nil {
		return err.Error()
	}
	return text
}

func redisVersion(address string) string {
	options, err := redis.ParseURL(address)
	if err != nil {
		return err.Error()
	}
	client := redis.NewClient(options)
	defer client.Close()
	info, err := client.Info(context.Background(), "server").Result()
	if err != nil {
		return err.Error()
	}
	for line := range strings.Lines(info) {
		if text, ok := strings.CutPrefix(line, "redis_version:"); ok {
			return strings.TrimSpace(text)
		}
	}
	return "of an unknown version"
}

// fsyncs returns how many page writes per second reach the disk, or 0 if that cannot be
// measured.
func fsyncs() float64 {
	dir, err := os.MkdirTemp("", "partnerkit-bench-")
	if err != nil {
		return 0
	}
	defer os.RemoveAll(dir)
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0
	}
	defer f.Close()
	page := make([]byte, 4096)
	begun, n := time.Now(), 0
	for ; time.Since(begun) < 500*time.Millisecond; n++ {
		if _, err := f.Write(page); err != nil || f.Sync() != nil {
			return 0
		}
	}
	return float64(n) / time.Since(begun).Seconds()
}

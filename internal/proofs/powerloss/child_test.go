//go:build linux

package powerloss_test

import (
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	modernc "modernc.org/sqlite"

	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// childVar makes this test binary the process that writes, with a load as its value.
const childVar = "PARTNERKIT_TEST_POWERLOSS_CHILD"

// The names in the child's folder.
const (
	folderName   = "disk"
	databaseName = "power.db"
	acksName     = "acknowledged"
)

// load is what the child does.
type load struct {
	Folder      string // ends in folderName
	Writers     int    // goroutines that commit operations, each its own
	Operations  int    // of each writer
	Pages       int    // in the log before a checkpoint; 0 leaves the default of storage/sqlite
	Filler      int    // largest number of bytes in a row
	Synchronous string // for a control; empty leaves the setting of storage/sqlite
}

// rowsPerOperation is how many rows an operation inserts. It also updates the counter of
// its writer.
const rowsPerOperation = 3

// isChild does the work of a child process and reports whether this is one.
func isChild() bool {
	value := os.Getenv(childVar)
	if value == "" {
		return false
	}
	var l load
	err := json.Unmarshal([]byte(value), &l)
	if err == nil {
		err = l.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return true
}

func (l load) run(ctx context.Context) error {
	acks, err := os.OpenFile(filepath.Join(l.Folder, acksName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer acks.Close()
	db, err := sqlite.OpenDB(ctx, sqlite.Config{Path: filepath.Join(l.Folder, databaseName), Connector: l.connector})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Write(ctx, l.createTables); err != nil {
		return err
	}
	for writer := range l.Writers {
		if err := acknowledge(acks, writer, 0); err != nil {
			return err
		}
	}
	failed := make(chan error, l.Writers)
	var group sync.WaitGroup
	for writer := range l.Writers {
		group.Go(func() {
			for number := 1; number <= l.Operations; number++ {
				err := db.Write(ctx, l.operation(writer, number))
				if err == nil {
					err = acknowledge(acks, writer, number)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failed)
	return <-failed // nil when none is there
}

// connector opens connections with the settings that the load asks for.
func (l load) connector(dsn string) (driver.Connector, error) {
	if l.Pages > 0 {
		dsn = strings.Replace(dsn, "wal_autocheckpoint%284000%29", fmt.Sprintf("wal_autocheckpoint%%28%d%%29", l.Pages), 1)
	}
	if l.Synchronous != "" {
		dsn = strings.Replace(dsn, "synchronous%28FULL%29", "synchronous%28"+l.Synchronous+"%29", 1)
	}
	return modernc.NewConnector(dsn)
}

// createTables is operation 0 of all writers.
func (l load) createTables(ctx context.Context, tx storage.Tx) error {
	for _, statement := range []string{
		"CREATE TABLE counters (writer INTEGER PRIMARY KEY, number INTEGER NOT NULL)",
		"CREATE TABLE parts (writer INTEGER, number INTEGER, part INTEGER, filler BLOB NOT NULL, PRIMARY KEY (writer, number, part))",
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	for writer := range l.Writers {
		if _, err := tx.Exec(ctx, "INSERT INTO counters (writer, number) VALUES ($1, 0)", writer); err != nil {
			return err
		}
	}
	return nil
}

func (l load) operation(writer, number int) storage.Operation {
	return func(ctx context.Context, tx storage.Tx) error {
		for part := range rowsPerOperation {
			if _, err := tx.Exec(ctx, "INSERT INTO parts (writer, number, part, filler) VALUES ($1, $2, $3, $4)",
				writer, number, part, l.filler(writer, number, part)); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "UPDATE counters SET number = $1 WHERE writer = $2", number, writer)
		return err
	}
}

// filler is the content of a row. Its length varies, so that some rows need more than
// one page.
func (l load) filler(writer, number, part int) []byte {
	text := fmt.Sprintf("%d/%d/%d;", writer, number, part)
	size := len(text) + (writer*7919+number*104729+part*1299709)%l.Filler
	return bytes.Repeat([]byte(text), size/len(text)+1)[:size]
}

// acknowledge says with one write that an operation was committed.
func acknowledge(acks *os.File, writer, number int) error {
	_, err := fmt.Fprintf(acks, "%d %d\n", writer, number)
	return err
}

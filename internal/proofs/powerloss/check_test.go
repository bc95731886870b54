//go:build linux

package powerloss_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// write replaces the files of a folder.
func (i image) write(folder string) error {
	for _, end := range []string{"", "-wal", "-journal", "-shm", ".lock"} {
		if err := os.RemoveAll(filepath.Join(folder, databaseName+end)); err != nil {
			return err
		}
	}
	for name, data := range i {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// check opens the image of a sample as after a restart and returns an error if the image
// is not valid.
func (l load) check(ctx context.Context, folder string, s sample) (err error) {
	if err := s.image.write(folder); err != nil {
		return err
	}
	db, err := sqlite.OpenDB(ctx, sqlite.Config{Path: filepath.Join(folder, databaseName), Readers: 1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	pragma := "PRAGMA quick_check"
	if testenv.Proving() {
		pragma = "PRAGMA integrity_check"
	}
	var said string
	if err := storage.One(ctx, db, pragma, nil, &said); err != nil {
		return fmt.Errorf("%s: %w", pragma, err)
	}
	if said != "ok" {
		return fmt.Errorf("%s: %s", pragma, said)
	}
	numbers, err := l.numbers(ctx, db)
	if err != nil {
		return err
	}
	for writer, number := range numbers {
		if number < s.acked[writer] {
			return fmt.Errorf("writer %d: the last operation is %d, but %d was acknowledged", writer, number, s.acked[writer])
		}
	}
	if numbers[0] < 0 {
		return nil
	}
	return l.checkParts(ctx, db, numbers)
}

// numbers returns the last operation of each writer, or -1 before the tables exist.
func (l load) numbers(ctx context.Context, db storage.DB) ([]int, error) {
	numbers := make([]int, l.Writers)
	var tables int
	if err := storage.One(ctx, db, "SELECT COUNT(*) FROM sqlite_schema WHERE type = 'table'", nil, &tables); err != nil {
		return nil, err
	}
	for writer := range numbers {
		switch tables {
		case 0:
			numbers[writer] = -1
		default:
			if err := storage.One(ctx, db, "SELECT number FROM counters WHERE writer = $1", []any{writer}, &numbers[writer]); err != nil {
				return nil, fmt.Errorf("counter of writer %d: %w", writer, err)
			}
		}
	}
	return numbers, nil
}

// checkParts compares the rows with those of all operations up to the given numbers.
func (l load) checkParts(ctx context.Context, db storage.DB, numbers []int) error {
	rows, err := db.Query(ctx, "SELECT writer, number, part, filler FROM parts ORDER BY writer, number, part")
	if err != nil {
		return err
	}
	defer rows.Close()
	for writer, last := range numbers {
		for number := 1; number <= last; number++ {
			for part := range rowsPerOperation {
				var got [3]int
				var filler []byte
				if !rows.Next() {
					return errors.Join(rows.Err(), fmt.Errorf("the rows end before writer %d, operation %d, part %d", writer, number, part))
				}
				if err := rows.Scan(&got[0], &got[1], &got[2], &filler); err != nil {
					return err
				}
				if want := [3]int{writer, number, part}; got != want || !bytes.Equal(filler, l.filler(writer, number, part)) {
					return fmt.Errorf("the row of writer, operation, part %v is missing or wrong: found %v with %d bytes", want, got, len(filler))
				}
			}
		}
	}
	if rows.Next() {
		return errors.New("there are rows of operations that are not counted")
	}
	return rows.Err()
}

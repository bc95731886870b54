package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/partnerkit/partnerkit/internal/filelock"
	"github.com/partnerkit/partnerkit/storage"
)

// fileLock keeps a database file for this process. The lock file stays behind
// after Close: removing it would let two processes lock two files of one name.
type fileLock struct{ file *os.File }

func lockFor(path string) (*fileLock, error) {
	name := path + ".lock"
	file, ok, err := filelock.Try(name)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w; the directory of the database must exist and be writable", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("open %s: %w%s; stop that one first, or use PostgreSQL to run several", path, storage.ErrInUse, holder(name))
	}
	err = errors.Join(file.Truncate(0), writePID(file))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), filelock.Release(file))
	}
	return &fileLock{file}, nil
}

func writePID(file *os.File) error {
	_, err := file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder names the process that wrote the lock file, where it can be read.
func holder(name string) string {
	content, err := os.ReadFile(name)
	pid := bytes.TrimSpace(content)
	if err != nil || len(pid) == 0 {
		return ""
	}
	return fmt.Sprintf(" (pid %s)", pid)
}

func (l *fileLock) release() error { return filelock.Release(l.file) }

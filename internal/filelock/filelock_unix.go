//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes an exclusive lock on the file. The system releases the lock when the
// process ends, even if it crashes. Try reports false if another process holds the lock.
func Try(path string) (*os.File, bool, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, false, file.Close()
	}
	if err != nil {
		return nil, false, errors.Join(err, file.Close())
	}
	return file, true, nil
}

// Release gives the lock up and closes the file. Closing alone would not be enough: a
// program that this process starts at the same moment shares the lock until it runs.
func Release(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

package filelock

import (
	"errors"
	"os"
	"syscall"
)

const errSharingViolation syscall.Errno = 32

// Try opens the file so that other processes may read it and none may write
// it, which lasts as long as the handle. It reports false when another has it.
func Try(path string) (*os.File, bool, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, false, err
	}
	handle, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE,
		syscall.FILE_SHARE_READ, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return os.NewFile(uintptr(handle), path), true, nil
}

// Release closes the file, which gives the lock up.
func Release(file *os.File) error { return file.Close() }

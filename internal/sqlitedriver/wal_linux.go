package sqlitedriver

import (
	"errors"
	"syscall"

	lib "modernc.org/sqlite/lib"
)

// syncData has what was written to a log reach the disk, with its length and without its
// times, which would be another write to the disk. SQLite does so by itself where it was
// built for it; this one was not.
func syncData(file uintptr) (rc int32, isKnown bool) {
	fd := int(memory[lib.TunixFile](file).Fh)
	for {
		switch err := syscall.Fdatasync(fd); {
		case err == nil:
			return lib.SQLITE_OK, true
		case !errors.Is(err, syscall.EINTR):
			return lib.SQLITE_IOERR_FSYNC, true
		}
	}
}

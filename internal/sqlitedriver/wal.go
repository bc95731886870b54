package sqlitedriver

import (
	"sync"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// A commit appends its pages to the log of SQLite, the WAL, each with a header before it,
// and each of both with a call to the system: six for a refresh, which take about as long
// as a third of the sync that follows. vfs is the way to files that SQLite has by default,
// except that what is appended to a log is held back until the page whose header marks the
// end of a transaction, and goes out in one write. Nobody looks for it before: it counts
// only with that last page, and is synced and made known to readers after it. When a
// transaction gives up the lock of those who write, what is still held back is dropped:
// others may write there then. So nothing is held back where that lock is not taken, in
// exclusive mode.
//
// What SQLite has addresses of is outside of Go's memory.
var vfs struct {
	before uintptr // the VFS by default

	db, log layer // over files, and over their logs

	mu   sync.RWMutex
	logs map[uintptr]*wal // by log, and by file
}

// layer is methods of files that stand over those they had.
type layer struct {
	over  *lib.Tsqlite3_io_methods
	under uintptr
}

const (
	vfsName = "partnerkit"
	// frameHeader is the size of what stands before a page; no page is as small.
	frameHeader = 24
	// most is how much is held back of a large transaction: as much as the largest page
	// has, and less than SQLite writes at a time.
	most = 1 << 16
)

// wal is what is held back of a log.
type wal struct {
	db       uintptr
	held     []byte
	end      int64 // where the log continues what was written last, held or not
	isLocked bool  // by those who write
	isCommit bool  // the page that comes ends a transaction
	isSynced bool  // once
}

// The calls of SQLite that are used or replaced.
type (
	openCall = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	fileCall = func(tls *libc.TLS, file uintptr) int32                             // close, and what it can do
	dataCall = func(tls *libc.TLS, file, data uintptr, size int32, at int64) int32 // read and write
	sizeCall = func(tls *libc.TLS, file uintptr, size int64) int32
	syncCall = func(tls *libc.TLS, file uintptr, flags int32) int32
	askCall  = func(tls *libc.TLS, file, size uintptr) int32
	lockCall = func(tls *libc.TLS, file uintptr, first, n, flags int32) int32
)

// register makes the VFS known to SQLite.
var register = sync.OnceValue(func() int32 {
	tls := libc.NewTLS()
	defer tls.Close()
	name, err := libc.CString(vfsName)
	own := allocate[lib.Tsqlite3_vfs](tls)
	vfs.before = lib.Xsqlite3_vfs_find(tls, 0)
	vfs.db.over, vfs.log.over = allocate[lib.Tsqlite3_io_methods](tls), allocate[lib.Tsqlite3_io_methods](tls)
	if err != nil || own == nil || vfs.before == 0 || vfs.db.over == nil || vfs.log.over == nil {
		return lib.SQLITE_NOMEM
	}
	*own = *memory[lib.Tsqlite3_vfs](vfs.before)
	own.FpNext, own.FzName, own.FxOpen = 0, name, address[openCall](open)
	vfs.logs = map[uintptr]*wal{}
	return lib.Xsqlite3_vfs_register(tls, address(own), 0)
})

// open opens a file as it always was, and puts our methods over its own. Where a disk may
// spoil what lies beside a write SQLite pads its log, in parts that are not to be held back.
func open(tls *libc.TLS, _, name, file uintptr, flags int32, outFlags uintptr) int32 {
	rc := call[openCall](memory[lib.Tsqlite3_vfs](vfs.before).FxOpen)(tls, vfs.before, name, file, flags, outFlags)
	if rc != lib.SQLITE_OK {
		return rc
	}
	vfs.mu.Lock()
	defer vfs.mu.Unlock()
	switch {
	case flags&lib.SQLITE_OPEN_MAIN_DB != 0:
		vfs.db.put(file, func(m *lib.Tsqlite3_io_methods) { m.FxShmLock = address[lockCall](lock) })
	case flags&lib.SQLITE_OPEN_WAL != 0:
		db := lib.Xsqlite3_database_file_object(tls, name)
		if !vfs.db.isOver(db) || call[fileCall](vfs.db.over.FxDeviceCharacteristics)(tls, db)&lib.SQLITE_IOCAP_POWERSAFE_OVERWRITE == 0 {
			break
		}
		room := allocate[[most]byte](tls)
		if room == nil {
			break
		}
		isPut := vfs.log.put(file, func(m *lib.Tsqlite3_io_methods) {
			m.FxClose, m.FxFileSize = address[fileCall](closeLog), address[askCall](logSize)
			m.FxRead, m.FxWrite = address[dataCall](readLog), address[dataCall](writeLog)
			m.FxTruncate, m.FxSync = address[sizeCall](truncateLog), address[syncCall](syncLog)
		})
		if !isPut {
			libc.Xfree(tls, address(room))
			break
		}
		w := &wal{db: db, held: room[:0], end: -1}
		vfs.logs[file], vfs.logs[db] = w, w
	}
	return rc
}

// put puts the layer over a file that has the methods which all its files have: those of
// the first, in which some are replaced.
func (l *layer) put(file uintptr, replace func(*lib.Tsqlite3_io_methods)) bool {
	methods := &memory[lib.Tsqlite3_file](file).FpMethods
	if l.under == 0 {
		l.under, *l.over = *methods, *memory[lib.Tsqlite3_io_methods](*methods)
		replace(l.over)
	}
	if *methods != l.under {
		return false
	}
	*methods = address(l.over)
	return true
}

func (l *layer) isOver(file uintptr) bool {
	return memory[lib.Tsqlite3_file](file).FpMethods == address(l.over)
}

// beneath are the methods that the layer stands over.
func (l *layer) beneath() *lib.Tsqlite3_io_methods {
	return memory[lib.Tsqlite3_io_methods](l.under)
}

// logOf is what is held back of a log, by itself or by its file, which may have none.
func logOf(file uintptr) *wal {
	vfs.mu.RLock()
	defer vfs.mu.RUnlock()
	return vfs.logs[file]
}

// lock takes and gives up locks; the first of them is that of those who write.
func lock(tls *libc.TLS, file uintptr, first, n, flags int32) int32 {
	w, beneath := logOf(file), call[lockCall](vfs.db.beneath().FxShmLock)
	if w == nil || first != 0 {
		return beneath(tls, file, first, n, flags)
	}
	w.isLocked, w.held = false, w.held[:0]
	rc := beneath(tls, file, first, n, flags)
	w.isLocked = rc == lib.SQLITE_OK && flags&lib.SQLITE_SHM_LOCK != 0
	return rc
}

// writeLog holds back what continues a log. A write elsewhere goes out at once: such as
// that of a page which the transaction had written before, and that of its checksum.
func writeLog(tls *libc.TLS, file, data uintptr, size int32, at int64) int32 {
	w, written := logOf(file), bytesAt(data, int(size))
	isHeader := size == frameHeader
	if isHeader {
		w.isCommit = [4]byte(written[4:8]) != [4]byte{} // how many pages the file has then
	}
	isNext := at == w.end && w.isLocked
	if !isNext || len(w.held)+int(size) > most {
		if rc := w.flush(tls, file); rc != lib.SQLITE_OK {
			return rc
		}
	}
	w.end = at + int64(size)
	if !isNext {
		return call[dataCall](vfs.log.beneath().FxWrite)(tls, file, data, size, at)
	}
	w.held = append(w.held, written...)
	if w.isCommit && !isHeader {
		return w.flush(tls, file)
	}
	return lib.SQLITE_OK
}

// flush writes what was held back. After an error it is held still: SQLite may go on with
// what it had written before.
func (w *wal) flush(tls *libc.TLS, file uintptr) int32 {
	n := len(w.held)
	if n == 0 {
		return lib.SQLITE_OK
	}
	rc := call[dataCall](vfs.log.beneath().FxWrite)(tls, file, address(&w.held[0]), int32(n), w.end-int64(n))
	if rc == lib.SQLITE_OK {
		w.held = w.held[:0]
	}
	return rc
}

// Whatever else is done with a log comes after what is held back.

func readLog(tls *libc.TLS, file, data uintptr, size int32, at int64) int32 {
	w := logOf(file)
	if isHeld := at+int64(size) > w.end-int64(len(w.held)); isHeld {
		if rc := w.flush(tls, file); rc != lib.SQLITE_OK {
			return rc
		}
	}
	return call[dataCall](vfs.log.beneath().FxRead)(tls, file, data, size, at)
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := logOf(file).flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return call[sizeCall](vfs.log.beneath().FxTruncate)(tls, file, size)
}

// syncLog leaves the first time to SQLite, which syncs the name of a new file as well.
func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	w := logOf(file)
	if rc := w.flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	if w.isSynced {
		if rc, isKnown := syncData(file); isKnown {
			return rc
		}
	}
	rc := call[syncCall](vfs.log.beneath().FxSync)(tls, file, flags)
	w.isSynced = rc == lib.SQLITE_OK
	return rc
}

func logSize(tls *libc.TLS, file, size uintptr) int32 {
	if rc := logOf(file).flush(tls, file); rc != lib.SQLITE_OK {
		return rc
	}
	return call[askCall](vfs.log.beneath().FxFileSize)(tls, file, size)
}

func closeLog(tls *libc.TLS, file uintptr) int32 {
	vfs.mu.Lock()
	w := vfs.logs[file]
	delete(vfs.logs, w.db)
	delete(vfs.logs, file)
	vfs.mu.Unlock()
	libc.Xfree(tls, address(&w.held[:1][0]))
	return call[fileCall](vfs.log.beneath().FxClose)(tls, file)
}

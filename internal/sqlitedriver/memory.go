package sqlitedriver

import (
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
)

// To SQLite, as it was translated from C, functions and memory are addresses.

//nolint:gosec // what is unsafe here
func address[P any](pointer P) uintptr { return *(*uintptr)(unsafe.Pointer(&pointer)) } // of a function, too

//nolint:gosec // what is unsafe here
func call[F any](address uintptr) F { return *(*F)(unsafe.Pointer(&address)) }

//nolint:gosec // what is unsafe here
func memory[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

//nolint:gosec // what is unsafe here
func bytesAt(address uintptr, n int) []byte { return unsafe.Slice(memory[byte](address), n) }

// allocate returns nil when there is no memory.
func allocate[T any](tls *libc.TLS) *T {
	return memory[T](libc.Xcalloc(tls, 1, types.Size_t(unsafe.Sizeof(*new(T)))))
}

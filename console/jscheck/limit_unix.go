//go:build linux || darwin

package jscheck

import (
	"runtime"
	"syscall"
	"time"
)

// maxData is what the process may map. It is more than maxMemory, because it includes stacks of
// threads and freed memory that are not in use, and stops what limitMemory is too slow for.
const maxData = 2 * maxMemory

// limitProcess makes the operating system limit the process. Only Linux limits the memory that
// a Go program maps to use it; other systems include what it reserves.
func limitProcess() error {
	seconds := uint64(maxProcessorTime / time.Second)
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: seconds, Max: seconds}); err != nil {
		return err
	}
	if runtime.GOOS != "linux" {
		return nil
	}
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: maxData, Max: maxData})
}

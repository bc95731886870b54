package postgres

import (
	"strings"
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of tcp(7), which package syscall does not name.
const tcpUserTimeout = 0x12

// unacknowledgedWithin is how long sent data may remain without an acknowledgement. By
// default Linux repeats it for about 15 minutes before the connection fails, and all the time
// a statement waits that was sent to a machine that is gone.
const unacknowledgedWithin = 20 * time.Second

// limitUnacknowledged sets the limit for a TCP connection.
func limitUnacknowledged(network, _ string, conn syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(unacknowledgedWithin.Milliseconds()))
	})
	if err != nil {
		return err
	}
	return failed
}

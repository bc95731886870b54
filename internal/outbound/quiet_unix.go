//go:build unix

package outbound

import (
	"errors"
	"net"
	"syscall"
)

// isQuiet reports whether an idle connection is open and has nothing to be read. A
// server that has closed it, or talks unasked, is noticed before a request is lost on
// it. What is no socket is taken to be quiet.
func isQuiet(conn net.Conn) bool {
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = secured.NetConn()
	}
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Control(func(fd uintptr) {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
	})
	return err == nil && quiet
}

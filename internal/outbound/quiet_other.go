//go:build !unix

package outbound

import "net"

// isQuiet cannot be told here: a request on a connection that the server has closed
// fails, and is tried again like any other.
func isQuiet(net.Conn) bool { return true }

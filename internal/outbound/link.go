package outbound

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"time"
)

// inline is how long a request may be that is written before its answer is read. What
// is longer may not fit into the buffers of the way, and a server may answer before it
// has read all: it is written beside the reading.
const inline = 16 << 10

var errLongHeaders = errors.New("the headers are too long")

// link is a connection that carries one request at a time. The goroutine that sends
// also writes and reads: to hand each request to another one that writes and its
// answer to one that reads, as http.Transport does, costs more than both.
type link struct {
	conn net.Conn
	key  string // of the host, see pool
	in   *bufio.Reader
	out  *bufio.Writer

	left      int64 // how many bytes may still be read
	sent      int64 // how many bytes were written, of this request
	isReused  bool
	idleSince time.Time
	written   chan error  // nil unless somebody else writes
	end       func() bool // of the request's time; reports whether it was not cut short
}

func newLink(conn net.Conn, key string) *link {
	l := &link{conn: conn, key: key}
	l.in, l.out = bufio.NewReader(l), bufio.NewWriter(l)
	return l
}

// Read and Write are for the buffers.

func (l *link) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongHeaders
	}
	n, err := l.conn.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

func (l *link) Write(p []byte) (int, error) {
	n, err := l.conn.Write(p)
	l.sent += int64(n)
	return n, err
}

// begin gives a request its time: until the deadline, or until ctx ends.
func (l *link) begin(ctx context.Context, deadline time.Time) error {
	l.left, l.sent = MaxHeader, 0
	err := l.conn.SetDeadline(deadline)
	l.end = func() bool { return true }
	if ctx.Done() != nil {
		l.end = context.AfterFunc(ctx, func() { _ = l.conn.SetDeadline(time.Unix(1, 0)) })
	}
	return err
}

// exchange writes a request and reads its answer up to the last header. 1xx answers
// are passed over.
func (l *link) exchange(req *http.Request) (*http.Response, error) {
	if req.ContentLength >= 0 && req.ContentLength <= inline {
		if err := l.write(req); err != nil {
			return nil, err
		}
	} else {
		written := make(chan error, 1)
		l.written = written
		go func() { written <- l.write(req) }()
	}
	for {
		res, err := http.ReadResponse(l.in, req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			l.left = math.MaxInt64
			return res, nil
		}
	}
}

func (l *link) write(req *http.Request) error {
	if err := req.Write(l.out); err != nil {
		return err
	}
	return l.out.Flush()
}

// isFree reports whether the connection can carry another request: the last one is
// written, and nothing came behind its answer.
func (l *link) isFree() bool {
	if l.written != nil {
		select {
		case err := <-l.written:
			l.written = nil
			if err != nil {
				return false
			}
		default:
			return false
		}
	}
	return l.in.Buffered() == 0
}

// close ends the connection, and waits for whoever writes to it. TLS would say goodbye
// first, and wait for a server that does not read; nobody has time for that here.
func (l *link) close() {
	conn := l.conn
	if secured, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secured.NetConn()
	}
	_ = conn.Close() // nothing was written that could be lost
	if l.written != nil {
		<-l.written
	}
}

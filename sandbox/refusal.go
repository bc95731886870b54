package sandbox

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"

	"github.com/partnerkit/partnerkit/apierror"
)

// shapedListener gives the standard shape to the errors that the HTTP server itself writes
// before it calls a handler, which are plain text.
type shapedListener struct {
	net.Listener
	errors apierror.Writer
}

func (l shapedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		return shapedConn{tcp, l.errors}, err
	}
	return c, err
}

// shapedConn is a TCP connection still, whose other half the server closes.
type shapedConn struct {
	*net.TCPConn
	errors apierror.Writer
}

// refusal is all that net/http writes at once when a request cannot be read, or when it
// expects what there is not.
var refusal = regexp.MustCompile(`^HTTP/1\.1 (?:(\d{3}) [^\r\n]*\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n[^\r\n]{0,200}|(417) Expectation Failed\r\nConnection: close\r\nDate: [^\r\n]*\r\nContent-Length: 0\r\n\r\n)$`)

func (c shapedConn) Write(p []byte) (int, error) {
	if len(p) > 512 {
		return c.TCPConn.Write(p)
	}
	match := refusal.FindSubmatch(p)
	if match == nil {
		return c.TCPConn.Write(p)
	}
	status, _ := strconv.Atoi(string(match[1]) + string(match[2]))
	if status >= http.StatusInternalServerError { // 501 and 505 are not internal errors
		status = http.StatusBadRequest
	}
	if _, err := c.TCPConn.Write(c.refused(status)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// refused returns the response in the standard shape.
func (c shapedConn) refused(status int) []byte {
	body := responseBuffer{header: http.Header{}}
	entry := apierror.Entry{Status: status, Message: "the request cannot be read: " + http.StatusText(status)}
	c.errors.WriteStandard(&body, &http.Request{}, entry.New())
	var out bytes.Buffer
	res := http.Response{
		StatusCode: body.status, ProtoMajor: 1, ProtoMinor: 1, Header: body.header, Close: true,
		Body: io.NopCloser(&body), ContentLength: int64(body.Len()),
	}
	_ = res.Write(&out) // into memory
	return out.Bytes()
}

// responseBuffer is an http.ResponseWriter into memory.
type responseBuffer struct {
	bytes.Buffer
	header http.Header
	status int
}

func (b *responseBuffer) Header() http.Header    { return b.header }
func (b *responseBuffer) WriteHeader(status int) { b.status = status }

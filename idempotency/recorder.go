package idempotency

import (
	"bufio"
	"bytes"
	"maps"
	"net"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/idempotency/keystore"
)

// keptHeaders describe the body or the location of the created resource. The other headers
// concern one exchange only and are set again for a repetition.
var keptHeaders = []string{
	"Content-Type", "Content-Encoding", "Content-Language", "Content-Disposition", "Content-Location",
	"X-Content-Type-Options", "Location", "Link", "Etag", "Last-Modified",
}

// responseRecorder holds a response back until its handler is done, so that the key
// can be finished first. A response that outgrows the limit, or that its handler
// flushes, goes to the client as it is written.
type responseRecorder struct {
	below  http.ResponseWriter
	keep   keeper
	limit  int // bytes held back
	status int // 0 until the response begins
	header http.Header
	body   bytes.Buffer

	isPassing bool // what is written goes to the client
	isOmitted bool // body is not the whole response
}

func (r *responseRecorder) Header() http.Header { return r.below.Header() }

// Unwrap lets http.ResponseController find deadlines and full duplex.
func (r *responseRecorder) Unwrap() http.ResponseWriter { return r.below }

func (r *responseRecorder) WriteHeader(status int) {
	isInterim := status < 200 && status != http.StatusSwitchingProtocols
	if !isInterim && r.status == 0 {
		r.status, r.header = status, r.keep.pick(r.below.Header())
		if !r.isPassing {
			return
		}
	}
	if isInterim || r.isPassing {
		r.below.WriteHeader(status)
	}
}

func (r *responseRecorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	if !mayHaveBody(r.status) {
		return 0, http.ErrBodyNotAllowed
	}
	if !r.isOmitted && r.body.Len()+len(p) > r.limit {
		if err := r.pass(); err != nil {
			return 0, err
		}
		r.isOmitted, r.body = true, bytes.Buffer{}
	}
	if !r.isOmitted {
		r.body.Write(p)
	}
	if !r.isPassing {
		return len(p), nil
	}
	return r.below.Write(p)
}

// pass sends what was held back; what follows goes straight through.
func (r *responseRecorder) pass() error {
	if r.isPassing {
		return nil
	}
	r.isPassing = true
	if r.status == 0 {
		return nil
	}
	r.below.WriteHeader(r.status)
	if r.body.Len() == 0 {
		return nil
	}
	_, err := r.below.Write(r.body.Bytes())
	return err
}

// deliver sends the response that was held back. A client that has disconnected is not an
// error.
func (r *responseRecorder) deliver() { _ = r.pass() }

// Flush is for handlers that ask for an http.Flusher.
func (r *responseRecorder) Flush() { _ = r.FlushError() }

// FlushError sends what there is, as a response that is streamed wants it.
func (r *responseRecorder) FlushError() error {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	if err := r.pass(); err != nil {
		return err
	}
	return http.NewResponseController(r.below).Flush()
}

// Hijack takes the connection away: what is said on it is not recorded.
func (r *responseRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(r.below).Hijack()
	if err == nil {
		r.isPassing, r.isOmitted = true, true
		if r.status == 0 {
			r.status = http.StatusSwitchingProtocols
		}
	}
	return conn, buffer, err
}

// response returns the handler's response; a handler that wrote nothing responded with
// with an empty 200.
func (r *responseRecorder) response() keystore.Response {
	if r.status == 0 {
		r.status, r.header = http.StatusOK, r.keep.pick(r.below.Header())
	}
	if r.isOmitted {
		return keystore.Response{Status: r.status, Header: r.header, IsOmitted: true}
	}
	return keystore.Response{Status: r.status, Header: r.header, Body: r.body.Bytes()}
}

// hasFailed reports whether the handler itself wrote that it did not do its work.
func (r *responseRecorder) hasFailed() bool { return r.status >= http.StatusBadRequest }

// replace responds with something else than what the handler wrote, unless that
// has gone out already.
func (r *responseRecorder) replace(response keystore.Response) {
	if r.isPassing && r.status != 0 {
		return
	}
	writeResponse(r.below, response)
}

// writeResponse writes a response that was kept.
func writeResponse(w http.ResponseWriter, a keystore.Response) {
	w.Header().Del("Content-Length") // of a body that is not sent
	maps.Copy(w.Header(), a.Header.Clone())
	w.WriteHeader(a.Status)
	if len(a.Body) > 0 {
		_, _ = w.Write(a.Body) // see deliver
	}
}

// keeper picks the headers of a response that a repetition carries too.
type keeper struct {
	names []string

	// The version of the body is kept with it, even if a repetition asks for another version.
	versionHeader, version string
}

func (k keeper) pick(from http.Header) http.Header {
	picked := http.Header{}
	for _, name := range k.names {
		if values := from.Values(name); len(values) > 0 {
			picked[name] = slices.Clone(values)
		}
	}
	if k.versionHeader != "" && k.version != "" {
		picked.Set(k.versionHeader, k.version)
	}
	return picked
}

func mayHaveBody(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

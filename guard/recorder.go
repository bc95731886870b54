package guard

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// recorder remembers the status of a response and puts onto it what every response
// of the call carries. It does so at the last moment, so that no handler, a proxy
// to some other backend say, can lose or double those headers.
type recorder struct {
	http.ResponseWriter
	now    time.Time // the time used by every check of the call
	id     string    // of the request; empty: it has none
	status int       // zero until the response has begun

	isHead bool  // the response has no body, whatever is written
	bytes  int64 // of the body, as written

	keepsError bool   // for the request log
	errorBody  []byte // the beginning of the body, if the status is 400 or above

	quota         ratelimit.Quota // zero unless the call was made with a token
	version       Version         // zero until it is resolved
	versions      map[string]Version
	versionHeader string
}

func (w *recorder) begin(status int) {
	if w.status != 0 {
		return
	}
	w.stamp()
	w.status = status
}

func (w *recorder) stamp() {
	header := w.Header()
	if w.id != "" {
		header["X-Request-Id"] = []string{w.id}
	}
	w.quota.WriteHeader(header)
	if w.version.Name == "" {
		return
	}
	version := w.version
	if header.Get(idempotency.ReplayedHeader) != "" && header.Get(w.versionHeader) != "" {
		version = w.versions[header.Get(w.versionHeader)] // a repeated response stays in the version of the first
	} else {
		header[w.versionHeader] = []string{version.Name}
	}
	version.writeHeader(header, w.now)
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	// 1xx responses precede the real one; 101 is the real one.
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(p []byte) (int, error) {
	w.begin(http.StatusOK)
	if w.keepsError && w.status >= http.StatusBadRequest {
		w.errorBody = append(w.errorBody, p[:min(len(p), analytics.MaxErrorBytes-len(w.errorBody))]...)
	}
	n, err := w.ResponseWriter.Write(p)
	if !w.isHead && w.status != http.StatusNoContent && w.status != http.StatusNotModified {
		w.bytes += int64(n)
	}
	return n, err
}

// FlushError sends the header, so it must not be left to Unwrap.
func (w *recorder) FlushError() error {
	w.begin(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack takes the connection away; what is said on it is the handler's.
func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil && w.status == 0 {
		w.status = http.StatusSwitchingProtocols
	}
	return conn, buffered, err
}

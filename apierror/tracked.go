package apierror

import (
	"bufio"
	"net"
	"net/http"
)

// trackedWriter records whether a response has begun, by any of the ways that lead
// there. Everything else reaches the writer below through Unwrap, which is how
// http.ResponseController finds it.
type trackedWriter struct {
	http.ResponseWriter
	begun bool
}

func (w *trackedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *trackedWriter) WriteHeader(status int) {
	// 1xx responses precede the real one; 101 is the real one.
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.begun = true
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *trackedWriter) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// Flush is for handlers that ask for an http.Flusher.
func (w *trackedWriter) Flush() { _ = w.FlushError() }

// FlushError sends the header, so it must not be left to Unwrap.
func (w *trackedWriter) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if err == nil {
		w.begun = true
	}
	return err
}

// Hijack takes the connection away, after which no error can be written.
func (w *trackedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.begun = true
	}
	return conn, buffered, err
}

package idempotency_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/codes"
)

const responseLimit = 10 << 10

func limitResponses(cfg *idempotency.Config) { cfg.MaxResponse = responseLimit }

// writing is a handler that does its work and writes these parts.
func (s *shop) writing(parts ...[]byte) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := s.createPlain(httptest.NewRecorder(), r); err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.WriteHeader(http.StatusAccepted)
		for _, part := range parts {
			if n, err := w.Write(part); n != len(part) || err != nil {
				s.Errorf("wrote %d of %d: %v", n, len(part), err)
			}
		}
		return nil
	}
}

// Binary responses are replayed byte for byte, up to and including the limit. A larger
// response reaches its client. A repetition gets an error because the response was not
// stored, and the work is not done again.
func TestLargeResponses(t *testing.T) {
	onBoth(t, func(s *shop) {
		binary := make([]byte, responseLimit+1)
		for i := range binary {
			binary[i] = byte(i * 31)
		}
		half := len(binary) / 2
		for name, test := range map[string]struct {
			parts  [][]byte
			isKept bool
		}{
			"at the limit":             {[][]byte{binary[:responseLimit]}, true},
			"at the limit, in parts":   {[][]byte{binary[:half], binary[half:responseLimit]}, true},
			"over the limit":           {[][]byte{binary}, false},
			"over the limit, in parts": {[][]byte{binary[:half], binary[half:responseLimit], binary[responseLimit:], binary}, false},
		} {
			before := len(s.invoices())
			h := s.writing(test.parts...)
			first := s.serve(h, keyed(name, "hello"))
			if first.Status != http.StatusAccepted || first.Body != string(bytes.Join(test.parts, nil)) {
				s.Errorf("%s: answered %d with %d bytes", name, first.Status, len(first.Body))
			}
			again := s.serve(h, keyed(name, "hello"))
			if test.isKept {
				again.repeats(first)
			} else {
				again.is(http.StatusConflict, codes.ResponseNotKept.Code)
			}
			s.wantInvoices(before + 1)
		}
	}, limitResponses)
}

// The same for Respond: the JSON of a text has two quotes more.
func TestLargeResponsesInTransactions(t *testing.T) {
	onBoth(t, func(s *shop) {
		for _, size := range []int{responseLimit - 2, responseLimit - 1} {
			done := 0
			h := func(_ http.ResponseWriter, r *http.Request) error {
				tx, err := s.BeginTx(r.Context())
				if err != nil {
					return err
				}
				defer tx.Rollback()
				done++
				if err := idempotency.Respond(r.Context(), tx, http.StatusOK, string(bytes.Repeat([]byte("x"), size))); err != nil {
					return err
				}
				return tx.Commit(r.Context())
			}
			key := string(rune('a' + size%2))
			first := s.serve(h, keyed(key, "hello")).is(http.StatusOK, "")
			if len(first.Body) != size+2 {
				s.Errorf("answered %d bytes", len(first.Body))
			}
			again := s.serve(h, keyed(key, "hello"))
			if size+2 <= responseLimit {
				again.repeats(first)
			} else {
				again.is(http.StatusConflict, codes.ResponseNotKept.Code)
			}
			if done != 1 {
				s.Errorf("done %d times", done)
			}
		}
	}, limitResponses)
}

// Responses of other kinds: nothing at all, a redirect, a body that may not be, a
// second status.
func TestPlainResponses(t *testing.T) {
	onBoth(t, func(s *shop) {
		for name, h := range map[string]http.HandlerFunc{
			"200": func(http.ResponseWriter, *http.Request) {},
			"303": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/there", http.StatusSeeOther) },
			"204": func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNoContent)
				if _, err := w.Write([]byte("x")); err != http.ErrBodyNotAllowed {
					s.Errorf("a body for 204: %v", err)
				}
			},
			"202": func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusEarlyHints)
				w.WriteHeader(http.StatusAccepted)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, "x")
			},
		} {
			done := 0
			counted := func(w http.ResponseWriter, r *http.Request) error {
				done++
				h(w, r)
				return nil
			}
			server := httptest.NewServer(asCaller(apierror.Writer{}.Standard(s.keys.Wrap(counted))))
			var responses []string
			for range 2 {
				responses = append(responses, post(s, server, name))
			}
			if done != 1 || responses[0] != responses[1] || responses[0][:3] != name {
				s.Errorf("%s: done %d times, answered %q", name, done, responses)
			}
			server.Close()
		}
	})
}

// asCaller is what stands before the keys in a real server.
func asCaller(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, as(r, caller)) })
}

// post sends a request with a key and returns what matters of the response.
func post(s *shop, server *httptest.Server, key string) string {
	s.Helper()
	response := send(s, server, key)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response.Status + " " + response.Header.Get("Location") + " " + response.Header.Get("Content-Type") + " " + string(body)
}

func send(s *shop, server *httptest.Server, key string) *http.Response {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodPost, server.URL, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Idempotency-Key", key)
	response, err := server.Client().Transport.RoundTrip(r)
	if err != nil {
		s.Fatal(err)
	}
	return response
}

// Flushed output reaches the client while the handler runs, and is replayed afterwards.
func TestStreamedResponse(t *testing.T) {
	onBoth(t, func(s *shop) {
		heard := make(chan struct{})
		h := func(w http.ResponseWriter, r *http.Request) error {
			_, _ = io.WriteString(w, "first ")
			w.(http.Flusher).Flush()
			<-heard
			_, err := io.WriteString(w, "second")
			return err
		}
		server := httptest.NewServer(asCaller(apierror.Writer{}.Standard(s.keys.Wrap(h))))
		defer server.Close()
		response := send(s, server, "k")
		defer response.Body.Close()
		part := make([]byte, 6)
		if _, err := io.ReadFull(response.Body, part); err != nil || string(part) != "first " {
			s.Fatalf("%q, %v", part, err)
		}
		close(heard)
		if rest, err := io.ReadAll(response.Body); err != nil || string(rest) != "second" {
			s.Errorf("%q, %v", rest, err)
		}
		again := send(s, server, "k")
		defer again.Body.Close()
		if body, err := io.ReadAll(again.Body); err != nil || string(body) != "first second" || again.Header.Get("Idempotency-Replayed") != "true" {
			s.Errorf("again: %q, %v, %v", body, again.Header, err)
		}
	})
}

// A handler that takes the connection has done its work; what it said is not kept.
func TestHijackedResponse(t *testing.T) {
	onBoth(t, func(s *shop) {
		h := func(w http.ResponseWriter, r *http.Request) error {
			conn, buffer, err := http.NewResponseController(w).Hijack()
			if err != nil {
				return err
			}
			defer conn.Close()
			_, _ = io.WriteString(buffer, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
			return buffer.Flush()
		}
		handled := make(chan struct{}, 2)
		server := httptest.NewServer(asCaller(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() { handled <- struct{}{} }()
			apierror.Writer{}.Standard(s.keys.Wrap(h)).ServeHTTP(w, r)
		})))
		defer server.Close()
		conn, err := (&net.Dialer{}).DialContext(s.Context(), "tcp", server.Listener.Addr().String())
		if err != nil {
			s.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nIdempotency-Key: k\r\nContent-Length: 0\r\n\r\n")
		if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || line != "HTTP/1.1 200 OK\r\n" {
			s.Errorf("%q, %v", line, err)
		}
		<-handled
		response := send(s, server, "k")
		defer response.Body.Close()
		if response.StatusCode != http.StatusConflict || response.Header.Get("Retry-After") != "" {
			s.Errorf("again: %s", response.Status)
		}
	})
}

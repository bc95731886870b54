package apierror

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/internal/requestid"
)

const (
	requestIDHeader = "X-Request-Id"
	requestIDPrefix = "req_"
	maxRequestID    = 128 // characters of an id of the host's gateway
)

// WithRequestIDs gives every request an id, which [RequestID] returns, and every response
// of next the header X-Request-Id with it. A Writer uses this id in the texts and log lines
// of internal errors.
//
// own returns the id that the host's gateway gave the request: 1 to 128 visible ASCII
// characters. Any other result is replaced by a random id, as is every id if own is nil. own
// must not return what a client can choose, such as a header that the gateway passes on:
// the id could belong to another request. If own panics, a random id is used.
//
// A request that has an id keeps it, so WithRequestIDs can stand in front of several
// handlers one of which has it already, such as partnerkit.Platform.API.
func WithRequestIDs(own func(*http.Request) string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if RequestID(r.Context()) != "" {
			next.ServeHTTP(w, r)
			return
		}
		id := ownRequestID(own, r)
		if !isVisible(id) {
			id = newRequestID()
		}
		w.Header().Set(requestIDHeader, id)
		identified := r.WithContext(requestid.With(r.Context(), id))
		next.ServeHTTP(w, identified)
		r.Pattern = identified.Pattern // for middleware in front that reads it afterwards
	})
}

// RequestID returns the id of the request that ctx belongs to, for logs of the host; empty
// if [WithRequestIDs] is not in front of the handler.
func RequestID(ctx context.Context) string { return requestid.From(ctx) }

func ownRequestID(own func(*http.Request) string, r *http.Request) (id string) {
	if own == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			id = ""
		}
	}()
	return own(r)
}

// isVisible reports whether an id has 1 to 128 visible ASCII characters.
func isVisible(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return 1 <= len(id) && len(id) <= maxRequestID
}

func newRequestID() string { return requestIDPrefix + strings.ToLower(rand.Text()) } // 130 random bits

// requestID returns the id of this request and puts it into the header of the response.
// Without [WithRequestIDs] it makes one, or keeps the one that an outer handler of ours has
// put there. An id that the client sent is never used: it could belong to another request,
// or be anything at all.
func requestID(w http.ResponseWriter, r *http.Request) string {
	id := RequestID(r.Context())
	if id == "" {
		if id = w.Header().Get(requestIDHeader); isRequestID(id) {
			return id
		}
		id = newRequestID()
	}
	w.Header().Set(requestIDHeader, id)
	return id
}

func isRequestID(id string) bool {
	random, ok := strings.CutPrefix(id, requestIDPrefix)
	return ok && len(random) == 26 && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

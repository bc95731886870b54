package callstore

import (
	"time"
)

// Request is an entry of the request log. Any text in the form of a token, a code or a
// secret of this library is masked, encoded or not; in Error PKCE verifiers are too.
type Request struct {
	ID         string // req_…, sorted by time
	AppID      string
	BusinessID string
	Method     string
	Route      string // empty: no route serves it
	Status     int
	Bytes      int64 // of the body of the response
	Code       string
	RequestID  string // that of the response's X-Request-Id, or the ID
	Error      string // the body of an error, as sent; empty: there was none
	At         time.Time
	Took       time.Duration
}

// RequestQuery asks for entries of the request log. Zero fields select everything.
type RequestQuery struct {
	AppID                string
	ID                   string
	MinStatus, MaxStatus int // both inclusive
	Route                string
	Path                 string // a part of the path of Route
	BusinessID           string
	RequestID            string
	Since                time.Time // at or after this
	Until                time.Time // before this
	Before               string    // only entries with a smaller id
	Limit                int
}

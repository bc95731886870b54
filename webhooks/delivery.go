package webhooks

import (
	"net/http"
	"time"
)

// Status is the status of a delivery. The package comment shows the transitions.
type Status string

// The statuses of a delivery.
const (
	Queued    Status = "queued"
	Retrying  Status = "retrying"
	Delivered Status = "delivered"
	Failed    Status = "failed"
)

// Delivery is one event on its way to one webhook. Its id and body stay the same
// over every attempt and redelivery.
type Delivery struct {
	ID         string // dlv_…, sorted by time
	WebhookID  string
	AppID      string
	EventID    string // empty for a test
	EventType  string
	BusinessID string
	// Sequence is the number of the event in its business; 0 for a test.
	Sequence int64
	Body     []byte

	Status        Status
	Attempts      int       // since it was queued
	ResponseCode  int       // of the last attempt; 0: it got no response
	LastError     string    // empty when there was none
	NextAttemptAt time.Time // zero unless queued or retrying
	Round         int       // how often it was sent again
	CreatedAt     time.Time // the time of ID
}

// IsTest reports whether the delivery was fired from the console.
func (d Delivery) IsTest() bool { return d.EventID == "" }

// Attempt is one try to send a delivery.
type Attempt struct {
	ID           string // att_…, sorted by time
	Round        int    // 0 at first; each redelivery begins another one
	Number       int    // 1 to 6, in its round
	Signature    string // the header that was sent
	StartedAt    time.Time
	Duration     time.Duration
	ResponseCode int    // 0: no response
	Error        string // empty after a 2xx
	// ResponseHeader is the beginning of the response's header; nil: no response.
	ResponseHeader http.Header
	ResponseBody   []byte // the beginning of the response's body
}

package partner

import (
	"net/http"
	"time"
)

// DeliveryStatus is the status of a delivery. The comment of package webhooks shows the
// transitions.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryQueued    DeliveryStatus = "queued"
	DeliveryRetrying  DeliveryStatus = "retrying"
	DeliveryDelivered DeliveryStatus = "delivered"
	DeliveryFailed    DeliveryStatus = "failed"
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

	Status        DeliveryStatus
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

// DeliveryQuery asks for deliveries of a webhook, newest first. An empty filter matches every
// delivery.
type DeliveryQuery struct {
	AppID, WebhookID string
	Statuses         []DeliveryStatus // any of these
	EventType        string
	BusinessID       string
	EventID          string
	Since, Until     time.Time // created at Since or later, and before Until
	After            string    // only deliveries with a smaller id; empty: from the newest on
	Limit            int
	Now              time.Time // queued deliveries are due by now
	// CountUpTo asks for DeliveryPage.Counts, each of which ends there; 0: they are left out.
	CountUpTo int
	// WithBodies asks for Delivery.Body, which is left out otherwise.
	WithBodies bool
}

// DeliveryPage is a part of a list of deliveries.
type DeliveryPage struct {
	Deliveries []Delivery
	// Next is the After of the next page; empty: the list ends here. A page of several
	// filters, or of an event type, may have fewer deliveries than Limit, or none, although
	// there is a next one: [ScannedDeliveries] were read for it.
	Next   string
	Counts DeliveryCounts
}

// ScannedDeliveries is how many deliveries are read for one page that no index serves, and
// for counting with a filter by event or business.
const ScannedDeliveries = 1000

// DeliveryCounts is the number of deliveries by status that match a query, ignoring its
// Statuses, After and Limit. A delivered one is counted if it is among the newest
// [ScannedDeliveries] of the webhook or, with a filter by business, of the business. With a
// filter, another one may be missing if so many newer ones have its status, and as many are
// of the webhook or business.
type DeliveryCounts struct{ Queued, Retrying, Delivered, Failed int }

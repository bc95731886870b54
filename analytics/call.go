package analytics

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/analytics/callstore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// Call is one call of an app that has been answered.
type Call struct {
	AppID          string
	InstallationID string // empty: not known
	BusinessID     string
	At             time.Time // when it came
	Took           time.Duration
	Method         string
	Route          string // the pattern, such as "GET /invoices/{id}"; empty: no route serves it
	Status         int
	Bytes          int64 // of the body of the response, as written
	RateLimited    bool  // a rate limit refused it
	// HasDeadToken reports whether the token has expired or was revoked. Such a call is in
	// the request log and is not counted.
	HasDeadToken bool
	Code         string // of the error; may be empty
	RequestID    string // that the response carries; empty: none
	// Error is the body of a response of 400 and above, cut off where it is long. It must
	// not be changed afterwards.
	Error []byte
}

// MaxErrorBytes is how much of an error the request log keeps.
const MaxErrorBytes = 4 << 10

// request makes the entry of a call. It runs off the request path.
func (c Call) request() callstore.Request {
	r := callstore.Request{
		ID: id.New(id.Request, c.At), AppID: c.AppID, BusinessID: clean(c.BusinessID), Method: clean(c.Method), Route: clean(c.Route), Status: c.Status, Bytes: c.Bytes,
		Code: clean(c.Code), RequestID: clean(c.RequestID), Error: secret.Mask(storable(string(c.Error))), At: c.At.UTC().Truncate(time.Millisecond), Took: c.Took,
	}
	if r.RequestID == "" {
		r.RequestID = r.ID
	}
	if r.Code == "" && r.Error != "" { // an error that was kept for a repeated request, or the host's
		var body struct {
			Code string `json:"code"`
		}
		if json.Unmarshal([]byte(r.Error), &body) == nil {
			r.Code = body.Code
		}
	}
	return r
}

// clean returns a text that a database takes and that holds no secret of ours. What clients
// make has no form of its own, and ids of the host may look like it.
func clean(text string) string { return secret.MaskIssued(storable(text)) }

// storable returns a text that a database takes.
func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

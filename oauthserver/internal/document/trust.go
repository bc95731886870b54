package document

import "context"

// Review determines the businesses to which the app of a document can be connected.
type Review string

// The values of Review.
const (
	Sandbox  Review = ""         // like an app that has not completed review
	Reviewed Review = "reviewed" // like an app that has completed review
	Refused  Review = "refused"  // to none: the client_id is unknown
)

// Trust is how far the host trusts a document.
type Trust struct {
	Review Review
	// OrganizationID is the organization in whose sandbox businesses the app can be connected
	// while it is not reviewed; empty: none.
	OrganizationID string
}

// Policy returns how far the host trusts the document at a URL.
type Policy func(ctx context.Context, url string) (Trust, error)

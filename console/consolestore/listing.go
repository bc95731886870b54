package consolestore

import (
	"errors"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

// Listing is the entry of an app in a marketplace, and what its developers would like
// it to show next.
type Listing struct {
	Live     *Revision // nil until a revision was approved
	Revision Revision  // the latest; the live one until another is begun
	Version  int64     // grows with each change of the listing; 1 after the first save
}

// Revision is one version of a listing.
type Revision struct {
	ID    string // rev_…
	AppID string
	State RevisionState
	ListingContent
	// App is the app as it was when the revision was submitted; empty for a draft.
	App  partner.Profile
	Note string // what the reviewer said last
	// ReviewerID is the user who took the revision in review or decided about it; empty
	// for none. Developers do not see it.
	ReviewerID  string
	SubmittedAt time.Time // zero until it is submitted
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// RevisionState is how far a revision has come.
type RevisionState string

// The states of a revision.
const (
	RevisionDraft            RevisionState = "draft"
	RevisionSubmitted        RevisionState = "submitted"
	RevisionInReview         RevisionState = "in_review"
	RevisionChangesRequested RevisionState = "changes_requested"
	RevisionRejected         RevisionState = "rejected"
	RevisionApproved         RevisionState = "approved"
)

// IsOpen reports whether a reviewer has yet to decide.
func (s RevisionState) IsOpen() bool { return s == RevisionSubmitted || s == RevisionInReview }

// ErrSlugTaken says that another app has the slug.
var ErrSlugTaken = errors.New("the slug is taken")

// ListingStanding is all that decides whether a listing may be changed.
type ListingStanding struct {
	Listing *Listing // nil: there is none
	Assets  []Asset
}

// ListingContent is the content of a listing. All but the slug may be missing from a
// draft; a reviewer gets to see it with all texts.
type ListingContent struct {
	// Slug names the listing in URLs: 3 to 60 of a-z, 0-9 and hyphens, none of which
	// is the first or last character.
	Slug               string
	Name               string
	Summary            string
	Description        string
	IconAssetID        string // empty: none
	ScreenshotAssetIDs []string
	// Publisher, TermsURL and PrivacyURL stand on the consent page too, with the icon.
	// They are optional; the URLs are https.
	Publisher, TermsURL, PrivacyURL string
}

// Shows reports whether an asset is the icon or one of the screenshots.
func (l ListingContent) Shows(assetID string) bool {
	return assetID == l.IconAssetID || slices.Contains(l.ScreenshotAssetIDs, assetID)
}

// A ListingDetail is something that a listing lacks: the name of its member, and what is wrong
// with it.
type ListingDetail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

// Missing returns what a listing lacks to be submitted.
func (l ListingContent) Missing() []ListingDetail {
	var missing []ListingDetail
	for _, required := range []struct{ field, value string }{{"name", l.Name}, {"summary", l.Summary}, {"description", l.Description}} {
		if !text.HasVisible(required.value) {
			missing = append(missing, ListingDetail{Field: required.field, Reason: "is empty"})
		}
	}
	return missing
}

// Submission is an app that was submitted for review without its listing.
type Submission struct {
	ID    string // sub_…
	AppID string
	State RevisionState // submitted, or what came of it
	// App is the app as it was submitted. A reviewer decides about exactly that.
	App         partner.Profile
	Note        string // what the reviewer said last
	ReviewerID  string // as in Revision
	SubmittedAt time.Time
	UpdatedAt   time.Time
}

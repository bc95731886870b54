package console

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
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

// revisionSteps are the only ways from one state to the next. Saving leads to draft:
// the draft itself, one that came back, or, after an approval, a new one.
var revisionSteps = map[RevisionState][]RevisionState{
	RevisionDraft:            {RevisionDraft, RevisionSubmitted},
	RevisionSubmitted:        {RevisionInReview},
	RevisionInReview:         {RevisionChangesRequested, RevisionRejected, RevisionApproved},
	RevisionChangesRequested: {RevisionDraft},
	RevisionRejected:         {RevisionDraft},
	RevisionApproved:         {RevisionDraft},
}

// become moves a revision on, or is LISTING_STATE_INVALID.
func (r *Revision) become(next RevisionState, now time.Time) error {
	state, err := r.State.become(next)
	if err == nil {
		r.State, r.UpdatedAt = state, now
	}
	return err
}

// become returns the next state, or LISTING_STATE_INVALID.
func (s RevisionState) become(next RevisionState) (RevisionState, error) {
	if !slices.Contains(revisionSteps[s], next) {
		return s, apierror.New(apierror.ListingStateInvalid, s, next)
	}
	return next, nil
}

// IsOpen reports whether a reviewer has yet to decide.
func (s RevisionState) IsOpen() bool { return s == RevisionSubmitted || s == RevisionInReview }

// ErrSlugTaken says that another app has the slug.
var ErrSlugTaken = errors.New("the slug is taken")

// ListingStore keeps listings: of each app the live revision and the latest one.
//
// A slug belongs to one app at a time: from the save that names it until neither of
// these two revisions does.
type ListingStore interface {
	// Listing returns the one of an app; partner.ErrNotFound.
	Listing(ctx context.Context, appID string) (Listing, error)
	// ChangeListing makes an app's listing, or the next step of it, in one
	// transaction. step sees how things stand, under a lock that asset deletion
	// takes too, and returns the latest revision as it should be; under a new id it
	// is another one. The Version of the listing grows by one. What step fails with is returned and changes nothing; it may
	// be called more than once.
	//
	// An approved revision is live from here on, in place of the one before. [ErrSlugTaken];
	// partner.ErrNotFound when there is no such app.
	ChangeListing(ctx context.Context, appID string, step func(ListingStanding) (Revision, error)) (Listing, error)
}

// ListingStanding is all that decides whether a listing may be changed.
type ListingStanding struct {
	Listing *Listing // nil: there is none
	Assets  []Asset
}

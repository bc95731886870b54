package console

import (
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// revisionSteps are the only ways from one state to the next. Saving leads to draft:
// the draft itself, one that came back, or, after an approval, a new one.
var revisionSteps = map[consolestore.RevisionState][]consolestore.RevisionState{
	consolestore.RevisionDraft:            {consolestore.RevisionDraft, consolestore.RevisionSubmitted},
	consolestore.RevisionSubmitted:        {consolestore.RevisionInReview},
	consolestore.RevisionInReview:         {consolestore.RevisionChangesRequested, consolestore.RevisionRejected, consolestore.RevisionApproved},
	consolestore.RevisionChangesRequested: {consolestore.RevisionDraft},
	consolestore.RevisionRejected:         {consolestore.RevisionDraft},
	consolestore.RevisionApproved:         {consolestore.RevisionDraft},
}

// become moves a revision on, or is LISTING_STATE_INVALID.
func become(r *consolestore.Revision, next consolestore.RevisionState, now time.Time) error {
	state, err := nextState(r.State, next)
	if err == nil {
		r.State, r.UpdatedAt = state, now
	}
	return err
}

// nextState returns the next state, or LISTING_STATE_INVALID.
func nextState(state, next consolestore.RevisionState) (consolestore.RevisionState, error) {
	if !slices.Contains(revisionSteps[state], next) {
		return state, codes.ListingStateInvalid.New(state, next)
	}
	return next, nil
}

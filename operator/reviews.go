package operator

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
)

// Reviews lists the review queue, oldest submission first: revisions that were submitted,
// and those that an operator has taken. Its error is one of apierror for a cursor that makes
// no sense.
func (o *Operator) Reviews(ctx context.Context, _ Actor, p console.Page) (console.Paged[Review], error) {
	limit := limitOf(p)
	q := ReviewQuery{Limit: limit + 1}
	if p.After != "" {
		at, revisionID, _ := strings.Cut(p.After, ".")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil || revisionID == "" {
			return console.Paged[Review]{}, apierror.Invalid("after must be the nextCursor of a page")
		}
		q.AfterTime, q.AfterID = time.UnixMilli(ms), revisionID
	}
	found, err := o.cfg.Store.Reviews(ctx, q)
	return cut(found, limit, func(r Review) string {
		return strconv.FormatInt(r.SubmittedAt.UnixMilli(), 10) + "." + r.RevisionID
	}), err
}

// Listing returns an app's listing: the revision under review beside the live one. Its
// error is one of apierror, 404 when there is none.
func (o *Operator) Listing(ctx context.Context, _ Actor, appID string) (console.Listing, error) {
	listing, err := o.cfg.Store.Listing(ctx, appID)
	return listing, absent("listing", err)
}

// ReviewListing takes the operator's step on the latest revision of an app, with a note that
// its developers see: to in_review, which takes the revision, and from there to approved,
// changes_requested or rejected. If several operators act at once, one succeeds. Its error
// is one of apierror: 404, LISTING_STATE_INVALID, or REVIEW_CONFLICT with the name of the operator
// who has taken the revision or decided about it.
func (o *Operator) ReviewListing(ctx context.Context, by Actor, appID string, state console.RevisionState, note string) (console.Listing, error) {
	var v apierror.Validation
	checkNote(&v, "note", note)
	if err := v.Err(); err != nil {
		return console.Listing{}, err
	}
	former, err := o.formerReviewer(ctx, appID)
	if err != nil {
		return console.Listing{}, err
	}
	reviewed, err := o.cfg.Console.ReviewListing(ctx, console.Review{AppID: appID, State: state, Note: note, ReviewerID: by.user.ID, FormerID: former})
	if conflict, ok := errors.AsType[*console.ReviewConflict](err); ok {
		name, err := o.userName(ctx, conflict.ReviewerID)
		if err != nil {
			return console.Listing{}, err
		}
		return console.Listing{}, apierror.New(apierror.ReviewConflict, name)
	}
	return reviewed, err
}

// formerReviewer returns the user who took the latest revision of an app and is no longer
// an operator, or is suspended. It returns "" if there is none.
func (o *Operator) formerReviewer(ctx context.Context, appID string) (string, error) {
	listing, err := o.cfg.Store.Listing(ctx, appID)
	if err != nil {
		return "", absent("listing", err)
	}
	reviewerID := listing.Revision.ReviewerID
	if reviewerID == "" || listing.Revision.State != console.RevisionInReview {
		return "", nil
	}
	_, ok, err := o.operator(ctx, reviewerID)
	if err != nil || ok {
		return "", err
	}
	return reviewerID, nil
}

// userName returns the name of a user, or the id of one who has none.
func (o *Operator) userName(ctx context.Context, userID string) (string, error) {
	user, ok, err := o.user(ctx, userID)
	if err != nil || !ok || user.Name == "" {
		return userID, err
	}
	return user.Name, nil
}

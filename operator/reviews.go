package operator

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/partner"
)

// Reviews lists the review queue, oldest submission first: revisions of listings and apps that
// were submitted, and those that an operator has taken. Its error is one of apierror for a cursor that makes
// no sense.
func (o *Operator) Reviews(ctx context.Context, _ Actor, p console.Page) (console.Paged[consolestore.QueuedReview], error) {
	limit := limitOf(p)
	var afterTime time.Time
	var afterID string
	if p.After != "" {
		at, id, _ := strings.Cut(p.After, ".")
		ms, err := strconv.ParseInt(at, 10, 64)
		if err != nil || id == "" {
			return console.Paged[consolestore.QueuedReview]{}, apierror.InvalidAt("after", "must be the nextCursor of a page")
		}
		afterTime, afterID = time.UnixMilli(ms), id
	}
	found, err := o.cfg.Store.Reviews(ctx, afterTime, afterID, limit+1)
	return cut(found, limit, func(r consolestore.QueuedReview) string {
		return strconv.FormatInt(r.SubmittedAt.UnixMilli(), 10) + "." + r.ID
	}), err
}

// Listing returns an app's listing: the revision under review beside the live one. Its
// error is one of apierror, 404 when there is none.
func (o *Operator) Listing(ctx context.Context, _ Actor, appID string) (consolestore.Listing, error) {
	listings, err := o.cfg.Store.Listings(ctx, appID)
	if err != nil {
		return consolestore.Listing{}, err
	}
	listing, ok := listings[appID]
	if !ok {
		return consolestore.Listing{}, apierror.NotFound("listing")
	}
	return listing, nil
}

// AppReview is an app and how far its review has come.
type AppReview struct {
	App partner.App
	console.AppReview
}

// Live returns the live revision of the app's listing; nil if there is none.
func (r AppReview) Live() *consolestore.Revision {
	if r.Listing == nil {
		return nil
	}
	return r.Listing.Live
}

// AppReview returns how far the review of an app has come. Its error is one of apierror, 404
// when there is no such app.
func (o *Operator) AppReview(ctx context.Context, _ Actor, appID string) (AppReview, error) {
	app, err := o.cfg.Store.App(ctx, appID)
	if err != nil {
		return AppReview{}, absent("app", err)
	}
	return o.review(ctx, app)
}

func (o *Operator) review(ctx context.Context, app partner.App) (AppReview, error) {
	reviews, err := console.ReadReviews(ctx, o.cfg.Store, app)
	return AppReview{app, reviews[app.ID]}, err
}

// ReviewApp takes the operator's step on what was submitted last of an app, with its listing or
// without: to in_review, which takes it, and from there to approved, changes_requested or
// rejected. An approval completes the review of the app, which covers what was submitted. An
// app of no organization can be taken without a submission. Its error is as with
// [Operator.ReviewListing].
func (o *Operator) ReviewApp(ctx context.Context, by Actor, appID string, state consolestore.RevisionState, note string) (AppReview, error) {
	var v apierror.Validation
	checkNote(&v, "note", note)
	if err := v.Err(); err != nil {
		return AppReview{}, err
	}
	before, err := o.AppReview(ctx, by, appID)
	if err != nil {
		return AppReview{}, err
	}
	former := ""
	if subject := before.Subject(); subject != nil {
		if former, err = o.formerReviewer(ctx, subject.State, subject.ReviewerID); err != nil {
			return AppReview{}, err
		}
	}
	_, err = o.cfg.Console.ReviewApp(ctx, console.Review{AppID: appID, State: state, Note: note, ReviewerID: by.user.ID, FormerID: former})
	if err != nil {
		return AppReview{}, o.named(ctx, err)
	}
	return o.AppReview(ctx, by, appID)
}

// ReviewListing takes the operator's step on the latest revision of an app, with a note that
// its developers see: to in_review, which takes the revision, and from there to approved,
// changes_requested or rejected. If several operators act at once, one succeeds. Its error
// is one of apierror: 404, LISTING_STATE_INVALID, or REVIEW_CONFLICT with the name of the operator
// who has taken the revision or decided about it.
func (o *Operator) ReviewListing(ctx context.Context, by Actor, appID string, state consolestore.RevisionState, note string) (consolestore.Listing, error) {
	var v apierror.Validation
	checkNote(&v, "note", note)
	if err := v.Err(); err != nil {
		return consolestore.Listing{}, err
	}
	before, err := o.Listing(ctx, by, appID)
	if err != nil {
		return consolestore.Listing{}, err
	}
	former, err := o.formerReviewer(ctx, before.Revision.State, before.Revision.ReviewerID)
	if err != nil {
		return consolestore.Listing{}, err
	}
	reviewed, err := o.cfg.Console.ReviewListing(ctx, console.Review{AppID: appID, State: state, Note: note, ReviewerID: by.user.ID, FormerID: former})
	return reviewed, o.named(ctx, err)
}

// named converts a conflict with another operator into REVIEW_CONFLICT with that operator's
// name.
func (o *Operator) named(ctx context.Context, err error) error {
	conflict, ok := errors.AsType[*console.ReviewConflict](err)
	if !ok {
		return err
	}
	name, err := o.userName(ctx, conflict.ReviewerID)
	if err != nil {
		return err
	}
	return codes.ReviewConflict.New(name)
}

// formerReviewer returns the reviewer who has taken something if that user is no longer an
// operator, or is suspended, and otherwise "".
func (o *Operator) formerReviewer(ctx context.Context, state consolestore.RevisionState, reviewerID string) (string, error) {
	if reviewerID == "" || state != consolestore.RevisionInReview {
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

// Scopes returns what scopes let an app do, as the consent page describes it, in their order. One
// that is not in the catalog has its name as the description.
func (o *Operator) Scopes(scopes identity.Scopes) []identity.Scope {
	all := make([]identity.Scope, 0, scopes.Len())
	for name := range scopes.All() {
		scope, ok := o.cfg.OAuth.Scopes().Lookup(name)
		if !ok {
			scope = identity.Scope{Name: name, Description: name}
		}
		all = append(all, scope)
	}
	return all
}

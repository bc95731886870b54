package console

import (
	"context"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
)

// AppReview is the state of the review of an app.
type AppReview struct {
	IsReviewed bool
	// Pending is what of the app no review covers yet; see partner.App.Unreviewed.
	Pending partner.Profile
	// Publisher and IconAssetID are those of the latest revision of the listing, if they
	// differ from the live ones. They are submitted with the listing.
	Publisher, IconAssetID string

	Listing    *consolestore.Listing    // nil: there is none
	Submission *consolestore.Submission // the last one; nil: there is none
}

// HasPending reports whether anything of the app waits for a review.
func (r AppReview) HasPending() bool {
	return !r.Pending.IsEmpty() || r.Publisher != "" || r.IconAssetID != ""
}

// MayBeSubmitted reports whether the app can be submitted without its listing.
func (r AppReview) MayBeSubmitted() bool {
	return !r.isOpen() && (!r.IsReviewed || !r.Pending.IsEmpty())
}

// isOpen reports whether a submission waits for a decision.
func (r AppReview) isOpen() bool {
	subject := r.Subject()
	return subject != nil && subject.State.IsOpen()
}

// Subject is what was submitted for review last: the app with its listing or without.
type Subject struct {
	ID          string                 // of the revision or the submission
	Revision    *consolestore.Revision // of the listing; nil if the app was submitted without it
	State       consolestore.RevisionState
	App         partner.Profile // as it was submitted
	Note        string
	ReviewerID  string
	SubmittedAt time.Time
}

// OfListing reports whether the app was submitted with its listing.
func (s Subject) OfListing() bool { return s.Revision != nil }

// Subject returns what was submitted last; nil if nothing was.
func (r AppReview) Subject() *Subject {
	var last *Subject
	if v := r.submittedRevision(); v != nil {
		last = &Subject{ID: v.ID, Revision: v, State: v.State, App: v.App, Note: v.Note, ReviewerID: v.ReviewerID, SubmittedAt: v.SubmittedAt}
	}
	if s := r.Submission; s != nil && (last == nil || s.State.IsOpen() || !last.State.IsOpen() && s.SubmittedAt.After(last.SubmittedAt)) {
		last = &Subject{ID: s.ID, State: s.State, App: s.App, Note: s.Note, ReviewerID: s.ReviewerID, SubmittedAt: s.SubmittedAt}
	}
	return last
}

// submittedRevision returns the revision of the listing that was submitted last; nil if none
// was, or if it is being changed.
func (r AppReview) submittedRevision() *consolestore.Revision {
	switch {
	case r.Listing == nil:
		return nil
	case r.Listing.Revision.State == consolestore.RevisionDraft:
		return r.Listing.Live
	}
	return &r.Listing.Revision
}

// ReadReviews returns how far the review of each app has come, by app.
func ReadReviews(ctx context.Context, store consolestore.Store, apps ...partner.App) (map[string]AppReview, error) {
	ids := jsonapi.Convert(apps, func(a partner.App) string { return a.ID })
	listings, err := store.Listings(ctx, ids...)
	if err != nil {
		return nil, err
	}
	submissions, err := store.Submissions(ctx, ids...)
	if err != nil {
		return nil, err
	}
	reviews := make(map[string]AppReview, len(apps))
	for _, app := range apps {
		r := AppReview{IsReviewed: app.Reviewed, Pending: app.Unreviewed()}
		if listing, ok := listings[app.ID]; ok {
			r.Listing = &listing
			var live consolestore.Revision
			if listing.Live != nil {
				live = *listing.Live
			}
			if last := listing.Revision; last.Publisher != live.Publisher {
				r.Publisher = last.Publisher
			}
			if last := listing.Revision; last.IconAssetID != live.IconAssetID {
				r.IconAssetID = last.IconAssetID
			}
		}
		if submission, ok := submissions[app.ID]; ok {
			r.Submission = &submission
		}
		reviews[app.ID] = r
	}
	return reviews, nil
}

// AppReview returns how far the review of an app has come. Its error is one of apierror, 404.
func (c *Console) AppReview(ctx context.Context, by Actor, appID string) (AppReview, error) {
	app, err := c.App(ctx, by, appID)
	if err != nil {
		return AppReview{}, err
	}
	return c.review(ctx, app)
}

func (c *Console) review(ctx context.Context, app partner.App) (AppReview, error) {
	reviews, err := ReadReviews(ctx, c.cfg.Store, app)
	return reviews[app.ID], err
}

// isSubmitted is the error while a submission is open.
var isSubmitted = apierror.Entry{Code: codes.Conflict.Code, Status: http.StatusConflict, Message: "the app is submitted already and waits for the decision"}

// SubmitApp submits an app for review as it is now, without its listing. Its error is one of
// apierror: 404, that the app is deactivated, CONFLICT if a submission of the app is open, or
// that the last review covers the app.
func (c *Console) SubmitApp(ctx context.Context, by Actor, appID string) (AppReview, error) {
	_, review, err := c.submit(ctx, by, appID)
	return review, err
}

// submit is SubmitApp, and returns the app.
func (c *Console) submit(ctx context.Context, by Actor, appID string) (app partner.App, review AppReview, err error) {
	err = c.changeApp(ctx, by, appID, func(ctx context.Context, locked partner.App) (audit.Entry, error) {
		var err error
		app = locked
		if review, err = c.review(ctx, app); err != nil {
			return audit.Entry{}, err
		}
		switch {
		case review.isOpen():
			return audit.Entry{}, isSubmitted.New()
		case !review.MayBeSubmitted() && review.HasPending():
			return audit.Entry{}, apierror.Invalid("nothing but the publisher or the icon waits for a review: submit the listing")
		case !review.MayBeSubmitted():
			return audit.Entry{}, apierror.Invalid("nothing waits for a review: the last one covers the app as it is")
		}
		submission := c.submission(app)
		review.Submission = &submission
		return by.did(audited.ReviewSubmitted, appID, submission.ID), c.cfg.Store.SaveSubmission(ctx, submission)
	})
	if err != nil {
		return partner.App{}, AppReview{}, err
	}
	c.tell(ctx, events.Notification{Kind: events.NotifyListingSubmitted, AppID: appID, UserID: by.userID})
	return app, review, nil
}

// submission returns a new submission of an app as it is.
func (c *Console) submission(app partner.App) consolestore.Submission {
	now := stamp.Of(c.cfg.Clock.Now()).Time
	return consolestore.Submission{ID: id.New(id.Submission, now), AppID: app.ID, State: consolestore.RevisionSubmitted, App: app.Profile(), SubmittedAt: now, UpdatedAt: now}
}

// Review is a reviewer's next step with what was submitted of an app.
type Review struct {
	AppID string
	State consolestore.RevisionState // in_review, changes_requested, rejected or approved
	Note  string                     // for the developers
	// ReviewerID is the user who reviews; empty: the service itself, which may take any
	// step.
	ReviewerID string
	// FormerID is a user who is no longer a reviewer, or is suspended. Any reviewer can decide about
	// what this user took.
	FormerID string
}

// reviewAction is a reviewer's step in the audit log, with a listing and without.
type reviewAction struct{ listing, app audit.Action }

// reviewActions are the steps of a reviewer.
var reviewActions = map[consolestore.RevisionState]reviewAction{
	consolestore.RevisionInReview:         {audited.ListingInReview, audited.ReviewInReview},
	consolestore.RevisionChangesRequested: {audited.ListingChangesRequested, audited.ReviewChangesRequested},
	consolestore.RevisionRejected:         {audited.ListingRejected, audited.ReviewRejected},
	consolestore.RevisionApproved:         {audited.ListingApproved, audited.ReviewApproved},
}

// check returns a validation error that names everything that is wrong.
func (r Review) check() error {
	var v apierror.Validation
	if _, isStep := reviewActions[r.State]; !isStep {
		v.Add("state", "must be %s, %s, %s or %s", consolestore.RevisionInReview, consolestore.RevisionChangesRequested, consolestore.RevisionRejected, consolestore.RevisionApproved)
	}
	if utf8.RuneCountInString(r.Note) > maxNote {
		v.Add("note", "must have at most %d characters", maxNote)
	}
	return v.Err()
}

// mayFollow returns a [*ReviewConflict] if another reviewer has taken the subject or decided
// about it.
func (r Review) mayFollow(reviewerID string) error {
	if r.ReviewerID != "" && reviewerID != "" && reviewerID != r.ReviewerID && reviewerID != r.FormerID {
		return &ReviewConflict{ReviewerID: reviewerID}
	}
	return nil
}

// entry is the step in the audit log.
func (r Review) entry(action audit.Action, target string) audit.Entry {
	return audit.Entry{Action: action, AppID: r.AppID, UserID: r.ReviewerID, Reason: r.Note, Target: target}
}

// ReviewConflict is the error of a review of a subject that another reviewer has taken or
// decided about.
type ReviewConflict struct{ ReviewerID string }

// Error implements error.
func (*ReviewConflict) Error() string { return "another reviewer has taken the revision" }

// ReviewApp takes a reviewer's step with what was submitted last of an app, with its listing or
// without, as [Console.ReviewListing] does. An approval completes the review of the app, which
// covers what was submitted. Nobody can submit an app of no organization. It is submitted as it
// is when a reviewer takes it.
//
// It asks for no actor: package operator and the host decide who may review. Its error is
// a [*ReviewConflict], or one of apierror: 404 if nothing was submitted, that the app is
// deactivated, or LISTING_STATE_INVALID.
func (c *Console) ReviewApp(ctx context.Context, review Review) (AppReview, error) {
	if err := review.check(); err != nil {
		return AppReview{}, err
	}
	app, err := c.cfg.Store.App(ctx, review.AppID)
	if err != nil {
		return AppReview{}, absent("app", err)
	}
	standing, err := c.review(ctx, app)
	if err != nil {
		return AppReview{}, err
	}
	if subject := standing.Subject(); subject != nil && subject.OfListing() {
		_, err = c.ReviewListing(ctx, review)
	} else {
		err = c.reviewSubmission(ctx, review)
	}
	if err != nil {
		return AppReview{}, err
	}
	if app, err = c.cfg.Store.App(ctx, review.AppID); err != nil {
		return AppReview{}, absent("app", err)
	}
	return c.review(ctx, app)
}

// reviewSubmission takes a reviewer's step with the last submission of an app.
func (c *Console) reviewSubmission(ctx context.Context, review Review) error {
	err := c.changeAppIf(ctx, checkWritable, review.AppID, func(ctx context.Context, app partner.App) (audit.Entry, error) {
		standing, err := c.review(ctx, app)
		if err != nil {
			return audit.Entry{}, err
		}
		last := standing.Submission
		if review.State == consolestore.RevisionInReview && app.OrganizationID == "" && standing.MayBeSubmitted() {
			taken := c.submission(app)
			last = &taken
		}
		if last == nil {
			return audit.Entry{}, apierror.NotFound("submission")
		}
		if err := review.mayFollow(last.ReviewerID); err != nil {
			return audit.Entry{}, err
		}
		if last.State, err = nextState(last.State, review.State); err != nil {
			return audit.Entry{}, err
		}
		last.Note, last.ReviewerID, last.UpdatedAt = review.Note, review.ReviewerID, stamp.Of(c.cfg.Clock.Now()).Time
		if last.State == consolestore.RevisionApproved {
			if err := c.cfg.OAuth.CompleteReview(ctx, app.ID, last.App); err != nil {
				return audit.Entry{}, err
			}
		}
		return review.entry(reviewActions[review.State].app, last.ID), c.cfg.Store.SaveSubmission(ctx, *last)
	})
	if err == nil {
		c.tellDecided(ctx, review)
	}
	return err
}

// tellDecided queues the notification of a decision.
func (c *Console) tellDecided(ctx context.Context, review Review) {
	if review.State != consolestore.RevisionInReview {
		c.tell(ctx, events.Notification{Kind: events.NotifyListingDecided, AppID: review.AppID, UserID: review.ReviewerID, Detail: string(review.State)})
	}
}

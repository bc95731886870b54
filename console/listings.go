package console

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/stamp"
	"github.com/partnerkit/partnerkit/partner"
)

// maxNote is how much a reviewer may say, in characters.
const maxNote = 2000

// Listing returns an app's listing; its error is one of apierror, 404 when there is
// none.
func (c *Console) Listing(ctx context.Context, by Actor, appID string) (consolestore.Listing, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return consolestore.Listing{}, err
	}
	listing, err := c.cfg.Store.Listing(ctx, appID)
	return listing, absent("listing", err)
}

// CreateListing saves a listing for the first time, as a draft. Exactly one of several
// simultaneous calls succeeds. Its error is one of apierror: 404, that the app is
// deactivated, that there is a listing already (LISTING_EXISTS), that another app has the
// slug (SLUG_TAKEN), or everything that is wrong.
func (c *Console) CreateListing(ctx context.Context, by Actor, appID string, content consolestore.ListingContent) (consolestore.Listing, error) {
	return c.saveListing(ctx, by, appID, content, func(before *consolestore.Listing, draft consolestore.Revision) (consolestore.Revision, error) {
		if before != nil {
			return consolestore.Revision{}, codes.ListingExists.New()
		}
		return draft, nil
	})
}

// SaveListing replaces the content of the latest revision, which is then a draft; after
// an approval it begins another one, and what is live stays so. Its error is as with
// [Console.CreateListing], but for LISTING_EXISTS; it is 404 before the first save,
// LISTING_STATE_INVALID while a reviewer has the revision, and CONFLICT if the listing has
// another version than the one that the change is based on.
func (c *Console) SaveListing(ctx context.Context, by Actor, appID string, change ListingChange) (consolestore.Listing, error) {
	return c.saveListing(ctx, by, appID, change.ListingContent, func(before *consolestore.Listing, draft consolestore.Revision) (consolestore.Revision, error) {
		if before == nil {
			return consolestore.Revision{}, apierror.NotFound("listing")
		}
		if err := checkVersion(change.Version, before.Version); err != nil {
			return consolestore.Revision{}, err
		}
		next := before.Revision
		if err := become(&next, consolestore.RevisionDraft, draft.UpdatedAt); err != nil {
			return consolestore.Revision{}, err
		}
		if before.Revision.State == consolestore.RevisionApproved {
			return draft, nil
		}
		next.ListingContent, next.App, next.ReviewerID = draft.ListingContent, draft.App, "" // any reviewer may take it next
		return next, nil
	})
}

// ListingChange replaces the content of a listing.
type ListingChange struct {
	consolestore.ListingContent
	// Version is the version that the change is based on; nil: any.
	Version *int64
}

// saveListing saves what place makes of a new draft.
func (c *Console) saveListing(ctx context.Context, by Actor, appID string, content consolestore.ListingContent, place func(before *consolestore.Listing, draft consolestore.Revision) (consolestore.Revision, error)) (consolestore.Listing, error) {
	now := stamp.Of(c.cfg.Clock.Now()).Time
	draft := consolestore.Revision{ID: id.New(id.Revision, now), AppID: appID, State: consolestore.RevisionDraft, ListingContent: content, CreatedAt: now, UpdatedAt: now}
	saved, err := c.changeListing(ctx, by.mayChange, by.did(audited.ListingSaved, appID, ""), func(_ partner.App, standing consolestore.ListingStanding) (consolestore.Revision, error) {
		if err := checkContent(content); err != nil {
			return consolestore.Revision{}, err
		}
		next, err := place(standing.Listing, draft)
		if err != nil {
			return consolestore.Revision{}, err
		}
		return next, checkAssets(content, standing.Assets)
	})
	if errors.Is(err, consolestore.ErrSlugTaken) {
		return consolestore.Listing{}, codes.SlugTaken.New(content.Slug)
	}
	return saved, err
}

// SubmitListing hands the draft to a reviewer, with the app as it is now. Its error is one of
// apierror: 404, that the app is deactivated, that the revision is not a draft
// (LISTING_STATE_INVALID), what it lacks (LISTING_INCOMPLETE), or CONFLICT if the app was
// submitted without its listing and waits for the decision.
func (c *Console) SubmitListing(ctx context.Context, by Actor, appID string) (consolestore.Listing, error) {
	submitted, err := c.stepListing(ctx, by.mayChange, by.did(audited.ListingSubmitted, appID, ""), func(app partner.App, r *consolestore.Revision, now time.Time) error {
		if err := become(r, consolestore.RevisionSubmitted, now); err != nil {
			return err
		}
		r.App, r.SubmittedAt = app.Profile(), now
		return checkComplete(r.ListingContent)
	})
	if err == nil {
		c.tell(ctx, events.Notification{Kind: events.NotifyListingSubmitted, AppID: appID, UserID: by.userID})
	}
	return submitted, err
}

// ReviewListing takes a reviewer's step and leaves a note for the developers: to in_review
// when the revision was submitted; from there to changes_requested, rejected or approved.
// If several reviewers act at once, one succeeds. An approved revision is live, and completes the
// review of the app, which covers the app as it was submitted.
//
// It asks for no actor: package operator and the host decide who may review. Its error is
// a [*ReviewConflict], or one of apierror: 404, that the app is deactivated, or
// LISTING_STATE_INVALID.
func (c *Console) ReviewListing(ctx context.Context, review Review) (consolestore.Listing, error) {
	if err := review.check(); err != nil {
		return consolestore.Listing{}, err
	}
	entry := review.entry(reviewActions[review.State].listing, "")
	reviewed, err := c.stepListing(ctx, checkWritable, entry, func(_ partner.App, r *consolestore.Revision, now time.Time) error {
		if err := review.mayFollow(r.ReviewerID); err != nil {
			return err
		}
		r.Note, r.ReviewerID = review.Note, review.ReviewerID
		return become(r, review.State, now)
	})
	if err == nil {
		c.tellDecided(ctx, review)
	}
	return reviewed, err
}

// tell queues a notification of now.
func (c *Console) tell(ctx context.Context, n events.Notification) {
	n.At = c.cfg.Clock.Now()
	c.cfg.Notifications.Tell(ctx, n)
}

// stepListing moves the latest revision on.
func (c *Console) stepListing(ctx context.Context, may func(partner.App) error, entry audit.Entry, step func(app partner.App, r *consolestore.Revision, now time.Time) error) (consolestore.Listing, error) {
	now := stamp.Of(c.cfg.Clock.Now()).Time
	return c.changeListing(ctx, may, entry, func(app partner.App, standing consolestore.ListingStanding) (consolestore.Revision, error) {
		if standing.Listing == nil {
			return consolestore.Revision{}, apierror.NotFound("listing")
		}
		next := standing.Listing.Revision
		err := step(app, &next, now)
		return next, err
	})
}

// changeListing changes the listing of the entry's app, if may allows a change of the app. The
// target of the entry is the revision that comes of it.
func (c *Console) changeListing(ctx context.Context, may func(partner.App) error, entry audit.Entry, step func(partner.App, consolestore.ListingStanding) (consolestore.Revision, error)) (consolestore.Listing, error) {
	var changed consolestore.Listing
	err := c.changeAppIf(ctx, may, entry.AppID, func(ctx context.Context, app partner.App) (_ audit.Entry, err error) {
		changed, err = c.cfg.Store.ChangeListing(ctx, entry.AppID, func(standing consolestore.ListingStanding) (consolestore.Revision, error) { return step(app, standing) })
		if err != nil {
			return audit.Entry{}, err
		}
		entry.Target = changed.Revision.ID
		return entry, c.reviewWith(ctx, changed.Revision)
	})
	if err != nil {
		return consolestore.Listing{}, absent("app", err)
	}
	return changed, nil
}

// reviewWith does to the review of the app what the step of its listing means for it.
func (c *Console) reviewWith(ctx context.Context, r consolestore.Revision) error {
	switch r.State {
	case consolestore.RevisionSubmitted:
		submissions, err := c.cfg.Store.Submissions(ctx, r.AppID)
		if err == nil && submissions[r.AppID].State.IsOpen() {
			err = isSubmitted.New()
		}
		return err
	case consolestore.RevisionApproved:
		return c.cfg.OAuth.CompleteReview(ctx, r.AppID, r.App)
	}
	return nil
}

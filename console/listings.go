package console

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
)

// maxNote is how much a reviewer may say, in characters.
const maxNote = 2000

// Listing returns an app's listing; its error is one of apierror, 404 when there is
// none.
func (c *Console) Listing(ctx context.Context, by Actor, appID string) (Listing, error) {
	if _, err := c.App(ctx, by, appID); err != nil {
		return Listing{}, err
	}
	listing, err := c.cfg.Store.Listing(ctx, appID)
	return listing, absent("the listing", err)
}

// CreateListing saves a listing for the first time, as a draft. Of several at once one
// succeeds. Its error is one of apierror: 404, that the app is deactivated, that there
// is a listing already (LISTING_EXISTS), that another app has the slug (SLUG_TAKEN),
// or everything that is wrong.
func (c *Console) CreateListing(ctx context.Context, by Actor, appID string, content ListingContent) (Listing, error) {
	return c.saveListing(ctx, act{by, appID, "listing.saved"}, content, func(before *Listing, draft Revision) (Revision, error) {
		if before != nil {
			return Revision{}, apierror.New(apierror.ListingExists)
		}
		return draft, nil
	})
}

// SaveListing replaces the content of the latest revision, which is then a draft; after
// an approval it begins another one, and what is live stays so. Its error is as with
// [Console.CreateListing], but for LISTING_EXISTS; it is 404 before the first save, and
// LISTING_STATE_INVALID while a reviewer has the revision.
func (c *Console) SaveListing(ctx context.Context, by Actor, appID string, content ListingContent) (Listing, error) {
	return c.saveListing(ctx, act{by, appID, "listing.saved"}, content, func(before *Listing, draft Revision) (Revision, error) {
		if before == nil {
			return Revision{}, apierror.NotFound("the listing")
		}
		next := before.Revision
		if err := next.become(RevisionDraft, draft.UpdatedAt); err != nil {
			return Revision{}, err
		}
		if before.Revision.State == RevisionApproved {
			return draft, nil
		}
		next.ListingContent = draft.ListingContent
		return next, nil
	})
}

// saveListing saves what place makes of a new draft.
func (c *Console) saveListing(ctx context.Context, a act, content ListingContent, place func(before *Listing, draft Revision) (Revision, error)) (Listing, error) {
	if _, err := c.changeable(ctx, a.by, a.appID); err != nil {
		return Listing{}, err
	}
	if err := content.check(); err != nil {
		return Listing{}, err
	}
	now := stamp(c.cfg.Clock.Now())
	draft := Revision{ID: id.New(id.Revision, now), AppID: a.appID, State: RevisionDraft, ListingContent: content, CreatedAt: now, UpdatedAt: now}
	saved, err := c.cfg.Store.ChangeListing(ctx, a.appID, func(standing ListingStanding) (Revision, error) {
		next, err := place(standing.Listing, draft)
		if err != nil {
			return Revision{}, err
		}
		return next, content.checkAssets(standing.Assets)
	})
	if errors.Is(err, ErrSlugTaken) {
		return Listing{}, apierror.New(apierror.SlugTaken, content.Slug)
	}
	if err != nil {
		return Listing{}, absent("the app", err)
	}
	c.did(ctx, a, saved.Revision.ID)
	return saved, nil
}

// SubmitListing hands the draft to a reviewer. Its error is one of apierror: 404, that
// the app is deactivated, that the revision is no draft (LISTING_STATE_INVALID), or
// what it lacks (LISTING_INCOMPLETE).
func (c *Console) SubmitListing(ctx context.Context, by Actor, appID string) (Listing, error) {
	if _, err := c.changeable(ctx, by, appID); err != nil {
		return Listing{}, err
	}
	submitted, err := c.stepListing(ctx, appID, func(r *Revision, now time.Time) error {
		if err := r.become(RevisionSubmitted, now); err != nil {
			return err
		}
		return r.checkComplete()
	})
	if err != nil {
		return Listing{}, err
	}
	c.did(ctx, act{by, appID, "listing.submitted"}, submitted.Revision.ID)
	return submitted, nil
}

// ReviewListing takes the reviewer's next step with the latest revision of an app and
// leaves a note for its developers: to in_review when it was submitted; from there to
// changes_requested, rejected or approved. Of several at once one succeeds. An approved
// revision is live; the first of an app completes the app's review as well.
//
// It asks for no actor: who may review is the host's to say. Its error is one of
// apierror: 404, or LISTING_STATE_INVALID.
func (c *Console) ReviewListing(ctx context.Context, appID string, state RevisionState, note string) (Listing, error) {
	var v apierror.Validation
	switch state {
	case RevisionInReview, RevisionChangesRequested, RevisionRejected, RevisionApproved:
	default:
		v.Add("state must be %s, %s, %s or %s", RevisionInReview, RevisionChangesRequested, RevisionRejected, RevisionApproved)
	}
	if utf8.RuneCountInString(note) > maxNote {
		v.Add("note must have at most %d characters", maxNote)
	}
	if err := v.Err(); err != nil {
		return Listing{}, err
	}
	reviewed, err := c.stepListing(ctx, appID, func(r *Revision, now time.Time) error {
		r.Note = note
		return r.become(state, now)
	})
	if err != nil {
		return Listing{}, err
	}
	c.RecordAct(ctx, AuditEntry{AppID: appID, Action: fmt.Sprintf("listing.%s", state), Target: reviewed.Revision.ID})
	return reviewed, nil
}

// stepListing moves the latest revision on.
func (c *Console) stepListing(ctx context.Context, appID string, step func(r *Revision, now time.Time) error) (Listing, error) {
	now := stamp(c.cfg.Clock.Now())
	changed, err := c.cfg.Store.ChangeListing(ctx, appID, func(standing ListingStanding) (Revision, error) {
		if standing.Listing == nil {
			return Revision{}, apierror.NotFound("the listing")
		}
		next := standing.Listing.Revision
		err := step(&next, now)
		return next, err
	})
	return changed, absent("the app", err)
}

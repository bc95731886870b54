package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
)

func reviewRoutes() []route {
	return []route{
		{"GET /reviews", (*visit).listReviews},
		{"GET /apps/{appId}/listing", (*visit).showListing},
		{"POST /apps/{appId}/listing", (*visit).reviewListing},
	}
}

type reviewsView struct {
	Reviews []reviewRow
	Pager   look.Pager
}

type reviewRow struct {
	operator.Review
	Badge    look.Badge
	Reviewer string // empty until an operator takes the revision
}

// listReviews is the review queue, oldest submission first.
func (v *visit) listReviews() error {
	query := v.r.URL.Query()
	page, err := v.cfg.Operator.Reviews(v.r.Context(), v.by, console.Page{After: query.Get("after")})
	if err != nil {
		return err
	}
	data := reviewsView{Pager: v.site.Pager("/reviews", query, page.NextCursor)}
	for _, review := range page.Items {
		reviewer, err := v.user(review.ReviewerID)
		if err != nil {
			return err
		}
		data.Reviews = append(data.Reviews, reviewRow{review, site.RevisionBadge(review.State), reviewer.Name})
	}
	return v.show("reviews", "Reviews", data)
}

// user returns a user of the host. One whom the host does not know has the id as the name.
func (v *visit) user(userID string) (operator.UserDetails, error) {
	if userID == "" {
		return operator.UserDetails{}, nil
	}
	found, err := v.cfg.Operator.User(v.r.Context(), v.by, userID)
	if site.IsStatus(err, http.StatusNotFound) || err == nil && found.Name == "" {
		found.User = operator.User{ID: userID, Name: userID, IsOperator: found.IsOperator}
		return found, nil
	}
	return found, err
}

type listingView struct {
	AppID  string
	State  console.RevisionState
	Badge  look.Badge
	IsLive bool // the latest revision is the live one
	// IsCompared says that there is a live revision beside the latest one.
	IsCompared bool
	Rows       []comparison
	Revision   console.Revision
	Reviewer   string // who has taken the revision; empty: no operator
	MayTake    bool
	MayEnd     bool // approve, request changes, reject
	Note       string
}

// Submitted identifies the submission that the page shows, so that an operator cannot
// decide about a later one from a page that was opened before.
func (l listingView) Submitted() string {
	return strconv.FormatInt(l.Revision.SubmittedAt.UnixMilli(), 10)
}

// comparison is a field of a revision beside that of the live listing.
type comparison struct {
	Field     string
	Live, New []string // the lines or values; empty: none
	IsImage   bool     // the values are ids of assets
	Changed   bool
}

// side is one side of a comparison.
type side struct {
	AppID   string
	Values  []string
	IsImage bool
	Field   string
}

func newSide(appID string, values []string, isImage bool, field string) side {
	return side{appID, values, isImage, field}
}

// Number tells images of one field apart.
func (s side) Number(index int) int { return index + 1 }

func compare(live *console.Revision, latest console.Revision) []comparison {
	if live == nil {
		live = &console.Revision{}
	}
	text := func(field, old, latest string) comparison {
		return comparison{Field: field, Live: values(old), New: values(latest), Changed: old != latest}
	}
	images := func(field string, old, latest []string) comparison {
		return comparison{Field: field, Live: old, New: latest, IsImage: true, Changed: !slices.Equal(old, latest)}
	}
	return []comparison{
		text("Name", live.Name, latest.Name),
		text("Slug", live.Slug, latest.Slug),
		text("Summary", live.Summary, latest.Summary),
		text("Description", live.Description, latest.Description),
		text("Publisher", live.Publisher, latest.Publisher),
		text("Terms", live.TermsURL, latest.TermsURL),
		text("Privacy policy", live.PrivacyURL, latest.PrivacyURL),
		images("Icon", values(live.IconAssetID), values(latest.IconAssetID)),
		images("Screenshots", live.ScreenshotAssetIDs, latest.ScreenshotAssetIDs),
	}
}

// values returns a list of one value; of none for an empty one.
func values(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

const listingTitle = "Listing"

// listingPage returns the latest revision beside the live one, and what the operator may do.
func (v *visit) listingPage(note string) (listingView, error) {
	appID := v.r.PathValue("appId")
	listing, err := v.cfg.Operator.Listing(v.r.Context(), v.by, appID)
	if err != nil {
		return listingView{}, err
	}
	latest := listing.Revision
	isLive := listing.Live != nil && listing.Live.ID == latest.ID
	reviewer, err := v.user(latest.ReviewerID)
	if err != nil {
		return listingView{}, err
	}
	v.trail = v.appTrail(oauthserver.App{ID: appID, Name: cmp.Or(latest.Name, appID)}, true)
	return listingView{
		AppID: appID, State: latest.State, Badge: site.RevisionBadge(latest.State),
		IsLive: isLive, IsCompared: listing.Live != nil && !isLive, Rows: compare(listing.Live, latest), Revision: latest, Reviewer: reviewer.Name,
		MayTake: latest.State == console.RevisionSubmitted, Note: note,
		MayEnd: latest.State == console.RevisionInReview && (reviewer.ID == v.by.UserID() || !reviewer.IsOperator || reviewer.Status == oauthserver.UserSuspended),
	}, nil
}

func (v *visit) showListing() error {
	data, err := v.listingPage("")
	if err != nil {
		return err
	}
	return v.show("listing", listingTitle, data)
}

// decided returns the notice after a step of a review.
var decided = map[console.RevisionState]string{
	console.RevisionInReview: "review-begun", console.RevisionApproved: "listing-approved",
	console.RevisionChangesRequested: "changes-requested", console.RevisionRejected: "listing-rejected",
}

// reviewListing takes a step. When another operator was first the page says who.
func (v *visit) reviewListing() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	appID, state, note := v.r.PathValue("appId"), console.RevisionState(form.Get("state")), site.UnixLines(form.Get("note"))
	data, err := v.listingPage(note)
	if err != nil {
		return err
	}
	if shown := form.Get("submitted"); shown != "" && shown != data.Submitted() {
		return v.again(apierror.Invalid("the listing has changed since you opened this page; look at it again before you decide"), "listing", listingTitle, data)
	}
	_, err = v.cfg.Operator.ReviewListing(v.r.Context(), v.by, appID, state, note)
	if err == nil {
		return v.to(decided[state], "apps", appID, "listing")
	}
	data, failed := v.listingPage(note)
	if failed != nil {
		return failed
	}
	return v.again(err, "listing", listingTitle, data)
}

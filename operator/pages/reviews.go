package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partner"
)

func reviewRoutes() []route {
	return []route{
		{"GET /reviews", (*visit).listReviews},
		{"GET /reviews/{appId}", (*visit).showReview},
		{"POST /reviews/{appId}", (*visit).review},
		{"GET /apps/{appId}/listing", (*visit).showReview},
		{"POST /apps/{appId}/listing", (*visit).review},
	}
}

type reviewsView struct {
	Reviews []reviewRow
	Pager   look.Pager
}

type reviewRow struct {
	consolestore.QueuedReview
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
	if data.Reviews, err = v.reviewRows(page.Items); err != nil {
		return err
	}
	return v.show("reviews", "Reviews", data)
}

// reviewRows returns reviews with the names of their reviewers.
func (v *visit) reviewRows(all []consolestore.QueuedReview) ([]reviewRow, error) {
	rows := make([]reviewRow, 0, len(all))
	for _, review := range all {
		reviewer, err := v.user(review.ReviewerID)
		if err != nil {
			return nil, err
		}
		rows = append(rows, reviewRow{review, site.RevisionBadge(review.State), reviewer.Name})
	}
	return rows, nil
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

type reviewView struct {
	App      partner.App
	Badge    look.Badge // of the subject
	Subject  console.Subject
	IsFirst  bool // nothing was reviewed before
	Rows     []comparison
	Reviewer string // who has taken the subject; empty: no operator
	MayTake  bool
	MayEnd   bool // approve, request changes, reject
	Note     string
	Changed  []string // what differs from what was reviewed, in words
	Preview  preview
}

// preview is the consent as people will see it once the submission is approved.
type preview struct {
	Name, Publisher, IconID string
	Scopes                  []previewScope
	ReturnsTo               []string // hosts
}

// previewScope is what the app asks for; IsNew if it was not reviewed before.
type previewScope struct {
	identity.Scope
	IsNew bool
}

// newPreview returns the consent of a subject of a review.
func (v *visit) newPreview(review operator.AppReview, subject console.Subject) preview {
	app, listing := review.App, review.Live()
	if subject.OfListing() {
		listing = subject.Revision
	}
	p := preview{Name: subject.App.Name}
	if listing != nil {
		p.Publisher, p.IconID = listing.Publisher, listing.IconAssetID
	}
	for _, scope := range v.cfg.Operator.Scopes(subject.App.Scopes) {
		p.Scopes = append(p.Scopes, previewScope{scope, app.Reviewed && !app.ReviewedAs.Scopes.Has(scope.Name)})
	}
	for _, address := range subject.App.RedirectURIs {
		if u, err := url.Parse(address); err == nil {
			if host := cmp.Or(u.Host, u.Scheme+":"); !slices.Contains(p.ReturnsTo, host) {
				p.ReturnsTo = append(p.ReturnsTo, host)
			}
		}
	}
	return p
}

// Submitted identifies the submission that the page shows, so that an operator cannot
// decide about a later one from a page that was opened before.
func (v reviewView) Submitted() string {
	return v.Subject.ID + "." + strconv.FormatInt(v.Subject.SubmittedAt.UnixMilli(), 10)
}

// comparison is a field as it was submitted beside what was reviewed last.
type comparison struct {
	Field         string
	Reviewed, New []string // the lines or values; empty: none
	IsImage       bool     // the values are ids of assets
	Changed       bool
}

// side is one side of a comparison.
type side struct {
	AppID   string
	Values  []string
	IsImage bool
	Field   string
	other   []string // the values of the other side
	mark    string   // of values that the other side lacks; empty: none is marked
}

// Before returns the side of what was reviewed, and After that of what was submitted.
func (c comparison) Before(appID string) side {
	return side{appID, c.Reviewed, c.IsImage, c.Field, c.New, "removed"}
}

func (c comparison) After(appID string, isFirst bool) side { //nolint:revive // of the view, not a switch
	s := side{appID, c.New, c.IsImage, c.Field, c.Reviewed, "new"}
	if isFirst {
		s.mark = ""
	}
	return s
}

// Mark marks a value of a list that the other side lacks.
func (s side) Mark(value string) string {
	if slices.Contains(s.other, value) || len(s.Values) < 2 && len(s.other) < 2 {
		return ""
	}
	return s.mark
}

// Number tells images of one field apart.
func (s side) Number(index int) int { return index + 1 }

// compareApps compares what a review covers of an app.
func compareApps(reviewed, submitted partner.Profile) []comparison {
	return []comparison{
		compare("Name", values(reviewed.Name), values(submitted.Name)),
		compare("Redirect URIs", reviewed.RedirectURIs, submitted.RedirectURIs),
		compare("Scopes", reviewed.Scopes.Names(), submitted.Scopes.Names()),
		compare("App URL", values(reviewed.AppURL), values(submitted.AppURL)),
	}
}

// compareListings compares two revisions.
func compareListings(live, latest consolestore.Revision) []comparison {
	icon := compare("Icon", values(live.IconAssetID), values(latest.IconAssetID))
	screenshots := compare("Screenshots", live.ScreenshotAssetIDs, latest.ScreenshotAssetIDs)
	icon.IsImage, screenshots.IsImage = true, true
	return []comparison{
		compare("Publisher", values(live.Publisher), values(latest.Publisher)),
		icon,
		compare("Listing name", values(live.Name), values(latest.Name)),
		compare("Slug", values(live.Slug), values(latest.Slug)),
		compare("Summary", values(live.Summary), values(latest.Summary)),
		compare("Description", values(live.Description), values(latest.Description)),
		compare("Terms", values(live.TermsURL), values(latest.TermsURL)),
		compare("Privacy policy", values(live.PrivacyURL), values(latest.PrivacyURL)),
		screenshots,
	}
}

func compare(field string, reviewed, submitted []string) comparison {
	return comparison{Field: field, Reviewed: reviewed, New: submitted, Changed: !slices.Equal(reviewed, submitted)}
}

// values returns a list of one value; of none for an empty one.
func values(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

const reviewTitle = "Review"

// reviewPage returns what was submitted last beside what was reviewed, and what the operator
// may do. If nothing was submitted it is the app as it is now.
func (v *visit) reviewPage(note string) (reviewView, error) {
	review, err := v.cfg.Operator.AppReview(v.r.Context(), v.by, v.r.PathValue("appId"))
	if err != nil {
		return reviewView{}, err
	}
	v.trail = v.appTrail(review.App, true)
	view := reviewView{App: review.App, Note: note, IsFirst: !review.App.Reviewed}
	view.Subject.App = review.App.Profile()
	subject := review.Subject()
	if subject != nil {
		view.Subject, view.Badge = *subject, site.RevisionBadge(subject.State)
	}
	view.Rows = compareApps(review.App.ReviewedAs, view.Subject.App)
	if subject != nil && subject.OfListing() {
		var live consolestore.Revision
		if review.Live() != nil {
			live = *review.Live()
		}
		view.Rows = append(view.Rows, compareListings(live, *subject.Revision)...)
	}
	for _, row := range view.Rows {
		if row.Changed && !view.IsFirst {
			view.Changed = append(view.Changed, strings.ToLower(row.Field[:1])+row.Field[1:])
		}
	}
	view.Preview = v.newPreview(review, view.Subject)
	reviewer, err := v.user(view.Subject.ReviewerID)
	if err != nil {
		return reviewView{}, err
	}
	view.Reviewer = reviewer.Name
	switch state := view.Subject.State; {
	case review.App.Status == partner.AppDeactivated:
	case state.IsOpen():
		view.MayTake = state == consolestore.RevisionSubmitted
		view.MayEnd = !view.MayTake && (reviewer.ID == v.by.UserID() || !reviewer.IsOperator || reviewer.Status == identity.UserSuspended)
	default:
		view.MayTake = review.App.OrganizationID == "" && review.MayBeSubmitted()
		if view.MayTake && subject != nil && !subject.OfListing() { // a new review is of the app as it is
			view.Rows = compareApps(review.App.ReviewedAs, review.App.Profile())
			view.Preview = v.newPreview(review, console.Subject{App: review.App.Profile()})
		}
	}
	return view, nil
}

func (v *visit) showReview() error {
	data, err := v.reviewPage("")
	if err != nil {
		return err
	}
	return v.show("review", reviewTitle, data)
}

// decided returns the notice after a step of a review.
var decided = map[consolestore.RevisionState]string{
	consolestore.RevisionInReview: "review-begun", consolestore.RevisionApproved: "review-approved",
	consolestore.RevisionChangesRequested: "changes-requested", consolestore.RevisionRejected: "review-rejected",
}

// review takes a step. When another operator was first the page says who.
func (v *visit) review() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	appID, state, note := v.r.PathValue("appId"), consolestore.RevisionState(form.Get("state")), site.UnixLines(form.Get("note"))
	data, err := v.reviewPage(note)
	if err != nil {
		return err
	}
	if shown := form.Get("submitted"); shown != "" && shown != data.Submitted() {
		return v.again(apierror.Invalid("the app was submitted again since you opened this page; look at it again before you decide"), "review", reviewTitle, data)
	}
	_, err = v.cfg.Operator.ReviewApp(v.r.Context(), v.by, appID, state, note)
	if err == nil {
		return v.to(decided[state], "reviews", appID)
	}
	data, failed := v.reviewPage(note)
	if failed != nil {
		return failed
	}
	return v.again(err, "review", reviewTitle, data)
}

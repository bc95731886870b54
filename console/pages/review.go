package pages

import (
	"slices"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/partner"
)

func reviewRoutes() []route {
	const review = "/apps/{appId}/review"
	return []route{
		{"GET", review, (*visit).showReview},
		{"POST", review, (*visit).submitApp},
	}
}

const reviewTitle = "Review"

type reviewView struct {
	App      partner.App
	ReadOnly bool
	Review   console.AppReview
	Subject  *console.Subject // what was submitted last; nil: nothing
	Badge    look.Badge       // of the subject
	IsOpen   bool
	Rows     []reviewRow
}

// reviewRow is a field of the app beside what the last review covered.
type reviewRow struct {
	Field         string
	Reviewed, Now []reviewValue
}

// reviewValue is a value of a field.
type reviewValue struct {
	Text      string
	IsPending bool // no review covers it
}

func (v *visit) reviewPage() (reviewView, error) {
	review, err := v.cfg.Console.AppReview(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return reviewView{}, err
	}
	view := reviewView{App: v.app, ReadOnly: v.isReadOnly(), Review: review, Subject: review.Subject()}
	if view.Subject != nil {
		view.Badge, view.IsOpen = site.RevisionBadge(view.Subject.State), view.Subject.State.IsOpen()
	}
	was := v.app.ReviewedAs
	view.Rows = []reviewRow{
		newReviewRow("Name", []string{was.Name}, []string{v.app.Name}),
		newReviewRow("Redirect URIs", was.RedirectURIs, v.app.RedirectURIs),
		newReviewRow("Scopes", was.Scopes.Names(), v.app.Scopes.Names()),
		newReviewRow("App URL", []string{was.AppURL}, []string{v.app.AppURL}),
	}
	return view, nil
}

func newReviewRow(field string, reviewed, now []string) reviewRow {
	row := reviewRow{Field: field}
	for _, text := range reviewed {
		if text != "" {
			row.Reviewed = append(row.Reviewed, reviewValue{Text: text})
		}
	}
	for _, text := range now {
		if text != "" {
			row.Now = append(row.Now, reviewValue{Text: text, IsPending: !slices.Contains(reviewed, text)})
		}
	}
	return row
}

func (v *visit) showReview() error {
	data, err := v.reviewPage()
	if err != nil {
		return err
	}
	return v.show("review", reviewTitle, data)
}

func (v *visit) submitApp() error {
	if _, err := v.form(); err != nil {
		return err
	}
	_, err := v.cfg.Console.SubmitApp(v.r.Context(), v.by, v.app.ID)
	if err == nil {
		return v.to(path("apps", v.app.ID, "review"), "app-submitted")
	}
	data, failed := v.reviewPage()
	if failed != nil {
		return failed
	}
	return v.again(err, "review", reviewTitle, data)
}

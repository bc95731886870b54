package site

import (
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/partner"
)

// AppBadge returns the badge for the status of an app.
func AppBadge(app partner.App) look.Badge {
	switch {
	case app.Status == partner.AppSuspended:
		return look.Badge{Kind: "bad", Text: "Suspended"}
	case app.Status == partner.AppDeactivated:
		return look.Badge{Text: "Deactivated"}
	case !app.Reviewed:
		return look.Badge{Kind: "info", Text: "Sandbox only"}
	}
	return look.Badge{Kind: "ok", Text: "Live"}
}

var revisionBadges = map[console.RevisionState]look.Badge{
	console.RevisionDraft:            {Text: "Draft"},
	console.RevisionSubmitted:        {Kind: "info", Text: "Submitted"},
	console.RevisionInReview:         {Kind: "info", Text: "In review"},
	console.RevisionChangesRequested: {Kind: "warn", Text: "Changes requested"},
	console.RevisionRejected:         {Kind: "bad", Text: "Rejected"},
	console.RevisionApproved:         {Kind: "ok", Text: "Approved"},
}

// RevisionBadge returns the badge for the state of a revision of a listing.
func RevisionBadge(state console.RevisionState) look.Badge { return revisionBadges[state] }

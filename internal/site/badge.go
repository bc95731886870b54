package site

import (
	"github.com/partnerkit/partnerkit/console/consolestore"
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

var revisionBadges = map[consolestore.RevisionState]look.Badge{
	consolestore.RevisionDraft:            {Text: "Draft"},
	consolestore.RevisionSubmitted:        {Kind: "info", Text: "Submitted"},
	consolestore.RevisionInReview:         {Kind: "info", Text: "In review"},
	consolestore.RevisionChangesRequested: {Kind: "warn", Text: "Changes requested"},
	consolestore.RevisionRejected:         {Kind: "bad", Text: "Rejected"},
	consolestore.RevisionApproved:         {Kind: "ok", Text: "Approved"},
}

// RevisionBadge returns the badge for the state of a revision of a listing.
func RevisionBadge(state consolestore.RevisionState) look.Badge { return revisionBadges[state] }

package pages

import (
	"strings"

	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/theme"
)

// frame returns the frame of a page. The frame of a page about an app has links to its parts.
func (v *visit) frame(title string) look.Frame {
	f := v.site.Frame(v.r, title, v.by.Name())
	f.Subject = v.subject(title)
	if v.app.ID == "" {
		f.Trail = v.trail
		return f
	}
	f.Trail = []look.Link{{Text: "Apps", Href: v.cfg.Prefix}, {Text: v.app.Name, Href: v.cfg.Prefix + path("apps", v.app.ID)}}
	f.SideLabel = "Parts of the app"
	own := v.cfg.Prefix + path("apps", v.app.ID)
	for _, part := range parts {
		href := own + part.Href
		current := v.r.URL.Path == href || part.Href != "" && strings.HasPrefix(v.r.URL.Path, href+"/") ||
			part.Href == "/listing" && strings.HasPrefix(v.r.URL.Path, own+"/assets") // the page shows both
		f.Side = append(f.Side, look.Link{Text: part.Text, Href: href, Current: current})
		if current && part.Text != title && part.Href != "" {
			f.Trail = append(f.Trail, look.Link{Text: part.Text, Href: href})
		}
	}
	f.Trail = append(f.Trail, v.trail...)
	return f
}

// subject returns the id of the delivery, the webhook or the request that a page is about: the
// titles of these pages are the same for all.
func (v *visit) subject(title string) string {
	switch title {
	case deliveryTitle:
		return v.r.PathValue("deliveryId")
	case webhookTitle:
		return v.r.PathValue("webhookId")
	case requestTitle:
		return v.r.PathValue("requestId")
	}
	return ""
}

// parts are the pages that an app has, below its own.
var parts = []theme.Link{
	{Text: "Overview", Href: ""},
	{Text: "Quick start", Href: "/start"},
	{Text: "Settings", Href: "/settings"},
	{Text: "Credentials", Href: "/secrets"},
	{Text: "Webhooks", Href: "/webhooks"},
	{Text: "App data", Href: "/fields"},
	{Text: "Listing", Href: "/listing"},
	{Text: "Review", Href: "/review"},
	{Text: "Extensions", Href: "/extensions"},
	{Text: "Functions", Href: "/functions"},
	{Text: "Businesses", Href: "/installations"},
	{Text: "Analytics", Href: "/analytics"},
	{Text: "Usage", Href: "/usage"},
	{Text: "Requests", Href: "/requests"},
	{Text: "Limits", Href: "/limits"},
	{Text: "Audit log", Href: "/audit"},
}

// notices are the messages that pages show after a change, by the word in the URL. A URL
// cannot put any other text on a page.
var notices = map[string]string{ //nolint:gosec // texts, no credentials
	"app-submitted":      "The app was submitted and waits for review.",
	"app-updated":        "The app was updated.",
	"clock-moved":        "The clock was moved, and all due work is done.",
	"delivery-hastened":  "The next attempt starts now. This page updates itself.",
	"delivery-queued":    "The delivery is queued again. This page updates itself.",
	"event-recorded":     "The event was recorded. Its deliveries appear below.",
	"secret-ended":       "The secret was ended.",
	"test-queued":        "The test is queued. This page updates itself.",
	"token-revoked":      "The token was revoked. It is rejected from now on.",
	"webhook-deleted":    "The webhook was deleted.",
	"webhook-updated":    "The webhook was updated.",
	"webhook-challenged": "The challenge is sent within a few seconds.",

	"field-declared":    "The field was declared.",
	"field-changed":     "The field was changed. Existing values stay as they are.",
	"field-deleted":     "The field and its values were deleted.",
	"listing-saved":     "The draft was saved.",
	"listing-submitted": "The listing was submitted and waits for review.",
	"asset-added":       "The image was uploaded.",
	"asset-deleted":     "The image was deleted.",
	"extension-added":   "The extension was added.",
	"extension-changed": "The extension was changed.",
	"extension-deleted": "The extension was deleted.",
	"function-added":    "The function was uploaded.",
	"function-deleted":  "The function was deleted.",
}

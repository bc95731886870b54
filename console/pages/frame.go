package pages

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/look"
)

// frame returns the frame of a page. The frame of a page about an app has links to its parts.
func (v *visit) frame(title string) look.Frame {
	f := v.site.Frame(v.r, title, v.by.Name())
	f.Subject, f.Heading = v.subject(title), v.heading
	f.Search = v.cfg.Prefix + "/search"
	if v.app.ID == "" {
		f.Trail, f.SideLabel = v.trail, "Developer console"
		f.Side, f.IsPart = v.side(v.cfg.Prefix, ownParts)
		return f
	}
	own := v.cfg.Prefix + path("apps", v.app.ID)
	f.Trail = []look.Link{{Text: "Apps", Href: v.cfg.Prefix}, {Text: v.app.Name, Href: own}}
	if title == firstCallTitle { // asked for again and again, for what is in it
		f.Links, f.Search = nil, ""
		return f
	}
	f.SideLabel = "Parts of the app"
	f.Side, f.IsPart = v.side(own, parts)
	for _, part := range f.Side {
		if part.Current && part.Text != title && part.Href != own {
			f.Trail = append(f.Trail, look.Link{Text: part.Text, Href: part.Href})
		}
	}
	f.Trail = append(f.Trail, v.trail...)
	f.Switch = look.Switch{Name: v.app.Name, Others: v.others}
	switch {
	case f.Heading != "":
	case v.r.URL.Path == own:
		f.Heading = v.app.Name
	default:
		f.Heading = v.app.Name + ": " + lowered(title)
	}
	return f
}

// side returns the links to parts below a path, and whether the page is one of them.
func (v *visit) side(own string, parts []part) (links []look.Link, isPart bool) {
	for _, part := range parts {
		href := own + part.Href
		current := v.r.URL.Path == href || part.Href != "" && strings.HasPrefix(v.r.URL.Path, href+"/") ||
			part.Href == "/listing" && strings.HasPrefix(v.r.URL.Path, own+"/assets") // the page shows both
		isPart = isPart || v.r.URL.Path == href
		links = append(links, look.Link{Text: part.Text, Href: href, Current: current, Group: part.Group, Icon: part.Icon})
	}
	return links, isPart
}

// mostOthers is how many apps the switch of an app shows.
const mostOthers = 8

// findOthers finds the apps that the switch of the app leads to.
func (v *visit) findOthers() error {
	if v.app.ID == "" {
		return nil
	}
	found, err := v.cfg.Console.Apps(v.r.Context(), v.by, console.Page{Limit: mostOthers})
	if err != nil {
		return err
	}
	for _, app := range found.Items {
		v.others = append(v.others, look.Link{Text: app.Name, Href: v.cfg.Prefix + path("apps", app.ID), Current: app.ID == v.app.ID})
	}
	v.others = append(v.others, look.Link{Text: "All apps", Href: v.cfg.Prefix})
	return nil
}

// lowered returns a title for the middle of a sentence.
func lowered(title string) string {
	first, size := utf8.DecodeRuneInString(title)
	if next, _ := utf8.DecodeRuneInString(title[size:]); unicode.IsUpper(next) {
		return title // an abbreviation
	}
	return string(unicode.ToLower(first)) + title[size:]
}

// subject returns the id of the delivery, the webhook or the request that a page is about: the
// titles of these pages are the same for all.
func (v *visit) subject(title string) string {
	switch title {
	case deliveryTitle:
		return v.r.PathValue("deliveryId")
	case webhookTitle:
		return v.r.PathValue("webhookId")
	case eventTitle:
		return v.r.PathValue("eventId")
	case requestTitle:
		return v.r.PathValue("requestId")
	}
	return ""
}

// part is a page of the side.
type part struct{ Text, Href, Group, Icon string }

// parts are the pages that an app has, below its own.
var parts = []part{
	{"Overview", "", "", "home"},
	{"Quick start", "/start", "", "bolt"},
	{"Settings", "/settings", "Build", "settings"},
	{"Credentials", "/secrets", "Build", "key"},
	{"App data", "/fields", "Build", "data"},
	{"Extensions", "/extensions", "Build", "extension"},
	{"Functions", "/functions", "Build", "function"},
	{"Webhooks", "/webhooks", "Events", "hook"},
	{"Events", "/events", "Events", "event"},
	{"Requests", "/requests", "Monitor", "list"},
	{"Analytics", "/analytics", "Monitor", "chart"},
	{"Usage", "/usage", "Monitor", "meter"},
	{"Limits", "/limits", "Monitor", "gauge"},
	{"Audit log", "/audit", "Monitor", "clock"},
	{"Listing", "/listing", "Publish", "shop"},
	{"Review", "/review", "Publish", "shield"},
	{"Businesses", "/installations", "Publish", "building"},
}

// ownParts are the pages that are about no app, below the prefix.
var ownParts = []part{
	{"Apps", "", "", "apps"},
	{"Console tokens", "/tokens", "Access", "key"},
	{"Registration tokens", "/registration", "Access", "code"},
}

// notices are the messages that pages show after a change, by the word in the URL. A URL
// cannot put any other text on a page.
var notices = map[string]string{ //nolint:gosec // texts, no credentials
	"app-submitted":      "The app was submitted and waits for review.",
	"app-updated":        "The app was updated.",
	"clock-moved":        "The clock was moved, and all due work is done.",
	"delivery-hastened":  "The next attempt starts now.",
	"delivery-queued":    "The delivery is queued again.",
	"event-recorded":     "The event was recorded. Its deliveries appear below.",
	"secret-ended":       "The secret was ended.",
	"test-queued":        "The test is queued.",
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

package console

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// What a listing may hold, in characters and in screenshots.
const (
	maxListingName        = oauthserver.MaxAppName
	maxListingSummary     = 200
	maxListingDescription = 10_000
	maxListingPublisher   = 120
	maxListingURL         = 512
	maxScreenshots        = 10
)

var slugForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,58}[a-z0-9]$`)

// checkContent returns a validation error that names all that is wrong.
func checkContent(l consolestore.ListingContent) error {
	var v apierror.Validation
	if !slugForm.MatchString(l.Slug) {
		v.Add("slug", "must have 3 to 60 of a-z, 0-9 and hyphens, and not begin or end with a hyphen")
	}
	if l.Name != "" { // a draft may have none yet
		if problem := oauthserver.AppNameProblem(l.Name); problem != "" {
			v.Add("name", "%s", problem)
		}
	}
	checkLine(&v, "summary", l.Summary, maxListingSummary)
	if utf8.RuneCountInString(l.Description) > maxListingDescription {
		v.Add("description", "must have at most %d characters", maxListingDescription)
	}
	if problem := text.LinesProblem(l.Description); problem != "" {
		v.Add("description", "%s", problem)
	}
	checkLine(&v, "publisher", l.Publisher, maxListingPublisher)
	checkListingURL(&v, "termsUrl", l.TermsURL)
	checkListingURL(&v, "privacyUrl", l.PrivacyURL)
	if len(l.ScreenshotAssetIDs) > maxScreenshots {
		v.Add("screenshotAssetIds", "must have at most %d entries", maxScreenshots)
	}
	for i, assetID := range l.ScreenshotAssetIDs {
		if slices.Contains(l.ScreenshotAssetIDs[:i], assetID) {
			v.Add(screenshotAt(i), "is given more than once")
		}
	}
	return v.Err()
}

// screenshotAt returns the path of a screenshot.
func screenshotAt(i int) string { return fmt.Sprintf("screenshotAssetIds[%d]", i) }

// checkListingURL holds a link to what a person may follow from a page of ours.
func checkListingURL(v *apierror.Validation, member, raw string) {
	if raw == "" {
		return
	}
	u, err := url.Parse(raw)
	if err != nil || len(raw) > maxListingURL || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || !text.IsVisible(raw) {
		v.Add(member, "must be an https URL of at most %d characters", maxListingURL)
	}
}

// checkLine holds a text to one line of so many characters, all of which can be seen.
func checkLine(v *apierror.Validation, member, line string, most int) {
	if utf8.RuneCountInString(line) > most {
		v.Add(member, "must have at most %d characters", most)
	}
	if problem := text.LineProblem(line); problem != "" {
		v.Add(member, "%s", problem)
	}
}

// checkAssets holds the images to those of the app.
func checkAssets(l consolestore.ListingContent, assets []consolestore.Asset) error {
	var v apierror.Validation
	has := func(assetID string, kind consolestore.AssetKind) bool {
		return slices.ContainsFunc(assets, func(a consolestore.Asset) bool { return a.ID == assetID && a.Kind == kind })
	}
	if l.IconAssetID != "" && !has(l.IconAssetID, consolestore.AssetIcon) {
		v.Add("iconAssetId", "must be an icon of this app")
	}
	for i, assetID := range l.ScreenshotAssetIDs {
		if !has(assetID, consolestore.AssetScreenshot) {
			v.Add(screenshotAt(i), "must be a screenshot of this app")
		}
	}
	return v.Err()
}

// checkComplete returns LISTING_INCOMPLETE when a text is missing.
func checkComplete(l consolestore.ListingContent) error {
	if missing := l.Missing(); len(missing) > 0 {
		return codes.ListingIncomplete.New().WithDetails(missing)
	}
	return nil
}

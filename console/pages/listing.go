package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
)

func listingRoutes() []route {
	const listing = "/apps/{appId}/listing"
	return []route{
		{"GET", listing, (*visit).showListing},
		{"POST", listing, (*visit).saveListing},
		{"POST", listing + "/submit", (*visit).submitListing},
	}
}

const listingTitle = "Listing"

type listingView struct {
	AppID     string
	ReadOnly  bool
	Revisions []revisionView // what is live, and what is being worked on
	IsFirst   bool           // nothing was saved yet
	MaySave   bool
	IsKept    bool // the form was sent when nothing can be saved: it shows what was entered
	MaySubmit bool
	Missing   []string // labels of what the draft lacks to be submitted
	Icons     []assetChoice
	Shots     []assetChoice
	Assets    []assetView
	MaxAssets int
	IsUnsaved bool // the form was sent with a change of the images
	Form      filled
}

// listingFields are the fields of the form of a listing, and of the images below it.
var listingFields = formFields{
	{Name: "slug", Label: "Slug", Codes: []apierror.Code{codes.SlugTaken.Code}}, {Name: "name", Label: "Name"}, {Name: "summary", Label: "Summary"},
	{Name: "description", Label: "Description"}, {Name: "publisher", Label: "Publisher"}, {Name: "termsUrl", Label: "Terms"}, {Name: "privacyUrl", Label: "Privacy policy"},
	{Name: "icon", Member: "iconAssetId", Label: "Icon"}, {Name: "screenshots", Member: "screenshotAssetIds", Label: "Screenshots", Entry: "Screenshot"},
	{Name: "kind", Label: "Kind"}, {Name: "file", Label: "File"},
}

// revisionView is a revision, for people to read.
type revisionView struct {
	consolestore.Revision
	Title string
	Badge look.Badge
}

// assetChoice is an image that a listing may show.
type assetChoice struct {
	consolestore.Asset
	Checked bool
}

// listingPage returns how the listing stands, with what is in the form. A form without the fields
// of the listing is filled with the latest revision.
func (v *visit) listingPage(form filled) (listingView, error) {
	listing, err := v.listing()
	if err != nil {
		return listingView{}, err
	}
	assets, err := v.cfg.Console.Assets(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return listingView{}, err
	}
	view := listingView{AppID: v.app.ID, ReadOnly: v.isReadOnly(), IsFirst: listing == nil, MaxAssets: console.MaxAssets, Form: form}
	var state consolestore.RevisionState
	if listing != nil {
		state = listing.Revision.State
		view.Revisions = revisionsOf(*listing)
	}
	view.MaySave = !view.ReadOnly && state != consolestore.RevisionSubmitted && state != consolestore.RevisionInReview
	view.MaySubmit = !view.ReadOnly && state == consolestore.RevisionDraft
	if view.MaySubmit {
		for _, detail := range listing.Revision.Missing() {
			view.Missing = append(view.Missing, listingFields.label(detail.Field))
		}
	}
	view.IsKept = !view.MaySave && hasListing(form.Form)
	if !hasListing(form.Form) {
		view.Form.Form = bodies.Form{"name": {v.app.Name}}
		if listing != nil {
			view.Form.Form = listingForm(listing.Revision.ListingContent)
		}
		view.Form.Form["kind"] = form.Form["kind"]
	}
	if listing != nil && !view.Form.Form.Has("version") {
		setVersion(view.Form.Form, listing.Version)
	}
	view.Icons = choices(assets, consolestore.AssetIcon, view.Form.Form["icon"])
	view.Shots = choices(assets, consolestore.AssetScreenshot, view.Form.Form["screenshots"])
	view.Assets = assetViews(assets, listing)
	return view, nil
}

// revisionsOf returns the live revision and the latest, which may be one and the same.
func revisionsOf(l consolestore.Listing) []revisionView {
	var all []revisionView
	if l.Live != nil {
		all = append(all, revisionView{*l.Live, "Live", look.Badge{Kind: "ok", Text: "Live"}})
	}
	if l.Live == nil || l.Live.ID != l.Revision.ID {
		all = append(all, revisionView{l.Revision, "Next", site.RevisionBadge(l.Revision.State)})
	}
	return all
}

// choices returns the images of a kind: those that are chosen first, in their order.
func choices(assets []consolestore.Asset, kind consolestore.AssetKind, chosen []string) []assetChoice {
	var all []assetChoice
	for _, asset := range assets {
		if asset.Kind == kind {
			all = append(all, assetChoice{asset, slices.Contains(chosen, asset.ID)})
		}
	}
	place := func(c assetChoice) int {
		if i := slices.Index(chosen, c.ID); i >= 0 {
			return i
		}
		return len(chosen)
	}
	slices.SortStableFunc(all, func(a, b assetChoice) int { return place(a) - place(b) })
	return all
}

// listingForm returns a form that is filled with what a listing says.
func listingForm(l consolestore.ListingContent) bodies.Form {
	return bodies.Form{
		"slug": {l.Slug}, "name": {l.Name}, "summary": {l.Summary}, "description": {l.Description},
		"icon": {l.IconAssetID}, "screenshots": l.ScreenshotAssetIDs,
		"publisher": {l.Publisher}, "termsUrl": {l.TermsURL}, "privacyUrl": {l.PrivacyURL},
	}
}

func (v *visit) showListing() error {
	data, err := v.listingPage(filled{})
	if err != nil {
		return err
	}
	return v.show("listing", listingTitle, data)
}

// listingAgain shows the page with what went wrong.
func (v *visit) listingAgain(problem error, form filled) error {
	data, err := v.listingPage(form)
	if err != nil {
		return err
	}
	return v.again(problem, "listing", listingTitle, data)
}

// saveListing saves a draft. A form that was opened before there was a listing must not
// replace one that a colleague saved meanwhile.
func (v *visit) saveListing() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	content := consolestore.ListingContent{
		Slug: strings.TrimSpace(form.Get("slug")), Name: form.Get("name"), Summary: form.Get("summary"), Description: site.UnixLines(form.Get("description")),
		IconAssetID: form.Get("icon"), ScreenshotAssetIDs: form["screenshots"],
		Publisher: form.Get("publisher"), TermsURL: strings.TrimSpace(form.Get("termsUrl")), PrivacyURL: strings.TrimSpace(form.Get("privacyUrl")),
	}
	if form.Get("first") != "" {
		_, err = v.cfg.Console.CreateListing(v.r.Context(), v.by, v.app.ID, content)
	} else {
		_, err = v.cfg.Console.SaveListing(v.r.Context(), v.by, v.app.ID, console.ListingChange{ListingContent: content, Version: sentVersion(form).Value})
	}
	if apierror.HasCode(err, codes.Conflict.Code) {
		listing, unread := v.cfg.Console.Listing(v.r.Context(), v.by, v.app.ID)
		if unread != nil {
			return unread
		}
		err = conflict(err, form, "the listing", listing.Version)
	}
	if err != nil {
		return v.listingAgain(err, v.mark(err, form, listingFields))
	}
	return v.to(path("apps", v.app.ID, "listing"), "listing-saved")
}

func (v *visit) submitListing() error {
	if _, err := v.cfg.Console.SubmitListing(v.r.Context(), v.by, v.app.ID); err != nil {
		err = incompleteness(err)
		return v.listingAgain(err, v.mark(err, nil, listingFields))
	}
	return v.to(path("apps", v.app.ID, "listing"), "listing-submitted")
}

// incompleteness says in full what a listing lacks.
func incompleteness(err error) error {
	e, ok := site.Problems(err)
	if !ok {
		return err
	}
	details, ok := e.Details().([]consolestore.ListingDetail)
	if !ok {
		return err
	}
	var v apierror.Validation
	for _, detail := range details {
		v.Add(detail.Field, "%s", detail.Reason)
	}
	return v.Err()
}

func assetRoutes() []route {
	const all, one = "/apps/{appId}/assets", "/apps/{appId}/assets/{assetId}"
	return []route{
		{"POST", all, (*visit).addAsset},
		{"GET", one, (*visit).showAsset},
		{"POST", one + "/delete", (*visit).deleteAsset},
	}
}

// assetView is an image, and whether a listing shows it.
type assetView struct {
	consolestore.Asset
	InUse bool
}

func assetViews(assets []consolestore.Asset, listing *consolestore.Listing) []assetView {
	all := make([]assetView, 0, len(assets))
	for _, asset := range assets {
		inUse := listing != nil && (listing.Revision.Shows(asset.ID) || listing.Live != nil && listing.Live.Shows(asset.ID))
		all = append(all, assetView{asset, inUse})
	}
	return all
}

// addAsset adds an image. The form has the fields of the listing too, which are kept.
func (v *visit) addAsset() error {
	upload, values, err := console.ReadUploadForm(v.w, v.r)
	form := bodies.Form(values)
	if err == nil {
		_, err = v.cfg.Console.AddAsset(v.r.Context(), v.by, v.app.ID, upload)
	}
	if err != nil {
		if form != nil {
			form["kind"] = []string{string(upload.Kind)}
		}
		marked := v.mark(err, form, listingFields)
		if site.IsStatus(err, http.StatusRequestEntityTooLarge) {
			marked.problems = map[string]problem{"file": {ID: "file-problem", Text: "File is larger than 5 MB", IsFirst: true}}
		}
		return v.listingAgain(err, marked)
	}
	return v.imagesChanged(form, "asset-added")
}

// imagesChanged leads on after a change of the images. A listing that was being edited is
// shown as it was sent.
func (v *visit) imagesChanged(form bodies.Form, done string) error {
	if !hasListing(form) {
		return v.to(path("apps", v.app.ID, "listing"), done)
	}
	data, err := v.listingPage(filled{Form: form})
	if err != nil {
		return err
	}
	data.IsUnsaved = true
	page := look.Page{Frame: v.frame(listingTitle), Data: data}
	page.Notice = notices[done] + " What you have entered is not saved yet."
	return v.site.Show(v.w, http.StatusOK, "listing", page)
}

// hasListing reports whether a form has the fields of the listing.
func hasListing(form bodies.Form) bool { return form.Has("slug") }

// showAsset sends an image, with a policy of its own: it is nothing but an image.
func (v *visit) showAsset() error {
	asset, err := v.cfg.Console.Asset(v.r.Context(), v.by, v.app.ID, v.r.PathValue("assetId"))
	if err != nil {
		return err
	}
	console.WriteImage(v.w, asset)
	return nil
}

func (v *visit) deleteAsset() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	assetID := v.r.PathValue("assetId")
	if err := v.cfg.Console.DeleteAsset(v.r.Context(), v.by, v.app.ID, assetID); err != nil {
		return v.listingAgain(err, filled{Form: form})
	}
	for _, field := range []string{"icon", "screenshots"} {
		form[field] = slices.DeleteFunc(form[field], func(id string) bool { return id == assetID })
	}
	return v.imagesChanged(form, "asset-deleted")
}

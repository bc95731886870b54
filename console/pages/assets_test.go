package pages_test

import (
	"bytes"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

func (o *harness) png(width, height int) []byte {
	o.Helper()
	var b bytes.Buffer
	o.must(png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))))
	return b.Bytes()
}

// newAsset is an image of an app; its id.
func (o *harness) newAsset(app partner.App, kind consolestore.AssetKind) string {
	o.Helper()
	width, height := 640, 360
	if kind == consolestore.AssetIcon {
		width, height = 128, 128
	}
	asset, err := o.later().console.AddAsset(o.Context(), o.actor(ann), app.ID, console.NewAsset{Kind: kind, Data: o.png(width, height)})
	o.must(err)
	return asset.ID
}

// upload sends a file, as the form does: with the fields of the listing, names and values in
// turn.
func (o *harness) upload(app partner.App, by, kind string, file []byte, pairs ...string) response {
	o.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i := 0; i < len(pairs); i += 2 {
		o.must(form.WriteField(pairs[i], pairs[i+1]))
	}
	o.must(form.WriteField("kind", kind))
	part, err := form.CreateFormFile("file", `<b>"image".png`)
	o.must(err)
	_, err = part.Write(file)
	o.must(err)
	o.must(form.Close())
	r := httptest.NewRequest(http.MethodPost, appOrigin+o.prefix+"/apps/"+app.ID+"/assets", &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(o.host.NewSession(by, ""))
	return response{partnertest.Serve(o.TB, o.pages, r), o}
}

// CON-04: images are uploaded, chosen, kept while a listing shows them, and deleted.
func TestAssets_CON04(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	listing, assets := "/apps/"+app.ID+"/listing", "/apps/"+app.ID+"/assets/"
	o.get(listing).shows("None yet. Upload an icon and screenshots")
	o.upload(app, ann, "icon", o.png(128, 128)).wantTo(listing+"?done=asset-added").shows("The image was uploaded.", "Icon, 128 × 128")
	o.later().upload(app, ann, "screenshot", o.png(640, 360)).wantTo(listing + "?done=asset-added").shows("Screenshot, 640 × 360")
	all, err := o.console.Assets(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	icon, shot := all[0].ID, all[1].ID
	o.post(listing, "first", "1", "slug", "sync", "icon", icon, "screenshots", shot).want(http.StatusSeeOther)
	page := o.get(listing).shows("In use")
	for _, id := range []string{icon, shot} {
		if !slices.Contains(page.values("src"), o.prefix+assets+id) {
			t.Errorf("%s is not shown: %q", id, page.values("src"))
		}
	}
	if strings.Count(page.Body, " checked>") != 2 {
		t.Errorf("what is chosen is not checked: %s", page.Body)
	}
	o.post(assets + icon + "/delete").want(http.StatusBadRequest).alerts("the asset " + icon + " is shown by the live listing or an open revision").shows("Save draft")
	o.post(listing, "slug", "sync", "screenshots", shot).want(http.StatusSeeOther)
	o.later().post(assets + icon + "/delete").wantTo(listing + "?done=asset-deleted").shows("The image was deleted.").lacks(icon)
	o.did(app, "asset.deleted")
}

// CON-04: an image is an image to browsers, for its developers alone, and kept nowhere.
func TestImagesAreInert_CON04(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app, other := o.newApp(), o.newApp()
	// It says that it is a picture, and is a page as well.
	polyglot := append(o.png(128, 128), "<script>alert(1)</script>"...)
	o.upload(app, ann, "icon", polyglot).want(http.StatusSeeOther)
	all, err := o.console.Assets(t.Context(), o.actor(ann), app.ID)
	o.must(err)
	path := "/assets/" + all[0].ID
	got := o.get("/apps/" + app.ID + path).want(http.StatusOK)
	for name, want := range map[string]string{
		"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
		"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin", "X-Frame-Options": "DENY",
	} {
		if values := got.Header.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s is %q, want %q", name, values, want)
		}
	}
	if got.Body != string(polyglot) {
		t.Error("the image came back changed")
	}
	if policy := o.get("/apps/" + app.ID + "/listing").Header.Get("Content-Security-Policy"); policy != look.Policy {
		t.Errorf("the policy of the page is %q", policy)
	}
	o.refuses(app, []string{path}, []string{path + "/delete"})
	o.upload(app, eve, "icon", o.png(128, 128)).want(http.StatusNotFound)
	o.get("/apps/" + other.ID + path).want(http.StatusNotFound)
	o.post("/apps/" + other.ID + path + "/delete").want(http.StatusNotFound)
	o.send(ask{method: http.MethodGet, path: "/apps/" + app.ID + path}).want(http.StatusSeeOther) // to sign in
}

// CON-04: the page rejects an upload that is not an image of the required kind.
func TestUploadRefused_CON04(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	for _, test := range []struct {
		kind   string
		file   []byte
		status int
		alert  string
	}{
		{"icon", nil, http.StatusBadRequest, "file must be a PNG, JPEG or WebP image"},
		{"icon", []byte("<svg onload=alert(1)>"), http.StatusBadRequest, "file must be a PNG, JPEG or WebP image"},
		{"icon", o.png(128, 129), http.StatusBadRequest, "file must be a square of at most 1024 by 1024 pixels; this one has 128 by 129"},
		{"<b>", o.png(128, 128), http.StatusBadRequest, "kind must be icon or screenshot"},
		{"icon", make([]byte, console.MaxAssetBytes+1), http.StatusRequestEntityTooLarge, "the body has more than 5242880 bytes"},
	} {
		o.upload(app, ann, test.kind, test.file).want(test.status).alerts(test.alert).shows("First draft")
	}
	o.upload(app, ann, "screenshot", o.png(4097, 1)).marks("file", "File must have at most 4096 by 4096 pixels; this one has 4097 by 1")
	o.post("/apps/"+app.ID+"/assets", "kind", "icon").want(http.StatusUnsupportedMediaType)
	if all, err := o.console.Assets(t.Context(), o.actor(ann), app.ID); err != nil || len(all) != 0 {
		t.Errorf("kept %v, %v", all, err)
	}
}

// CON-03, CON-04: the form of the listing keeps what was entered when an image is uploaded,
// rejected or deleted. Nothing of it is saved.
func TestListingIsKept_CON03_CON04(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	own := "/apps/" + app.ID
	shot, other := o.newAsset(app, consolestore.AssetScreenshot), o.newAsset(app, consolestore.AssetScreenshot)
	entered := []string{
		"first", "1", "slug", "-", "name", "Sync", "summary", "Syncs <b>.", "description", "\nOne.\r\nTwo.", "publisher", "Ledgerlink", "termsUrl", "no",
		"screenshots", other, "screenshots", shot,
	}
	want := url.Values{}
	for i := 0; i < len(entered); i += 2 {
		want.Add(entered[i], entered[i+1])
	}
	for name, response := range map[string]struct {
		page     response
		status   int
		notice   string
		problem  string
		replaces bool
	}{
		"upload":   {o.upload(app, ann, "icon", o.png(128, 128), entered...), http.StatusOK, "The image was uploaded. What you have entered is not saved yet.", "", true},
		"rejected": {o.upload(app, ann, "screenshot", o.png(4097, 1), entered...), http.StatusBadRequest, "", "File must have at most 4096 by 4096 pixels; this one has 4097 by 1", false},
		"large":    {o.upload(app, ann, "icon", make([]byte, console.MaxAssetBytes+1), entered...), http.StatusRequestEntityTooLarge, "", "File is larger than 5 MB", false},
		"larger":   {o.upload(app, ann, "icon", make([]byte, 2*console.MaxAssetBytes), entered...), http.StatusRequestEntityTooLarge, "", "File is larger than 5 MB", false},
	} {
		page := response.page.want(response.status).shows(response.notice, "Listing")
		page.keeps(want)
		if response.problem != "" {
			page.marks("file", response.problem)
			if focus := page.focused(); !slices.Equal(focus, []string{"file"}) {
				t.Errorf("%s: the focus is on %q", name, focus)
			}
		}
		if replaces := slices.Contains(page.values("data-replace"), o.prefix+own+"/listing"); replaces != response.replaces {
			t.Errorf("%s: reloading sends the form again", name)
		}
		if !strings.Contains(page.Body, `listing" aria-current="page"`) {
			t.Errorf("%s: the page is not part of the listing", name)
		}
	}
	o.upload(app, ann, "screenshot", o.png(4097, 1), entered...).keeps(url.Values{"kind": {"screenshot"}})
	want.Del("screenshots")
	want.Add("screenshots", shot)
	page := o.post(own+"/assets/"+other+"/delete", entered...).want(http.StatusOK).shows("The image was deleted. What you have entered is not saved yet.").lacks(other)
	page.keeps(want)
	o.post(own+"/assets/"+other+"/delete", entered...).want(http.StatusNotFound)
	o.get(own + "/listing").shows("First draft").lacks("Ledgerlink")
}

// CON-04: an image that a listing shows cannot be deleted, and the page says so.
func TestUsedImage_CON04(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	own := "/apps/" + app.ID
	used, other := o.newAsset(app, consolestore.AssetIcon), o.newAsset(app, consolestore.AssetIcon)
	o.post(own+"/listing", "first", "1", "slug", "sync", "icon", used).want(http.StatusSeeOther)
	page := o.get(own+"/listing").shows("In use", "It can be deleted when no listing shows it.").lacks(own + "/assets/" + used + "/delete")
	if !slices.Contains(page.values("formaction"), o.prefix+own+"/assets/"+other+"/delete") {
		t.Error("an image that is not in use cannot be deleted")
	}
	o.post(own+"/listing", "slug", "sync", "icon", used, "name", "Sync", "summary", "Syncs.", "description", "It syncs.").want(http.StatusSeeOther)
	o.post(own + "/listing/submit").want(http.StatusSeeOther)
	if page := o.get(own + "/listing").shows("Upload image").lacks("Save draft"); strings.Count(page.Body, ` id="draft"`) != 1 {
		t.Error("while a reviewer has the listing, images have no form")
	}
	for range console.MaxAssets - 2 {
		o.newAsset(app, consolestore.AssetIcon)
	}
	o.get(own + "/listing").shows("An app has at most 50 images. Delete one to upload another.").lacks("Upload image")
}

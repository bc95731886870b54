package console_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
)

// CON-02: an image goes in, is listed, comes back and goes away.
func TestAssets_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	file := pngOf(256, 256)
	added := d.upload(path, upload{kind: "icon", file: file}).want(http.StatusCreated)
	assetID := added.text("id")
	if !id.Valid(id.Asset, assetID) {
		t.Errorf("id %q", assetID)
	}
	added.wantTime("createdAt", 0)
	added.wantBody(map[string]any{
		"id": assetID, "kind": "icon", "contentType": "image/png", "width": 256.0, "height": 256.0, "size": float64(len(file)), "createdAt": added.text("createdAt"),
	})
	second := d.upload(path, upload{kind: "screenshot", file: jpegOf(640, 360)}).want(http.StatusCreated).text("id")
	if got := d.ann("GET " + path + "/assets").data(); len(got) != 2 || got[0]["id"] != assetID || got[1]["id"] != second {
		t.Errorf("listed %v", got)
	}
	served := d.ann("GET " + path + "/assets/" + assetID).want(http.StatusOK)
	if served.Body != file {
		t.Errorf("%d bytes came back", len(served.Body))
	}
	for name, want := range map[string]string{
		"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "no-store",
		"Content-Disposition": `attachment; filename="` + assetID + `.png"`, "Cross-Origin-Resource-Policy": "same-origin", "Content-Length": fmt.Sprint(len(file)),
	} {
		if got := served.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := d.ann("HEAD " + path + "/assets/" + second).want(http.StatusOK).Header.Get("Content-Type"); got != "image/jpeg" {
		t.Errorf("HEAD: %s", got)
	}
	d.ann("DELETE " + path + "/assets/" + assetID).want(http.StatusNoContent)
	d.ann("DELETE " + path + "/assets/" + assetID).want(http.StatusNotFound)
	d.ann("GET " + path + "/assets/" + assetID).want(http.StatusNotFound)
	other, _ := d.newApp(confidentialApp)
	d.ann("GET " + other + "/assets/" + second).want(http.StatusNotFound)
	d.ann("DELETE " + other + "/assets/" + second).want(http.StatusNotFound)
}

const (
	noImage     = "file must be a PNG, JPEG or WebP image"
	isCut       = "file is cut off, or damaged"
	noKind      = "kind must be icon or screenshot"
	iconSize    = "file must be a square of at most 1024 by 1024 pixels; this one has "
	screenSizes = "file must have at most 4096 by 4096 pixels; this one has "
)

// CON-02: the type of an image is detected from its content, not from its name.
func TestAssetContent_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	script := "<script>alert(1)</script>"
	tests := []struct {
		name   string
		sent   upload
		isType string   // of what is accepted
		want   []string // or what is wrong
	}{
		{"PNG", upload{kind: "icon", file: pngOf(128, 128)}, "image/png", nil},
		{"the smallest icon", upload{kind: "icon", file: pngOf(1, 1)}, "image/png", nil},
		{"the smallest screenshot", upload{kind: "screenshot", file: pngOf(1, 1)}, "image/png", nil},
		{"the largest icon", upload{kind: "icon", file: pngOf(1024, 1024)}, "image/png", nil},
		{"JPEG", upload{kind: "screenshot", file: jpegOf(640, 360)}, "image/jpeg", nil},
		{"the largest screenshot", upload{kind: "screenshot", file: pngOf(4096, 4096)}, "image/png", nil},
		{"lossy WebP", upload{kind: "screenshot", file: webpLossy(1280, 720)}, "image/webp", nil},
		{"scaled lossy WebP", upload{kind: "icon", file: webpLossy(128|1<<14, 128|2<<14)}, "image/webp", nil},
		{"lossless WebP", upload{kind: "icon", file: webpLossless(512, 512)}, "image/webp", nil},
		{"extended WebP", upload{kind: "screenshot", file: webpExtended(4096, 360)}, "image/webp", nil},
		{"JPEG that is called PNG", upload{kind: "icon", file: jpegOf(128, 128), name: "a.png", declared: "image/png"}, "image/jpeg", nil},
		{"PNG that is called a page", upload{kind: "icon", file: pngOf(128, 128), name: "a.html", declared: "text/html"}, "image/png", nil},
		{"PNG with a page behind it", upload{kind: "icon", file: pngOf(128, 128) + script}, "image/png", nil},
		{"JPEG with a page behind it", upload{kind: "icon", file: jpegOf(128, 128) + script}, "image/jpeg", nil},

		{"nothing", upload{kind: "icon"}, "", []string{noImage}},
		{"no kind", upload{file: pngOf(128, 128)}, "", []string{noKind}},
		{"another kind", upload{kind: "Icon", file: pngOf(128, 128)}, "", []string{noKind}},
		{"a long kind and no image", upload{kind: strings.Repeat("icon", 100), file: "x"}, "", []string{noKind, noImage}},
		{"page that is called PNG", upload{kind: "icon", file: script}, "", []string{noImage}},
		{"page before an image", upload{kind: "icon", file: script + pngOf(128, 128)}, "", []string{noImage}},
		{"GIF", upload{kind: "icon", file: "GIF89a\x80\x00\x80\x00\x00\x00\x00"}, "", []string{noImage}},
		{"SVG", upload{kind: "icon", file: `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`, declared: "image/svg+xml"}, "", []string{noImage}},
		{"PDF", upload{kind: "icon", file: "%PDF-1.7"}, "", []string{noImage}},
		{"signature of PNG alone", upload{kind: "icon", file: "\x89PNG\r\n\x1a\n"}, "", []string{noImage}},
		{"PNG cut off in its header", upload{kind: "icon", file: pngOf(128, 128)[:28]}, "", []string{noImage}},
		{"PNG with a wrong checksum", upload{kind: "icon", file: strings.Replace(pngClaiming(128, 128), "\x80", "\x81", 1)}, "", []string{noImage}},
		{"signature of PNG before a JPEG", upload{kind: "icon", file: "\x89PNG\r\n\x1a\n" + jpegOf(128, 128)}, "", []string{noImage}},
		{"PNG that is nothing but a header", upload{kind: "icon", file: pngClaiming(128, 128)}, "", []string{isCut}},
		{"PNG without its end", upload{kind: "icon", file: pngOf(128, 128)[:len(pngOf(128, 128))-1]}, "", []string{isCut}},
		{"PNG with a wrong checksum of its picture", upload{kind: "icon", file: strings.Replace(pngOf(128, 128), "IDAT", "IDAU", 1)}, "", []string{isCut}},
		{"PNG without a picture", upload{kind: "icon", file: pngClaiming(128, 128) + "\x00\x00\x00\x00IEND\xae\x42\x60\x82"}, "", []string{isCut}},
		{"JPEG without its end", upload{kind: "icon", file: jpegOf(128, 128)[:len(jpegOf(128, 128))-2]}, "", []string{isCut}},
		{"JPEG of which only a thumbnail is whole", upload{kind: "icon", file: "\xff\xd8\xff\xe1\x00\x04\xff\xd9" + jpegOf(128, 128)[2:len(jpegOf(128, 128))-2]}, "", []string{isCut}},
		{"JPEG cut off", upload{kind: "icon", file: jpegOf(128, 128)[:20]}, "", []string{noImage}},
		{"WebP cut off", upload{kind: "icon", file: webpLossless(128, 128)[:24]}, "", []string{noImage}},
		{"WebP without an image", upload{kind: "icon", file: webpOf("ICCP", "profile")}, "", []string{noImage}},
		{"RIFF that is no WebP", upload{kind: "icon", file: strings.Replace(webpLossless(128, 128), "WEBP", "WAVE", 1)}, "", []string{noImage}},
		{"WebP of another version", upload{kind: "icon", file: webpOf("VP8L", "\x2f\x7f\xc0\x1f\x20\x00")}, "", []string{noImage}},
		{"WebP between key frames", upload{kind: "icon", file: webpOf("VP8 ", "\x11\x00\x00\x9d\x01\x2a\x80\x00\x80\x00")}, "", []string{noImage}},
		{"WebP of no size", upload{kind: "icon", file: webpLossy(0, 0)}, "", []string{noImage}},

		{"large icon", upload{kind: "icon", file: pngOf(1025, 1025)}, "", []string{iconSize + "1025 by 1025"}},
		{"icon that is not square", upload{kind: "icon", file: pngOf(128, 129)}, "", []string{iconSize + "128 by 129"}},
		{"wide screenshot", upload{kind: "screenshot", file: pngClaiming(4097, 4096)}, "", []string{screenSizes + "4097 by 4096"}},
		{"high screenshot", upload{kind: "screenshot", file: webpExtended(4096, 4097)}, "", []string{screenSizes + "4096 by 4097"}},
		{"a bomb", upload{kind: "screenshot", file: pngClaiming(100_000, 100_000)}, "", []string{screenSizes + "100000 by 100000"}},
		{"a bomb of WebP", upload{kind: "icon", file: webpExtended(1<<15, 1<<15)}, "", []string{iconSize + "32768 by 32768"}},
	}
	path, _ := d.newApp(confidentialApp)
	for _, test := range tests {
		got := d.upload(path, test.sent)
		if test.want != nil {
			got.Request = test.name
			got.wantInvalid(test.want...)
			continue
		}
		if got.want(http.StatusCreated).text("contentType") != test.isType {
			t.Errorf("%s: %s", test.name, got.Body)
		}
		served := d.ann("GET " + path + "/assets/" + got.text("id")).want(http.StatusOK)
		if served.Header.Get("Content-Type") != test.isType || served.Header.Get("X-Content-Type-Options") != "nosniff" || served.Body != test.sent.file {
			t.Errorf("%s was served as %v", test.name, served.Header)
		}
		d.ann("DELETE " + path + "/assets/" + got.text("id")).want(http.StatusNoContent)
	}
}

// ERR-02: an image has at most 5 MiB, even if the request does not declare its length.
func TestAssetSize_ERR02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	image := pngOf(128, 128)
	fits := upload{kind: "icon", file: image + strings.Repeat("\x00", console.MaxAssetBytes-len(image))}
	d.upload(path, fits).want(http.StatusCreated)
	for _, more := range []int{1, 100 << 10, 20 << 20} {
		large := fits
		large.file += strings.Repeat("\x00", more)
		d.upload(path, large).want(http.StatusRequestEntityTooLarge)
		body, contentType := large.encode()
		r := httptest.NewRequest(http.MethodPost, apiOrigin+path+"/assets", io.MultiReader(strings.NewReader(body))) // without Content-Length
		r.Header.Set("Content-Type", contentType)
		r.AddCookie(d.people.NewSession(ann, ""))
		w := httptest.NewRecorder()
		d.console.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d bytes too many: %d", more, w.Code)
		}
	}
}

// ERR-02, CVE-2023-45290: a line without end, where a part would begin, is given up
// where the largest upload would have ended.
func TestLongLine_ERR02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	line := strings.NewReader("--x\r\nContent-Disposition: form-data; name=\"kind\"; note=\"" + strings.Repeat("x", 8<<20))
	r := httptest.NewRequest(http.MethodPost, apiOrigin+path+"/assets", io.MultiReader(line)) // without Content-Length
	r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
	r.AddCookie(d.people.NewSession(ann, ""))
	w := httptest.NewRecorder()
	d.console.ServeHTTP(w, r)
	if read := line.Size() - int64(line.Len()); w.Code != http.StatusRequestEntityTooLarge || read > console.MaxAssetBytes+128<<10 {
		t.Errorf("%d after %d bytes", w.Code, read)
	}
}

// ERR-02: bodies that are not an upload are rejected.
func TestUploads_ERR02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	const form = "multipart/form-data; boundary=x"
	part := func(name, value string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	send := func(contentType, body string) response {
		return d.send(call{what: "POST " + path + "/assets", by: ann, body: body, contentType: contentType})
	}
	send("application/json", `{"kind": "icon"}`).want(http.StatusUnsupportedMediaType)
	send("application/x-www-form-urlencoded", "kind=icon").want(http.StatusUnsupportedMediaType)
	send("multipart/mixed; boundary=x", part("kind", "icon")+"--x--").want(http.StatusUnsupportedMediaType)
	d.ann("POST " + path + "/assets").want(http.StatusUnsupportedMediaType)
	d.send(call{what: "POST " + path + "/assets", by: ann, body: "x", contentType: form, set: http.Header{"Content-Encoding": {"gzip"}}}).want(http.StatusUnsupportedMediaType)
	send("multipart/form-data", part("kind", "icon")+"--x--").wantInvalid("the body has no boundary")
	send(form, "nothing").wantInvalid(noKind, noImage)
	send(form, part("kind", "icon")).wantInvalid("the body could not be read to its end")
	send(form, part("kind", "icon")+part("kind", "icon")+"--x--").wantInvalid("kind is given more than once")
	send(form, part("kind", "icon")+part("note\n", "x")+"--x--").wantInvalid("the body could not be read to its end")
	send(form, part("kind", "icon")+part("note", "x")+"--x--").wantInvalid(`"note" is not a known part`)
	send(form, part("kind", "icon")+"--x--").wantInvalid(noImage)
	send(form, part("file", pngOf(128, 128))+part("kind", "icon")+"--x--").want(http.StatusCreated) // the other way round
}

// ERR-02: a form with an upload has bounded fields. A file that is too large does not lose
// the fields before it, and is read to its end so that a browser shows the response.
func TestReadUploadForm_ERR02(t *testing.T) {
	t.Parallel()
	part := func(name, value string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	fields := part("slug", "sync") + part("shots", "a") + part("shots", "b")
	large := strings.Repeat("x", 2*console.MaxAssetBytes)
	for name, test := range map[string]struct {
		body, problem string
		fields        url.Values
		left          bool // the body is not read to its end
	}{
		"fields":        {fields + part("kind", "icon") + part("file", "data") + "--x--", "", url.Values{"slug": {"sync"}, "shots": {"a", "b"}}, false},
		"large file":    {fields + part("file", large) + "--x--", "413: the body has more than 5242880 bytes", url.Values{"slug": {"sync"}, "shots": {"a", "b"}}, false},
		"larger file":   {part("slug", "sync") + part("file", large+large+large) + "--x--", "413: the body has more than 5242880 bytes", url.Values{"slug": {"sync"}}, true},
		"large field":   {part("slug", "sync") + part("name", strings.Repeat("x", 256<<10)) + "--x--", "413: the body has more than 262144 bytes", url.Values{"slug": {"sync"}}, false},
		"large fields":  {part("a", strings.Repeat("x", 200<<10)) + part("b", strings.Repeat("x", 60<<10)) + "--x--", "413: the body has more than 262144 bytes", url.Values{"a": {strings.Repeat("x", 200<<10)}}, false},
		"not text":      {part("slug", "\x00") + "--x--", "400: the form has a field that is not valid UTF-8 without NUL", url.Values{}, true},
		"not a name":    {part("\xff", "") + "--x--", "400: the form has a field that is not valid UTF-8 without NUL", url.Values{}, true},
		"many fields":   {strings.Repeat(part("a", ""), 1001) + "--x--", "400: the form has too many fields", url.Values{"a": slices.Repeat([]string{""}, 1000)}, true},
		"repeated file": {part("file", "") + part("file", "") + "--x--", "400: file is given more than once", url.Values{}, true},
	} {
		body := strings.NewReader(test.body + strings.Repeat("\r\n", 4<<10)) // more than a reader's buffer
		r := httptest.NewRequest(http.MethodPost, "/", body)
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		asset, form, err := console.ReadUploadForm(httptest.NewRecorder(), r)
		if err == nil && string(asset.Data) != "data" || err != nil && err.Error() != test.problem || err == nil && test.problem != "" {
			t.Errorf("%s: %v, want %q", name, err, test.problem)
		}
		if diff := cmp.Diff(test.fields, form); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if isLarge := strings.HasPrefix(test.problem, "413"); isLarge && test.left != (body.Len() > 0) {
			t.Errorf("%s: %d bytes are left", name, body.Len())
		}
	}
	if _, form, err := console.ReadUploadForm(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil)); err == nil || form != nil {
		t.Errorf("without a form: %v, %v", form, err)
	}
}

// CON-04: what the live listing or an open revision shows stays.
func TestAssetInUse_CON04(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	icon := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
	shot := d.upload(path, upload{kind: "screenshot", file: pngOf(640, 360)}).want(http.StatusCreated).text("id")
	with := fmt.Sprintf(`{"slug": "sync", "name": "N", "summary": "S", "description": "D", "iconAssetId": %q, "screenshotAssetIds": [%q]}`, icon, shot)
	isKept := func(when string) {
		t.Helper()
		for _, assetID := range []string{icon, shot} {
			refused := d.ann("DELETE " + path + "/assets/" + assetID)
			refused.Request = when
			refused.wantCode(http.StatusBadRequest, "ASSET_IN_USE")
			d.ann("GET " + path + "/assets/" + assetID).want(http.StatusOK)
		}
	}
	submit := func() { d.ann("POST " + path + "/listing/submit").want(http.StatusOK) }
	d.ann("POST "+path+"/listing", with).want(http.StatusCreated)
	isKept("draft")
	submit()
	isKept("submitted")
	d.review(appID, consolestore.RevisionInReview)
	isKept("in review")
	d.review(appID, consolestore.RevisionChangesRequested)
	isKept("changes requested")
	d.ann("PUT "+path+"/listing", with).want(http.StatusOK)
	submit()
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionRejected)
	isKept("rejected")
	d.ann("PUT "+path+"/listing", with).want(http.StatusOK)
	submit()
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionApproved)
	isKept("live")
	d.ann("PUT "+path+"/listing", wholeListing).want(http.StatusOK)
	isKept("live, and not in the draft")
	submit()
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionApproved)
	d.ann("DELETE " + path + "/assets/" + icon).want(http.StatusNoContent)
	d.ann("DELETE " + path + "/assets/" + shot).want(http.StatusNoContent)
}

package console_test

import (
	"bytes"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
)

// FuzzImage: what passes for an icon is a square of the size that it may have, by other
// means; and it passes no more without its second half.
func FuzzImage(f *testing.F) {
	for _, file := range []string{pngOf(128, 128), jpegOf(128, 128), webpLossy(128, 128), webpLossless(200, 200), webpExtended(1024, 1024), pngClaiming(128, 128), "", "\x89PNG\r\n\x1a\n", "\xff\xd8\xff"} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		err := console.CheckImage(console.NewAsset{Kind: consolestore.AssetIcon, Data: file})
		if err != nil {
			if !isInvalid(err) {
				t.Fatal(err)
			}
			return
		}
		config, format, err := image.DecodeConfig(bytes.NewReader(file))
		if !bytes.HasPrefix(file, []byte("RIFF")) && (err != nil || config.Width != config.Height || config.Width < 128 || config.Width > 1024) {
			t.Fatalf("a %s of %d by %d passed: %v", format, config.Width, config.Height, err)
		}
	})
}

// FuzzUpload: any body is read, or rejected with a client error.
func FuzzUpload(f *testing.F) {
	body, contentType := upload{kind: "icon", file: "x"}.encode()
	f.Add(contentType, []byte(body))
	f.Add(contentType, []byte(body[:len(body)/2]))
	f.Add("multipart/form-data", []byte(body))
	f.Add("multipart/form-data; boundary=a", []byte("--a\r\n\r\n\r\n--a--"))
	f.Add("multipart/form-data; boundary=a", []byte("--a\r\nContent-Disposition: form-data; name=kind\r\n\r\nicon\r\n--a\r\nContent-Disposition: form-data; name=kind\r\n\r\nicon\r\n--a--"))
	f.Add("multipart/form-data; boundary=a", []byte("--a\r\n"+strings.Repeat("A: b\r\n", 500)))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		got, err := console.ReadUpload(httptest.NewRecorder(), r)
		switch {
		case err != nil && !isInvalid(err):
			t.Fatal(err)
		case err == nil && (!bytes.Contains(body, got.Data) || len(got.Kind) > 65):
			t.Fatalf("%d bytes of kind %.80q", len(got.Data), got.Kind)
		}
	})
}

func isInvalid(err error) bool {
	e, ok := err.(*apierror.Error)
	return ok && e.Status() >= 400 && e.Status() < 500
}

// FuzzCalls: any request of a signed-in user to any call has a JSON response that is not
// an internal error (ERR-02).
func FuzzCalls(f *testing.F) {
	d := newHarness(f)
	own, _ := d.newApp(confidentialApp)
	for _, seed := range [][3]string{
		{"POST", "", confidentialApp}, {"GET", "?after=%00&limit=x", ""}, {"PATCH", "/{}", `{"name":null,"appUrl":"javascript:1","pinnedVersion":"x"}`}, {"PATCH", "/{}", `{"redirectUris":["a"],"scopes":["internal:admin"]}`},
		{"POST", "/{}/webhooks", `{"url":"https://127.0.0.1/","events":["x"]}`}, {"POST", "/{}/webhooks", `{"url":"http://[::1]:99999/","events":[]}`}, {"POST", "/{}/app-data-fields", `{"resourceType":"invoice","key":"a","type":"CHOICE","choices":[]}`},
		{"POST", "/{}/listing", `{"slug":"A b","name":"","summary":"\u0000","iconAssetId":"x"}`}, {"PUT", "/{}/listing", `{}`}, {"POST", "/{}/extensions", `{"resourceType":"invoice","path":"\\\\a","label":"x"}`},
		{"POST", "/{}/functions", `{"name":"a","source":"export default f"}`}, {"GET", "/{}/analytics?days=99999999999", ""}, {"GET", "/{}/audit?after=aud_", ""}, {"DELETE", "/{}/secrets/x", ""}, {"GET", "/../..//{}", ""}, {"POST", "/{}/listing/submit", "null"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, path, body string) {
		if strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" || method == "" {
			return // no server hands those on
		}
		path, query, _ := strings.Cut(strings.ReplaceAll("/developer/apps"+path, "/developer/apps/{}", own), "?")
		r := httptest.NewRequest(method, apiOrigin, strings.NewReader(body))
		r.URL.Path, r.URL.RawQuery = path, query
		r.Header.Set("Content-Type", "application/json")
		r.AddCookie(d.people.NewSession(ann, ""))
		w := httptest.NewRecorder()
		d.console.ServeHTTP(w, r)
		isJSON := strings.HasPrefix(w.Header().Get("Content-Type"), "application/json")
		switch {
		case w.Code >= 500, w.Code >= 400 && method != http.MethodHead && !isJSON:
			t.Fatalf("%s %q?%s %s: %d %s", method, path, query, body, w.Code, w.Body)
		}
	})
}

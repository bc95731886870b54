package console_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
)

// Only the content that a reviewer has approved is public.
func TestLiveListings(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, appID := d.newApp(confidentialApp)
	icon := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
	other := d.upload(path, upload{kind: "icon", file: pngOf(128, 128)}).want(http.StatusCreated).text("id")
	live := console.NewLiveListings(d.store, "/app-icons")
	wantListing := func(want pages.AppListing) {
		t.Helper()
		if got, err := live.AppListing(t.Context(), appID); err != nil || got != want {
			t.Errorf("got %+v %v, want %+v", got, err, want)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /app-icons/{appId}/{assetId}", apierror.Writer{}.Standard(live.ServeIcon))
	wantIcon := func(path string, status int) {
		t.Helper()
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != status || status == http.StatusOK && (w.Header().Get("Content-Type") != "image/png" || w.Body.String() != pngOf(128, 128)) {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
	}

	const links = `"publisher": "Sync Ltd", "termsUrl": "https://sync.example/terms", "privacyUrl": "https://sync.example/privacy"`
	wantListing(pages.AppListing{})
	d.ann("POST "+path+"/listing", `{"slug": "sync", "name": "Sync", "summary": "Syncs", "description": "It syncs.", "iconAssetId": "`+icon+`", `+links+`}`).want(http.StatusCreated)
	wantListing(pages.AppListing{})
	wantIcon("/app-icons/"+appID+"/"+icon, http.StatusNotFound)

	d.ann("POST " + path + "/listing/submit").want(http.StatusOK)
	d.review(appID, consolestore.RevisionInReview, consolestore.RevisionApproved)
	approved := pages.AppListing{
		IconPath: "/app-icons/" + appID + "/" + icon, Publisher: "Sync Ltd", TermsURL: "https://sync.example/terms", PrivacyURL: "https://sync.example/privacy",
	}
	wantListing(approved)
	wantIcon(approved.IconPath, http.StatusOK)
	wantIcon("/app-icons/"+appID+"/"+other, http.StatusNotFound)
	wantIcon("/app-icons/app_other/"+icon, http.StatusNotFound)

	// The next draft is not shown.
	d.ann("PUT "+path+"/listing", `{"slug": "sync", "publisher": "Else", "iconAssetId": "`+other+`"}`).want(http.StatusOK)
	wantListing(approved)
	wantIcon("/app-icons/"+appID+"/"+other, http.StatusNotFound)
}

// The links of a listing are https, its publisher is a line.
func TestListingLinks(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	for _, link := range []string{"http://sync.example/", "javascript:alert(1)", "/terms", "https://a@sync.example/", "https:///x", "https://sync.example/a b"} {
		d.ann("POST "+path+"/listing", `{"slug": "sync", "termsUrl": "`+link+`", "privacyUrl": "`+link+`", "publisher": "a\nb"}`).
			wantInvalid("publisher must not have the character U+000A, which cannot be seen", "termsUrl must be an https URL of at most 512 characters", "privacyUrl must be an https URL of at most 512 characters")
	}
}

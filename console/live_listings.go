package console

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
)

// LiveListings reads the public content of the live listings of apps, in particular for the
// consent page. It implements oauthserver.Listings. Make it with [NewLiveListings]. It is
// safe for concurrent use.
type LiveListings struct {
	store  consolestore.Store
	prefix string
}

var _ oauthserver.Listings = (*LiveListings)(nil)

// NewLiveListings returns the live listings of a store. The host serves
// [LiveListings.ServeIcon] on the app host, for GET at prefix + "/{appId}/{assetId}".
func NewLiveListings(store consolestore.Store, prefix string) *LiveListings {
	return &LiveListings{store: store, prefix: prefix}
}

// AppListing implements oauthserver.Listings.
func (l *LiveListings) AppListing(ctx context.Context, appID string) (pages.AppListing, error) {
	live, err := l.live(ctx, appID)
	if err != nil || live == nil {
		return pages.AppListing{}, err
	}
	shown := pages.AppListing{Publisher: live.Publisher, TermsURL: live.TermsURL, PrivacyURL: live.PrivacyURL}
	if live.IconAssetID != "" {
		shown.IconPath = l.prefix + "/" + url.PathEscape(appID) + "/" + url.PathEscape(live.IconAssetID)
	}
	return shown, nil
}

// ServeIcon sends the icon of a live listing. Other images of the app are not found: they
// are its developers' until a reviewer has approved them.
func (l *LiveListings) ServeIcon(w http.ResponseWriter, r *http.Request) error {
	appID, assetID := r.PathValue("appId"), r.PathValue("assetId")
	live, err := l.live(r.Context(), appID)
	if err != nil {
		return err
	}
	if live == nil || live.IconAssetID == "" || live.IconAssetID != assetID {
		return apierror.NotFound("icon")
	}
	asset, err := l.store.Asset(r.Context(), appID, assetID)
	if err != nil {
		return absent("icon", err)
	}
	w.Header().Set("Cache-Control", "private, max-age=3600") // another icon has another id
	WriteImage(w, asset)
	return nil
}

// live returns the live revision; nil when there is none.
func (l *LiveListings) live(ctx context.Context, appID string) (*consolestore.Revision, error) {
	listing, err := l.store.Listing(ctx, appID)
	if errors.Is(err, partner.ErrNotFound) {
		return nil, nil
	}
	return listing.Live, err
}

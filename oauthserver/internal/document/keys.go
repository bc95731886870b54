package document

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/internal/failure"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// ErrNoKeys means that a client has no keys.
var ErrNoKeys = errors.New("the client does not authenticate with private_key_jwt")

// A KeyLookup asks for the keys of an app, among them the one with an id, if that is not empty.
type KeyLookup struct {
	App   partner.App
	KeyID string
	IP    netip.Addr
	Now   time.Time
}

// KeysOf returns the public keys of an app: those of its metadata, or those at its jwks_uri,
// which are fetched when they are no longer fresh, and once when the key id is not among them.
// While they cannot be fetched, the last ones serve for as long as the last document does. The
// error is [ErrNoKeys], [ErrUnavailable] or an internal error.
func (d *Directory) KeysOf(ctx context.Context, l KeyLookup) (assertion.Keys, error) {
	metadata := clientmetadata.KeysOf(l.App)
	switch {
	case len(metadata.Set) > 0:
		keys, err := assertion.ParseKeys(metadata.Set)
		return keys, failure.Wrap("read the keys of an app", err) // they were checked when they were saved
	case metadata.URI == "":
		return assertion.Keys{}, ErrNoKeys
	}
	saved, keys, err := d.savedKeys(ctx, l.App.ID, metadata.URI)
	if err != nil {
		return assertion.Keys{}, err
	}
	reason := KnownClient
	if l.Now.Before(saved.FreshUntil) {
		if l.KeyID == "" || keys.Has(l.KeyID) {
			return keys, nil
		}
		reason = UnknownKey
	}
	fetched, err := d.keys.join(ctx, l.App.ID, func(ctx context.Context) (assertion.Keys, error) {
		// Another flight, here or on another node, may have saved them meanwhile.
		now, keys, err := d.savedKeys(ctx, l.App.ID, metadata.URI)
		if err != nil || now.FetchedAt.After(saved.FetchedAt) && l.Now.Before(now.FreshUntil) {
			return keys, err
		}
		return d.refreshKeys(ctx, l, metadata.URI, reason)
	})
	if errors.Is(err, ErrUnavailable) && l.Now.Before(saved.FetchedAt.Add(Grace)) {
		return keys, nil
	}
	return fetched, err
}

// savedKeys returns the keys that were last fetched from a URL; zero values if there are none.
func (d *Directory) savedKeys(ctx context.Context, appID, from string) (oauthstore.ClientKeys, assertion.Keys, error) {
	saved, err := d.store.ClientKeys(ctx, appID)
	switch {
	case errors.Is(err, partner.ErrNotFound), err == nil && saved.URI != from:
		return oauthstore.ClientKeys{}, assertion.Keys{}, nil
	case err != nil:
		return oauthstore.ClientKeys{}, assertion.Keys{}, failure.Wrap("find the keys of a client", err)
	}
	keys, err := assertion.ParseKeys([]byte(saved.Set))
	return saved, keys, failure.Wrap("read the keys of a client", err)
}

// refreshKeys fetches the keys of an app and saves them.
func (d *Directory) refreshKeys(ctx context.Context, l KeyLookup, from string, reason Reason) (assertion.Keys, error) {
	err := d.Charge(ctx, Caller{URL: from, IP: l.IP, Now: l.Now, Reason: reason})
	switch {
	case errors.Is(err, ErrUnavailable):
		return assertion.Keys{}, err
	case err != nil:
		return assertion.Keys{}, failure.Wrap("fetch keys", err)
	}
	set, fresh, err := d.FetchKeys(ctx, from, l.Now)
	if err != nil {
		d.logger.InfoContext(ctx, "client keys rejected", "client_id", l.App.ClientID, "err", err)
		return assertion.Keys{}, fmt.Errorf("%w: %s", ErrUnavailable, err.Error())
	}
	err = d.store.SaveClientKeys(ctx, oauthstore.ClientKeys{AppID: l.App.ID, URI: from, Set: string(set), FetchedAt: l.Now, FreshUntil: l.Now.Add(fresh)})
	if err != nil {
		return assertion.Keys{}, failure.Wrap("save the keys of a client", err)
	}
	keys, err := assertion.ParseKeys(set)
	return keys, failure.Wrap("read the keys of a client", err)
}

package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
)

// UseAssertion implements oauthstore.Store. The primary key selects the winner.
func (s *Store) UseAssertion(ctx context.Context, a oauthstore.UsedAssertion) (bool, error) {
	n, err := s.exec(ctx, "INSERT INTO partnerkit_used_assertion (digest, expires_at) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING",
		a.Digest.Bytes(), ms(a.ExpiresAt))
	return n == 1, wrap("use assertion", err)
}

// ClientKeys implements oauthstore.Store.
func (s *Store) ClientKeys(ctx context.Context, appID string) (oauthstore.ClientKeys, error) {
	k := oauthstore.ClientKeys{AppID: appID}
	var fetched, fresh int64
	err := s.read(ctx, "SELECT uri, key_set, fetched_at, fresh_until FROM partnerkit_client_keys WHERE app_id = $1", []any{appID}, &k.URI, &k.Set, &fetched, &fresh)
	if err != nil {
		return oauthstore.ClientKeys{}, wrap("client keys", notFound(err))
	}
	k.FetchedAt, k.FreshUntil = fromMS(fetched), fromMS(fresh)
	return k, nil
}

// SaveClientKeys implements oauthstore.Store.
func (s *Store) SaveClientKeys(ctx context.Context, k oauthstore.ClientKeys) error {
	_, err := s.exec(ctx, `INSERT INTO partnerkit_client_keys (app_id, uri, key_set, fetched_at, fresh_until)
		SELECT id, $2, $3, $4, $5 FROM partnerkit_app WHERE id = $1
		ON CONFLICT (app_id) DO UPDATE SET uri = excluded.uri, key_set = excluded.key_set, fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until
		WHERE partnerkit_client_keys.fetched_at <= excluded.fetched_at`, k.AppID, k.URI, k.Set, ms(k.FetchedAt), ms(k.FreshUntil))
	return wrap("save client keys", err)
}

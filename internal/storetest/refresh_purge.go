package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const (
	// refreshEvery is how often the families of these cases are refreshed.
	refreshEvery = 20 * 24 * time.Hour
	// refreshKept is how long after its issue a refresh token's row is purged.
	refreshKept = lifetimes.RefreshToken + 90*24*time.Hour
)

const usedRefreshTokens = "partnerkit_used_refresh_token"

// purgeAll purges in batches until there is nothing left to purge.
func purgeAll(t *testing.T, e partnerkit.Store, now time.Time, batch int) (total int) {
	t.Helper()
	for {
		n := get[int](t)(purge(e, storage.PurgeOAuth)(t.Context(), now, batch))
		total += n
		if n == 0 {
			return total
		}
	}
}

// refreshed issues tokens at noon and refreshes them so many times, refreshEvery apart. It
// returns the tokens, oldest first.
func (f *oauthFixture) refreshed(t *testing.T, times int) []oauthstore.NewTokens {
	t.Helper()
	tokens := []oauthstore.NewTokens{f.issued(t)}
	for i := range times {
		next := newTokens(noon.Add(time.Duration(i+1) * refreshEvery))
		got := get[oauthstore.IssueResult](t)(f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, tokens[i])}, next))
		if got.Outcome != oauthstore.Issued {
			t.Fatalf("refresh %d ended with %q", i, got.Outcome)
		}
		tokens = append(tokens, next)
	}
	return tokens
}

// replay presents a refresh token as the server does.
func (f *oauthFixture) replay(ctx context.Context, m oauthstore.NewTokens, next oauthstore.NewTokens) (oauthstore.Outcome, error) {
	token, err := f.RefreshToken(ctx, m.RefreshID, m.RefreshDigest)
	if err != nil {
		return "", err
	}
	got, err := f.RotateRefresh(ctx, oauthstore.Rotation{Token: token}, next)
	return got.Outcome, err
}

func last(tokens []oauthstore.NewTokens) oauthstore.NewTokens { return tokens[len(tokens)-1] }

// refreshPurgeCases test what remains of used refresh tokens (TOK-11), so that a replay
// revokes the family however late it comes (REF-02).
var refreshPurgeCases = []testCase[partnerkit.Store]{
	// REF-08: the window for a retry is not for a token of which only the digest is left.
	{"REF-08 a purged refresh token is never retried", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		tokens := f.refreshed(t, 7)
		now := last(tokens).Now
		purgeAll(t, e, now, 10)
		token, err := e.RefreshToken(t.Context(), tokens[0].RefreshID, tokens[0].RefreshDigest)
		must(t, err)
		got := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token, Response: []byte("sealed"), Retry: time.Hour}, newTokens(now)))
		if got.Outcome != oauthstore.Lost {
			t.Errorf("outcome %q", got.Outcome)
		}
	}},
	// A suspension can be lifted, so it does not end a family.
	{"TOK-11 a suspension ends no family", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		tokens := f.refreshed(t, 7)
		must(t, fixture.SetAppStatus(t.Context(), f, f.app.ID, partner.AppSuspended))
		must(t, f.SetUserStatus(t.Context(), f.user, identity.UserSuspended, noon))
		purgeAll(t, e, last(tokens).Now, 10)
		if !f.refreshToken(t, tokens[0]).Used {
			t.Error("the first token was not recognized")
		}
	}},
	// Purges, a refresh and replays of the same family at the same time: a replay is always
	// recognized, and always ends the family.
	{"REF-02 purges against a refresh and replays", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range max(3, rounds()/5) {
			tokens := f.refreshed(t, 7)
			now := last(tokens).Now
			current, next := f.refreshToken(t, last(tokens)), newTokens(now)
			testdb.Race(8, func(i int) {
				switch {
				case i < 3:
					if _, err := purge(e, storage.PurgeOAuth)(t.Context(), now, 5); err != nil {
						t.Errorf("purge: %v", err)
					}
				case i == 3:
					if _, err := e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: current}, next); err != nil {
						t.Errorf("refresh: %v", err)
					}
				default:
					got, err := f.replay(t.Context(), tokens[0], newTokens(now))
					if errors.Is(err, partner.ErrNotFound) {
						return // another replay ended the family, and a purge deleted its old tokens
					}
					if err != nil || got != oauthstore.Lost && got != oauthstore.Revoked {
						t.Errorf("replay: %q, %v", got, err)
					}
				}
			})
			if f.canRefresh(t, last(tokens)) || f.canRefresh(t, next) {
				t.Fatal("the family survived replays")
			}
		}
	}},
}

package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// sqlRefreshPurgeCases need what only sqlstore has.
var sqlRefreshPurgeCases = []testCase[*Env]{
	{"REF-02 a used refresh token is recognized while its family lives", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		tokens := f.refreshed(t, 20) // over 400 days
		now := last(tokens).Now
		purgeAll(t, e, now, 3)
		if rows, kept := e.rows(t, "partnerkit_refresh_token"), e.rows(t, usedRefreshTokens); rows != 7 || kept != 14 {
			t.Errorf("%d rows of refresh tokens and %d digests, want those of the last 120 days and 14", rows, kept)
		}
		first := f.refreshToken(t, tokens[0])
		if !first.Used || first.FamilyEnded || first.FamilyID != tokens[0].FamilyID || first.ClientID != f.app.ClientID {
			t.Errorf("the first token is %+v", first)
		}
		if got, err := f.replay(t.Context(), tokens[0], newTokens(now)); got != oauthstore.Lost || err != nil {
			t.Errorf("replay of the first token: %q, %v", got, err)
		}
		if f.canRefresh(t, last(tokens)) {
			t.Error("REF-02: the family survived the replay")
		}
		if got, err := f.replay(t.Context(), tokens[1], newTokens(now)); got != oauthstore.Revoked || err != nil {
			t.Errorf("REF-03: replay of the second token: %q, %v", got, err)
		}
	}},
	{"TOK-11 the digests of a family go with it", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		tokens := f.refreshed(t, 12)
		end := last(tokens).Now.Add(refreshKept)
		purgeAll(t, e, end, 2)
		if kept, families := e.rows(t, usedRefreshTokens), e.rows(t, "partnerkit_family"); kept != 12 || families != 1 {
			t.Errorf("%d digests and %d families before the newest token is old enough", kept, families)
		}
		if got, err := f.replay(t.Context(), tokens[0], newTokens(end)); got != oauthstore.Lost || err != nil {
			t.Errorf("replay of the first token: %q, %v", got, err)
		}
		purgeAll(t, e, end.Add(time.Second), 2)
		for _, table := range []string{usedRefreshTokens, "partnerkit_family", "partnerkit_refresh_token"} {
			if n := e.rows(t, table); n != 0 {
				t.Errorf("%d rows are left in %s", n, table)
			}
		}
	}},
	{"TOK-11 refresh tokens of an ended family leave no digest", func(t *testing.T, e *Env) {
		for name, end := range map[string]func(t *testing.T, f *oauthFixture, m oauthstore.NewTokens) error{
			"revoked": func(t *testing.T, f *oauthFixture, m oauthstore.NewTokens) error {
				_, err := f.EndFamily(t.Context(), m.FamilyID, noon)
				return err
			},
			"consent revoked": func(t *testing.T, f *oauthFixture, _ oauthstore.NewTokens) error {
				return f.EndGrant(t.Context(), f.endGrant())
			},
			"uninstalled": func(t *testing.T, f *oauthFixture, _ oauthstore.NewTokens) error {
				return f.end(t, partner.InstallationRemoved)
			},
			"access revoked": func(t *testing.T, f *oauthFixture, _ oauthstore.NewTokens) error {
				return f.end(t, partner.InstallationRevoked)
			},
			"app deactivated": func(t *testing.T, f *oauthFixture, _ oauthstore.NewTokens) error {
				return fixture.SetAppStatus(t.Context(), f, f.app.ID, partner.AppDeactivated)
			},
		} {
			f := newOAuth(t, e)
			tokens := f.refreshed(t, 2)
			must(t, end(t, f, tokens[0]))
			for i, m := range tokens {
				purgeAll(t, e, m.Now.Add(refreshKept), 10)
				if f.refreshToken(t, m).FamilyID != tokens[0].FamilyID {
					t.Errorf("%s: token %d was purged before its time", name, i)
				}
				purgeAll(t, e, m.Now.Add(refreshKept+time.Second), 10)
				if _, err := e.RefreshToken(t.Context(), m.RefreshID, m.RefreshDigest); !errors.Is(err, partner.ErrNotFound) {
					t.Errorf("%s: token %d after its time: %v", name, i, err)
				}
			}
			if n := e.rows(t, usedRefreshTokens) + e.rows(t, "partnerkit_family"); n != 0 {
				t.Errorf("%s: %d rows are left", name, n)
			}
		}
	}},
	// A purge that stops anywhere forgets nothing.
	{"TOK-11 purge under faults", func(t *testing.T, e *Env) {
		var f *oauthFixture
		var tokens []oauthstore.NewTokens
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newOAuth(t, e); tokens = f.refreshed(t, 7) },
			Act: func(ctx context.Context) error {
				_, err := purge(e, storage.PurgeOAuth)(ctx, last(tokens).Now, 100)
				return err
			},
			Check: func(t *testing.T, _ bool) {
				if !f.refreshToken(t, tokens[0]).Used || !f.canRefresh(t, last(tokens)) {
					t.Error("a used token was forgotten, or the family ended")
				}
			},
		})
	}},
	// Purges of a family whose newest token is due, at the same time: nothing is left, and
	// none of them fails.
	{"TOK-11 purges against each other", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		for range max(3, rounds()/5) {
			end := last(f.refreshed(t, 7)).Now.Add(refreshKept)
			purgeAll(t, e, end.Add(-refreshEvery/2), 10) // all but the last two have left their digests
			testdb.Race(6, func(int) {
				for range 6 {
					if _, err := purge(e, storage.PurgeOAuth)(t.Context(), end.Add(time.Second), 3); err != nil {
						t.Errorf("purge: %v", err)
					}
				}
			})
			purgeAll(t, e, end.Add(time.Second), 10)
			if n := e.rows(t, usedRefreshTokens) + e.rows(t, "partnerkit_family") + e.rows(t, "partnerkit_refresh_token"); n != 0 {
				t.Fatalf("%d rows are left", n)
			}
		}
	}},
}

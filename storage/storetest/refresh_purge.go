package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
)

const (
	// refreshEvery is how often the families of these cases are refreshed.
	refreshEvery = 20 * 24 * time.Hour
	// refreshKept is how long after its issue a refresh token's row is purged.
	refreshKept = oauthserver.RefreshTokenLifetime + 90*24*time.Hour
)

const usedRefreshTokens = "partnerkit_used_refresh_token"

// rows counts the rows of a table.
func (e *Env) rows(t *testing.T, table string) int {
	t.Helper()
	return e.count(t, "SELECT COUNT(*) FROM "+table)
}

// purgeAll purges in batches until there is nothing left to purge.
func purgeAll(t *testing.T, e *Env, now time.Time, batch int) (total int) {
	t.Helper()
	for {
		n := get[int](t)(e.Purge(t.Context(), now, batch))
		total += n
		if n == 0 {
			return total
		}
	}
}

// refreshed issues tokens at noon and refreshes them so many times, refreshEvery apart. It
// returns the mints, oldest first.
func (f *oauthFixture) refreshed(t *testing.T, times int) []oauthserver.NewTokens {
	t.Helper()
	mints := []oauthserver.NewTokens{f.issued(t)}
	for i := range times {
		next := mint(noon.Add(time.Duration(i+1) * refreshEvery))
		got := get[oauthserver.IssueResult](t)(f.RotateRefresh(t.Context(), oauthserver.Rotation{Token: f.refreshToken(t, mints[i])}, next))
		if got.Outcome != oauthserver.Issued {
			t.Fatalf("refresh %d ended with %q", i, got.Outcome)
		}
		mints = append(mints, next)
	}
	return mints
}

// replay presents a refresh token as the server does.
func (f *oauthFixture) replay(ctx context.Context, m oauthserver.NewTokens, next oauthserver.NewTokens) (oauthserver.Outcome, error) {
	token, err := f.RefreshToken(ctx, m.RefreshID, m.RefreshDigest)
	if err != nil {
		return "", err
	}
	got, err := f.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, next)
	return got.Outcome, err
}

func last(mints []oauthserver.NewTokens) oauthserver.NewTokens { return mints[len(mints)-1] }

// refreshPurgeCases are what remains of used refresh tokens (TOK-11), so that a replay
// revokes the family however late it comes (REF-02).
var refreshPurgeCases = []testCase[*Env]{
	{"REF-02 a used refresh token is recognized while its family lives", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		mints := f.refreshed(t, 20) // over 400 days
		now := last(mints).Now
		purgeAll(t, e, now, 3)
		if rows, kept := e.rows(t, "partnerkit_refresh_token"), e.rows(t, usedRefreshTokens); rows != 7 || kept != 14 {
			t.Errorf("%d rows of refresh tokens and %d digests, want those of the last 120 days and 14", rows, kept)
		}
		first := f.refreshToken(t, mints[0])
		if !first.Used || first.FamilyEnded || first.FamilyID != mints[0].FamilyID || first.ClientID != f.app.ClientID {
			t.Errorf("the first token is %+v", first)
		}
		if got, err := f.replay(t.Context(), mints[0], mint(now)); got != oauthserver.Lost || err != nil {
			t.Errorf("replay of the first token: %q, %v", got, err)
		}
		if f.canRefresh(t, last(mints)) {
			t.Error("REF-02: the family survived the replay")
		}
		if got, err := f.replay(t.Context(), mints[1], mint(now)); got != oauthserver.Revoked || err != nil {
			t.Errorf("REF-03: replay of the second token: %q, %v", got, err)
		}
	}},
	// REF-08: the window for a retry is not for a token of which only the digest is left.
	{"REF-08 a purged refresh token is never retried", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		mints := f.refreshed(t, 7)
		now := last(mints).Now
		purgeAll(t, e, now, 10)
		token, err := e.RefreshToken(t.Context(), mints[0].RefreshID, mints[0].RefreshDigest)
		must(t, err)
		got := get[oauthserver.IssueResult](t)(e.RotateRefresh(t.Context(), oauthserver.Rotation{Token: token, Answer: []byte("sealed"), Retry: time.Hour}, mint(now)))
		if got.Outcome != oauthserver.Lost {
			t.Errorf("outcome %q", got.Outcome)
		}
	}},
	{"TOK-11 the digests of a family go with it", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		mints := f.refreshed(t, 12)
		end := last(mints).Now.Add(refreshKept)
		purgeAll(t, e, end, 2)
		if kept, families := e.rows(t, usedRefreshTokens), e.rows(t, "partnerkit_family"); kept != 12 || families != 1 {
			t.Errorf("%d digests and %d families before the newest token is old enough", kept, families)
		}
		if got, err := f.replay(t.Context(), mints[0], mint(end)); got != oauthserver.Lost || err != nil {
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
		for name, end := range map[string]func(t *testing.T, f *oauthFixture, m oauthserver.NewTokens) error{
			"revoked": func(t *testing.T, f *oauthFixture, m oauthserver.NewTokens) error {
				return f.EndFamily(t.Context(), m.FamilyID, noon)
			},
			"consent revoked": func(t *testing.T, f *oauthFixture, _ oauthserver.NewTokens) error {
				return f.EndGrant(t.Context(), f.endGrant())
			},
			"uninstalled": func(t *testing.T, f *oauthFixture, _ oauthserver.NewTokens) error {
				return f.end(t, oauthserver.InstallationRemoved)
			},
			"access revoked": func(t *testing.T, f *oauthFixture, _ oauthserver.NewTokens) error {
				return f.end(t, oauthserver.InstallationRevoked)
			},
			"app deactivated": func(t *testing.T, f *oauthFixture, _ oauthserver.NewTokens) error {
				return f.SetAppStatus(t.Context(), f.app.ID, oauthserver.AppDeactivated)
			},
		} {
			f := newOAuth(t, e)
			mints := f.refreshed(t, 2)
			must(t, end(t, f, mints[0]))
			for i, m := range mints {
				purgeAll(t, e, m.Now.Add(refreshKept), 10)
				if f.refreshToken(t, m).FamilyID != mints[0].FamilyID {
					t.Errorf("%s: token %d was purged before its time", name, i)
				}
				purgeAll(t, e, m.Now.Add(refreshKept+time.Second), 10)
				if _, err := e.RefreshToken(t.Context(), m.RefreshID, m.RefreshDigest); !errors.Is(err, oauthserver.ErrNotFound) {
					t.Errorf("%s: token %d after its time: %v", name, i, err)
				}
			}
			if n := e.rows(t, usedRefreshTokens) + e.rows(t, "partnerkit_family"); n != 0 {
				t.Errorf("%s: %d rows are left", name, n)
			}
		}
	}},
	// What can be lifted is no end.
	{"TOK-11 a suspension ends no family", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		mints := f.refreshed(t, 7)
		must(t, f.SetAppStatus(t.Context(), f.app.ID, oauthserver.AppSuspended))
		must(t, f.SetUserStatus(t.Context(), f.user, oauthserver.UserSuspended, noon))
		purgeAll(t, e, last(mints).Now, 10)
		if !f.refreshToken(t, mints[0]).Used {
			t.Error("the first token was not recognized")
		}
	}},
	// A purge that stops anywhere forgets nothing.
	{"TOK-11 purge under faults", func(t *testing.T, e *Env) {
		var f *oauthFixture
		var mints []oauthserver.NewTokens
		EveryFault(t, e.Tap, Faulty{
			Prepare: func(t *testing.T) { f = newOAuth(t, e); mints = f.refreshed(t, 7) },
			Act: func(ctx context.Context) error {
				_, err := e.Purge(ctx, last(mints).Now, 100)
				return err
			},
			Check: func(t *testing.T, _ bool) {
				if !f.refreshToken(t, mints[0]).Used || !f.canRefresh(t, last(mints)) {
					t.Error("a used token was forgotten, or the family ended")
				}
			},
		})
	}},
	// Purges, a refresh and replays of the same family at the same time: a replay is always
	// recognized, and always ends the family.
	{"REF-02 purges against a refresh and replays", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		for range max(3, rounds()/5) {
			mints := f.refreshed(t, 7)
			now := last(mints).Now
			current, next := f.refreshToken(t, last(mints)), mint(now)
			Race(8, func(i int) {
				switch {
				case i < 3:
					if _, err := e.Purge(t.Context(), now, 5); err != nil {
						t.Errorf("purge: %v", err)
					}
				case i == 3:
					if _, err := e.RotateRefresh(t.Context(), oauthserver.Rotation{Token: current}, next); err != nil {
						t.Errorf("refresh: %v", err)
					}
				default:
					got, err := f.replay(t.Context(), mints[0], mint(now))
					if errors.Is(err, oauthserver.ErrNotFound) {
						return // another replay ended the family, and a purge deleted its old tokens
					}
					if err != nil || got != oauthserver.Lost && got != oauthserver.Revoked {
						t.Errorf("replay: %q, %v", got, err)
					}
				}
			})
			if f.canRefresh(t, last(mints)) || f.canRefresh(t, next) {
				t.Fatal("the family survived replays")
			}
		}
	}},
	// Purges of a family whose newest token is due, at the same time: nothing is left, and
	// none of them fails.
	{"TOK-11 purges against each other", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		for range max(3, rounds()/5) {
			end := last(f.refreshed(t, 7)).Now.Add(refreshKept)
			purgeAll(t, e, end.Add(-refreshEvery/2), 10) // all but the last two have left their digests
			Race(6, func(int) {
				for range 6 {
					if _, err := e.Purge(t.Context(), end.Add(time.Second), 3); err != nil {
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

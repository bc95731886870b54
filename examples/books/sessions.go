package books

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/storage"
)

// sessionLifetime is how long people stay signed in by default.
const sessionLifetime = 14 * 24 * time.Hour

// sessions is the sessions of the people who are signed in. The database has the digest of
// a cookie, not the cookie.
type sessions struct {
	books    *Books
	clock    clock.Clock
	lifetime time.Duration
	cookie   http.Cookie // all but its value
}

func newSessions(cfg SiteConfig) *sessions {
	lifetime := cfg.SessionLifetime
	if lifetime == 0 {
		lifetime = sessionLifetime
	}
	return &sessions{books: cfg.Books, clock: cfg.Clock, lifetime: lifetime, cookie: sessionCookie(cfg.AppURL, cfg.CookieDomain)}
}

// sessionCookie returns the cookie of both hosts. It lasts as long as the browser
// runs; the session ends by itself.
func sessionCookie(appURL, domain string) http.Cookie {
	c := http.Cookie{Name: "books_session", Path: "/", Domain: domain, HttpOnly: true, SameSite: http.SameSiteLaxMode} //nolint:gosec // Secure wherever the app host is https; on loopback it may be http
	if !strings.HasPrefix(appURL, "https://") {
		return c
	}
	// The prefixes keep other hosts under the same domain from planting one.
	c.Secure = true
	if domain == "" {
		c.Name = "__Host-" + c.Name
	} else {
		c.Name = "__Secure-" + c.Name
	}
	return c
}

// start signs a user in and returns the cookie of the new session. It ends the session of
// the request, so that a cookie from before the sign-in is worthless.
func (s *sessions) start(r *http.Request, userID, businessID string) (*http.Cookie, error) {
	ctx, now := r.Context(), s.clock.Now()
	text := secret.New(secret.Session)
	err := s.books.store.InTx(ctx, func(tx storage.Tx) error {
		for _, old := range s.digests(r) {
			if _, err := tx.Exec(ctx, "DELETE FROM books_session WHERE digest = $1", old.Bytes()); err != nil {
				return err
			}
		}
		if _, err := tx.Exec(ctx, "DELETE FROM books_session WHERE expires_at <= $1", now.UnixMilli()); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO books_session (digest, id, user_id, business_id, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6)`, text.Digest().Bytes(), id.New(id.Session, now), userID, businessID,
			now.UnixMilli(), now.Add(s.lifetime).UnixMilli())
		return err
	})
	if err != nil {
		return nil, err
	}
	cookie := s.cookie //nolint:gosec // see sessionCookie
	cookie.Value = text.Reveal()
	return &cookie, nil
}

// find returns the session of a request, and false if there is none.
func (s *sessions) find(r *http.Request) (identity.Session, bool, error) {
	for _, digest := range s.digests(r) {
		var found identity.Session
		var created, expires int64
		err := one(r.Context(), s.books.store, `SELECT s.id, s.user_id, COALESCE(u.name, ''), s.business_id, s.created_at, s.expires_at
			FROM books_session s LEFT JOIN books_user u ON u.id = s.user_id WHERE s.digest = $1`,
			[]any{digest.Bytes()}, &found.ID, &found.UserID, &found.DisplayName, &found.BusinessID, &created, &expires)
		switch {
		case errors.Is(err, ErrAbsent):
			continue
		case err != nil:
			return identity.Session{}, false, err
		}
		if s.clock.Now().UnixMilli() < expires {
			found.SignedInAt = time.UnixMilli(created).UTC()
			return found, true, nil
		}
	}
	return identity.Session{}, false, nil
}

// choose sets the business of a session.
func (s *sessions) choose(ctx context.Context, sessionID, businessID string) error {
	_, err := s.books.exec(ctx, "UPDATE books_session SET business_id = $1 WHERE id = $2", businessID, sessionID)
	return err
}

// end signs out, and returns a cookie that removes the browser's.
func (s *sessions) end(r *http.Request) (*http.Cookie, error) {
	for _, digest := range s.digests(r) {
		if _, err := s.books.exec(r.Context(), "DELETE FROM books_session WHERE digest = $1", digest.Bytes()); err != nil {
			return nil, err
		}
	}
	cookie := s.cookie //nolint:gosec // see sessionCookie
	cookie.MaxAge = -1
	return &cookie, nil
}

// digests returns the digests of up to four session cookies. A browser may send several
// cookies of one name.
func (s *sessions) digests(r *http.Request) []secret.Digest {
	var all []secret.Digest
	for _, cookie := range r.CookiesNamed(s.cookie.Name) {
		if text, err := secret.Parse(secret.Session, cookie.Value); err == nil && len(all) < 4 {
			all = append(all, text.Digest())
		}
	}
	return all
}

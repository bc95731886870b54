package storetest

import (
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// lockCases: a mint holds what it relies on, so that whoever ends it comes
// before or after, never in between.
var lockCases = []testCase[*Env]{
	{"Uninstall waits for a mint", func(t *testing.T, e *Env) {
		e.killWaits(t, func(f *oauthFixture, _ oauthserver.RefreshToken) error {
			return f.end(t, oauthserver.InstallationRemoved)
		})
	}},
	{"Revoked consent waits for a mint", func(t *testing.T, e *Env) {
		e.killWaits(t, func(f *oauthFixture, _ oauthserver.RefreshToken) error {
			return f.EndGrant(t.Context(), f.app.ID, f.business, f.user, noon)
		})
	}},
	{"Suspension waits for a mint", func(t *testing.T, e *Env) {
		e.killWaits(t, func(f *oauthFixture, _ oauthserver.RefreshToken) error {
			return f.SetAppStatus(t.Context(), f.app.ID, oauthserver.AppSuspended)
		})
	}},
	{"A burn waits for a mint", func(t *testing.T, e *Env) {
		e.killWaits(t, func(f *oauthFixture, token oauthserver.RefreshToken) error {
			return f.EndFamily(t.Context(), token.FamilyID, noon)
		})
	}},
}

// killWaits holds a refresh in an open transaction while the killer tries.
func (e *Env) killWaits(t *testing.T, kill func(*oauthFixture, oauthserver.RefreshToken) error) {
	t.Helper()
	f := newOAuth(t, e)
	token, next := f.refreshToken(t, f.issued(t)), mint(noon)
	tx, err := e.BeginTx(t.Context())
	must(t, err)
	defer tx.Rollback()
	if got := get[oauthserver.Minted](t)(e.WithTx(tx).RotateRefresh(t.Context(), oauthserver.Rotation{Token: token}, next)); got.Outcome != oauthserver.Issued {
		t.Fatalf("rotation: %q", got.Outcome)
	}
	killed := make(chan error, 1)
	go func() { killed <- kill(f, token) }()
	select {
	case err := <-killed:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough to be wrong in
	}
	must(t, tx.Commit(t.Context()))
	must(t, <-killed)
	f.wantLive(t, next, false)
}

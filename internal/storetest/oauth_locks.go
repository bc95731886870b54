package storetest

import (
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// lockCases are approvals that wait for a change of their app.
var lockCases = []testCase[*Env]{
	// Decided takes precedence over suspended, as it does without a wait.
	{"An approval that waited finds its request decided", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		request := f.hold(t, allScopes)
		f.decidedMeanwhile(t, e,
			func(s *sqlstore.Store) error { return denied(s.DecideRequest(t.Context(), f.denial(request.ID, noon))) },
			func() (oauthstore.Approved, error) {
				return f.DecideRequest(t.Context(), f.approval(request.ID, noon))
			})
	}},
	{"An approval that waited finds its device decided", func(t *testing.T, e *Env) {
		f := newOAuth(t, e)
		device := f.device(t, false)
		f.decidedMeanwhile(t, e,
			func(s *sqlstore.Store) error { return denied(s.DecideDevice(t.Context(), f.denial(device.ID, noon))) },
			func() (oauthstore.Approved, error) { return f.DecideDevice(t.Context(), f.approval(device.ID, noon)) })
	}},
}

// decidedMeanwhile suspends the app in an open transaction, for which the approval
// waits, and denies in it what is approved.
func (f *oauthFixture) decidedMeanwhile(t *testing.T, e *Env, deny func(*sqlstore.Store) error, approve func() (oauthstore.Approved, error)) {
	t.Helper()
	tx, err := e.BeginTx(t.Context())
	must(t, err)
	defer tx.Rollback()
	must(t, fixture.SetAppStatus(t.Context(), e.WithTx(tx), f.app.ID, partner.AppSuspended))
	var got oauthstore.Approved
	approved := inBackground(func() (err error) {
		got, err = approve()
		return err
	})
	wantWaiting(t, approved)
	must(t, deny(e.WithTx(tx)))
	must(t, tx.Commit(t.Context()))
	must(t, <-approved)
	if got.Outcome != oauthstore.ApprovalNotOpen {
		t.Errorf("the approval ended with %q", got.Outcome)
	}
}

func inBackground(act func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- act() }()
	return done
}

func wantWaiting(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(50 * time.Millisecond): // long enough to be wrong in
	}
}

// killWaits holds a refresh in an open transaction while the killer tries.
func (e *Env) killWaits(t *testing.T, kill func(*oauthFixture, oauthstore.RefreshToken) error) {
	t.Helper()
	f := newOAuth(t, e)
	token, next := f.refreshToken(t, f.issued(t)), newTokens(noon)
	tx, err := e.BeginTx(t.Context())
	must(t, err)
	defer tx.Rollback()
	if got := get[oauthstore.IssueResult](t)(e.WithTx(tx).RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, next)); got.Outcome != oauthstore.Issued {
		t.Fatalf("rotation: %q", got.Outcome)
	}
	killed := inBackground(func() error { return kill(f, token) })
	wantWaiting(t, killed)
	must(t, tx.Commit(t.Context()))
	must(t, <-killed)
	f.wantLive(t, next, false)
}

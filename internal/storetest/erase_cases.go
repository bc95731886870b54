package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// erase erases the user of the fixture in parts of a few records. It returns what was done
// and when the last part began.
func (f *oauthFixture) erase(t *testing.T) (done partner.Erasure, lastBegan time.Time) {
	t.Helper()
	done, lastBegan, err := f.eraseIn(t.Context(), 3)
	if err != nil {
		t.Errorf("erase: %v", err)
	}
	return done, lastBegan
}

func (f *oauthFixture) eraseIn(ctx context.Context, limit int) (total partner.Erasure, began time.Time, err error) {
	for part := (oauthstore.EraseUser{UserID: f.user, Now: noon, Limit: limit}); ; {
		began = time.Now()
		done, err := f.EraseUser(ctx, part)
		total.Add(done.Erasure)
		if err != nil || done.Next == "" {
			return total, began, err
		}
		part.After = done.Next
	}
}

// exchanged issues tokens for a session token, with or without a refresh token.
func (f *oauthFixture) exchanged(t *testing.T, refresh bool) oauthstore.NewTokens {
	t.Helper()
	m := newTokens(noon)
	if !refresh {
		m.RefreshID = ""
	}
	if got := get[oauthstore.IssueResult](t)(f.ExchangeSession(t.Context(), f.exchange(), m)); got.Outcome != oauthstore.Issued {
		t.Fatalf("exchange ended with %q", got.Outcome)
	}
	return m
}

// sameApp returns the fixture with another user.
func (f *oauthFixture) sameApp(user string) *oauthFixture {
	other := *f
	other.user = user
	return &other
}

// eraseCases: a user who is erased is in no record, and has no token.
var eraseCases = []testCase[partnerkit.Store]{
	{"OPS-04 Erasing a user", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		other := f.sameApp("other_" + f.user)
		theirs := []oauthstore.NewTokens{f.issued(t), f.issued(t), f.exchanged(t, true)}
		access := f.exchanged(t, false)
		code, device := f.code(t), f.device(t, true)
		kept := other.issued(t)
		must(t, e.RecordAudit(t.Context(), f.entry(audited.AppUpdated, noon)))
		about := other.entry(audited.AppUpdated, noon)
		about.Target = f.user
		must(t, e.RecordAudit(t.Context(), about))
		must(t, e.SetUserStatus(t.Context(), f.user, identity.UserRestricted, noon))
		key := claim(newKey(), "work", start)
		key.CallerID = keystore.UserCallerID(f.user)
		wantKey(t, e, key, owned)

		// Entries: four approvals of the user, one change by and one about the user.
		done, _ := f.erase(t)
		want := partner.Erasure{Consents: 1, Families: 3, AuditEntries: 6, Records: done.Records}
		if diff := cmp.Diff(want, done); diff != "" || done.Records < 1+3+4+6+1 {
			t.Errorf("%d records, (-want +got)\n%s", done.Records, diff)
		}
		for _, m := range theirs {
			f.wantLive(t, m, false)
			if got := f.refreshToken(t, m).UserID; got != partner.ErasedUser {
				t.Errorf("a refresh token is of %q", got)
			}
		}
		f.wantErased(t, access)
		f.wantErased(t, theirs[0])
		for name, issue := range map[string]func(m oauthstore.NewTokens) (oauthstore.IssueResult, error){
			"code": func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
				return e.RedeemCode(t.Context(), code, m)
			},
			"device": func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
				return e.CollectDevice(t.Context(), device, m)
			},
			"refresh": func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
				return e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, theirs[0])}, m)
			},
		} {
			if got := get[oauthstore.IssueResult](t)(issue(newTokens(noon))); got.Outcome != oauthstore.Dead && got.Outcome != oauthstore.Revoked {
				t.Errorf("%s: %q", name, got.Outcome)
			}
		}
		for _, entry := range get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{AppID: f.app.ID, Limit: 100})) {
			if entry.UserID == f.user || entry.Target == f.user {
				t.Errorf("the audit log has %+v", entry)
			}
		}
		if got := get[identity.UserStatus](t)(e.UserStatus(t.Context(), f.user)); got != identity.UserActive {
			t.Errorf("the user is %s", got)
		}
		again := key
		again.Owner, again.Fingerprint = "another", [32]byte{1}
		wantKey(t, e, again, owned) // nothing is known of the first one
		other.wantLive(t, kept, true)
	}},
	{"OPS-04 Erasing a user again", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.issued(t)
		if done, _ := f.erase(t); done.Consents != 1 || done.Families != 1 {
			t.Errorf("the first time: %+v", done)
		}
		if done, _ := f.erase(t); done != (partner.Erasure{}) {
			t.Errorf("the second time: %+v", done)
		}
		f.wantLive(t, f.issued(t), true) // with a new consent
		if done, _ := f.erase(t); done.Consents != 1 || done.Families != 1 {
			t.Errorf("after a new consent: %+v", done)
		}
	}},
	// The tokens are dead after the first part, and stay so if there is no second one.
	{"OPS-04 An erasure that stops", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		m := f.issued(t)
		part := oauthstore.EraseUser{UserID: f.user, Now: noon, Limit: 3}
		for parts := 1; ; parts++ {
			part.After = ""
			for range parts {
				done := get[oauthstore.Erased](t)(e.EraseUser(t.Context(), part))
				f.wantLive(t, m, false)
				if part.After = done.Next; part.After == "" {
					return
				}
			}
			if got := get[oauthstore.IssueResult](t)(e.ExchangeSession(t.Context(), f.exchange(), newTokens(noon))); got.Outcome == oauthstore.Issued {
				t.Fatalf("after %d parts an exchange was allowed", parts)
			}
		}
	}},
	{"OPS-04 Erasing against issuing", func(t *testing.T, e partnerkit.Store) {
		revokeAgainstIssue(t, e, func(t *testing.T, f *oauthFixture) error {
			f.erase(t)
			return nil
		})
	}},
	// An exchange that is done before the last part begins leaves nothing.
	{"OPS-04 Erasing against exchanges", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newOAuth(t, e)
			f.sameApp("other_" + f.user).code(t) // installs
			var mu sync.Mutex
			var last time.Time
			returned := make(map[oauthstore.NewTokens]time.Time)
			testdb.Race(8, func(i int) {
				if i == 0 {
					_, last = f.erase(t)
					return
				}
				m := newTokens(noon)
				if i%2 == 0 {
					m.RefreshID = ""
				}
				if _, err := f.ExchangeSession(t.Context(), f.exchange(), m); err != nil {
					t.Error(err)
				}
				now := time.Now()
				mu.Lock()
				defer mu.Unlock()
				returned[m] = now
			})
			for m, at := range returned {
				if at.Before(last) {
					f.wantErased(t, m)
				}
			}
		}
	}},
}

// wantErased wants no live access token, and none that has the user's id.
func (f *oauthFixture) wantErased(t *testing.T, m oauthstore.NewTokens) {
	t.Helper()
	if f.isLive(t, m) {
		t.Error("an access token survived")
	}
	if token, err := f.AccessToken(t.Context(), m.AccessID, m.AccessDigest); err == nil && token.UserID != partner.ErasedUser {
		t.Errorf("an access token is of %q", token.UserID)
	}
}

package storetest

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// contenders is how many race for one artifact.
const contenders = 32

// rounds returns how often a race is run: 50 times, 1,000 times when proofs are asked for,
// and 5 times with -short.
func rounds() int {
	switch {
	case testing.Short():
		return 5
	case os.Getenv("PARTNERKIT_PROVE") != "":
		return 1000
	}
	return 50
}

// raceCases: of any number of contenders one wins, and what a loser proves to be
// stolen dies with it.
var raceCases = []testCase[partnerkit.Store]{
	// CODE-06: one winner, whose tokens the replays end.
	{"Race for a code", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			code := f.code(t)
			winner := f.race(t, func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
				return f.RedeemCode(t.Context(), code, m)
			})
			f.wantLive(t, winner, false)
		}
	}},
	// AN-03: approvals at the same time do not pass the number of connections.
	{"AN-03 Race for the last connections", func(t *testing.T, e partnerkit.Store) {
		const most = 5
		for range max(rounds()/10, 3) {
			f := newOAuth(t, e)
			approvals := make([]oauthstore.Decision, contenders)
			for i := range approvals {
				approvals[i] = f.approval(f.hold(t, allScopes).ID, noon)
				approvals[i].BusinessID, approvals[i].MaxConnections = fmt.Sprint(f.business, "_", i), most
			}
			var done atomic.Int64
			testdb.Race(contenders, func(i int) {
				decided, err := f.DecideRequest(t.Context(), approvals[i])
				switch {
				case err != nil:
					t.Error(err)
				case decided.Outcome == oauthstore.ApprovalDone:
					done.Add(1)
				case decided.Outcome != oauthstore.ApprovalFull:
					t.Errorf("outcome %q", decided.Outcome)
				}
			})
			all := get[[]partner.Installation](t)(f.Installations(t.Context(), partner.InstallationQuery{AppID: f.app.ID}))
			if done.Load() != most || len(all) != most {
				t.Fatalf("%d approvals and %d installations, want %d", done.Load(), len(all), most)
			}
		}
	}},
	// CODE-04: of a right and a wrong redemption at the same time one counts, and what the
	// right one got then lives.
	{"CODE-04 Race of a right and a wrong redemption", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			code, m := f.code(t), newTokens(noon)
			var result oauthstore.IssueResult
			var spent atomic.Int64
			testdb.Race(8, func(i int) {
				if i == 0 {
					var err error
					if result, err = f.RedeemCode(t.Context(), code, m); err != nil {
						t.Error(err)
					}
					return
				}
				done, err := f.SpendCode(t.Context(), code.ID, noon)
				if err != nil {
					t.Error(err)
				}
				if done {
					spent.Add(1)
				}
			})
			isIssued := result.Outcome == oauthstore.Issued
			if isIssued == (spent.Load() == 1) || spent.Load() > 1 || !isIssued && result.Outcome != oauthstore.Lost {
				t.Fatalf("the right one ended with %q, %d wrong ones used the code up", result.Outcome, spent.Load())
			}
			f.wantLive(t, m, isIssued)
		}
	}},
	// REF-05: one winner, whose tokens the first loser ends.
	{"Race for a refresh token", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			token := f.refreshToken(t, f.issued(t))
			winner := f.race(t, func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
				return f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, m)
			})
			f.wantLive(t, winner, false)
		}
	}},
	// DEV-07: exactly one poll wins, and its tokens stay valid.
	{"Race for a device code", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			device := f.device(t, true)
			winner := f.race(t, func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
				return f.CollectDevice(t.Context(), device, m)
			})
			f.wantLive(t, winner, true)
		}
	}},
	// TOK-12: exactly one poll denies the code.
	{"Race for a device code of a suspended user", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			device := f.device(t, true)
			must(t, f.SetUserStatus(t.Context(), f.user, identity.UserSuspended, noon))
			var barred, lost atomic.Int64
			testdb.Race(8, func(int) {
				got, err := f.CollectDevice(t.Context(), device, newTokens(noon))
				switch {
				case err != nil:
					t.Error(err)
				case got.Outcome == oauthstore.UserBarred:
					barred.Add(1)
				case got.Outcome == oauthstore.Lost:
					lost.Add(1)
				}
			})
			if barred.Load() != 1 || lost.Load() != 7 {
				t.Fatalf("%d polls denied the code and %d were late, of 8", barred.Load(), lost.Load())
			}
			must(t, f.SetUserStatus(t.Context(), f.user, identity.UserActive, noon))
		}
	}},
	// TX-04: one winner.
	{"Race for a session token", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.code(t) // installs
		for range rounds() {
			x := f.exchange()
			winner := f.race(t, func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
				m.RefreshID = ""
				return f.ExchangeSession(t.Context(), x, m)
			})
			if !f.isLive(t, winner) {
				t.Error("the winner's token is dead")
			}
		}
	}},
	// AZ-09, AZ-14: one decision a request.
	{"Race to decide a request", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			request := f.hold(t, allScopes)
			f.raceToDecide(t,
				func() error { return denied(f.DecideRequest(t.Context(), f.denial(request.ID, noon))) },
				func() (oauthstore.Approved, error) {
					return f.DecideRequest(t.Context(), f.approval(request.ID, noon))
				})
		}
	}},
	// DEV-06: a code decided once cannot be decided again.
	{"Race to decide a device", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			device := f.device(t, false)
			f.raceToDecide(t,
				func() error { return denied(f.DecideDevice(t.Context(), f.denial(device.ID, noon))) },
				func() (oauthstore.Approved, error) { return f.DecideDevice(t.Context(), f.approval(device.ID, noon)) })
		}
	}},
	// AZ-13: approvals at the same time make one installation and one consent.
	{"Race to install", func(t *testing.T, e partnerkit.Store) {
		for range rounds() {
			f := newOAuth(t, e)
			requests := make([]oauthstore.AuthorizationRequest, 8)
			for i := range requests {
				requests[i] = f.hold(t, allScopes)
			}
			var mu sync.Mutex
			installed, installations, grants := 0, map[string]bool{}, map[string]bool{}
			testdb.Race(len(requests), func(i int) {
				approved, err := f.DecideRequest(t.Context(), f.approval(requests[i].ID, noon))
				if err != nil || approved.Outcome != oauthstore.ApprovalDone {
					t.Errorf("approval: %q, %v", approved.Outcome, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if approved.Installed {
					installed++
				}
				installations[approved.Installation.ID], grants[approved.Grant.ID] = true, true
			})
			if installed != 1 || len(installations) != 1 || len(grants) != 1 || f.recorded(t, "app.installed") != 1 {
				t.Fatalf("%d installed, %d installations, %d grants, %d events", installed, len(installations), len(grants), f.recorded(t, "app.installed"))
			}
		}
	}},
}

// race lets contenders issue tokens at once and expects one winner and no error.
func (f *oauthFixture) race(t *testing.T, try func(oauthstore.NewTokens) (oauthstore.IssueResult, error)) (winner oauthstore.NewTokens) {
	t.Helper()
	var mu sync.Mutex
	outcomes := map[oauthstore.Outcome]int{}
	testdb.Race(contenders, func(int) {
		m := newTokens(noon)
		result, err := try(m)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		outcomes[result.Outcome]++
		if result.Outcome == oauthstore.Issued {
			winner = m
		}
	})
	// A family that a loser has ended refuses later ones as revoked.
	if outcomes[oauthstore.Issued] != 1 || outcomes[oauthstore.Lost]+outcomes[oauthstore.Revoked] != contenders-1 || outcomes[oauthstore.Lost] == 0 {
		t.Fatalf("outcomes %v", outcomes)
	}
	return winner
}

// raceToDecide lets half of the contenders deny and half approve, and wants one
// decision.
func (f *oauthFixture) raceToDecide(t *testing.T, deny func() error, approve func() (oauthstore.Approved, error)) {
	t.Helper()
	var decided atomic.Int64
	testdb.Race(contenders, func(i int) {
		if i%2 == 0 {
			switch err := deny(); {
			case err == nil:
				decided.Add(1)
			case !errors.Is(err, partner.ErrNotFound):
				t.Error(err)
			}
			return
		}
		approved, err := approve()
		if err != nil {
			t.Error(err)
		}
		if approved.Outcome == oauthstore.ApprovalDone {
			decided.Add(1)
		}
	})
	if decided.Load() != 1 {
		t.Fatalf("%d decisions", decided.Load())
	}
}

// killCases: an operation that ends tokens and races with one that issues a token leaves
// no token alive, and neither operation returns an internal error.
var killCases = []testCase[partnerkit.Store]{
	{"Uninstall against issuing", func(t *testing.T, e partnerkit.Store) {
		revokeAgainstIssue(t, e, func(t *testing.T, f *oauthFixture) error { return f.end(t, partner.InstallationRemoved) })
	}},
	{"Revoke access against issuing", func(t *testing.T, e partnerkit.Store) {
		revokeAgainstIssue(t, e, func(t *testing.T, f *oauthFixture) error { return f.end(t, partner.InstallationRevoked) })
	}},
	{"Revoke consent against issuing", func(t *testing.T, e partnerkit.Store) {
		revokeAgainstIssue(t, e, func(t *testing.T, f *oauthFixture) error {
			return f.EndGrant(t.Context(), f.endGrant())
		})
	}},
	{"Deactivate against issuing", func(t *testing.T, e partnerkit.Store) {
		revokeAgainstIssue(t, e, func(t *testing.T, f *oauthFixture) error {
			return fixture.SetAppStatus(t.Context(), f, f.app.ID, partner.AppDeactivated)
		})
	}},
	{"Suspend the user against issuing", func(t *testing.T, e partnerkit.Store) {
		revokeAgainstIssue(t, e, func(t *testing.T, f *oauthFixture) error {
			return f.SetUserStatus(t.Context(), f.user, identity.UserSuspended, noon)
		})
	}},
	// REF-02: a burn that races with a rotation leaves nothing of the family.
	{"Burn against a refresh", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			first := f.issued(t)
			token := f.refreshToken(t, first)
			next := newTokens(noon)
			testdb.Race(8, func(i int) {
				var err error
				if i == 0 {
					_, err = f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, next)
				} else {
					_, err = f.EndFamily(t.Context(), token.FamilyID, noon)
				}
				if err != nil {
					t.Error(err)
				}
			})
			f.wantLive(t, first, false)
			f.wantLive(t, next, false)
		}
	}},
}

// revokeAgainstIssue races one killer with a redemption, a refresh and a
// collection of the same connection.
func revokeAgainstIssue(t *testing.T, e partnerkit.Store, kill func(t *testing.T, f *oauthFixture) error) {
	t.Helper()
	for range rounds() {
		f := newOAuth(t, e)
		old := f.issued(t)
		token, code, device := f.refreshToken(t, old), f.code(t), f.device(t, true)
		tokens := []oauthstore.NewTokens{newTokens(noon), newTokens(noon), newTokens(noon)}
		testdb.Race(4, func(i int) {
			var err error
			switch i {
			case 0:
				err = kill(t, f)
			case 1:
				_, err = f.RedeemCode(t.Context(), code, tokens[0])
			case 2:
				_, err = f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, tokens[1])
			case 3:
				_, err = f.CollectDevice(t.Context(), device, tokens[2])
			}
			if err != nil {
				t.Errorf("contender %d: %v", i, err)
			}
		})
		for _, m := range append(tokens, old) {
			f.wantLive(t, m, false)
		}
	}
}

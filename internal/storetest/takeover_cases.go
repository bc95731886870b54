package storetest

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// taker is the person who takes over the connection of the fixture's user.
func (f *oauthFixture) taker() string { return "taker_of_" + f.user }

// takeOver is the decision of the taker about what the fixture's user leaves behind.
func (f *oauthFixture) takeOver() oauthstore.TakeOver {
	return oauthstore.TakeOver{
		AppID: f.app.ID, BusinessID: f.business, UserID: f.taker(), From: []string{f.user}, GrantID: id.New(id.Grant, noon), Now: noon,
		Audit: f.entry(audited.ConnectionTakenOver, noon),
		Check: func(a partner.App, _ identity.Scopes) oauthstore.ApprovalOutcome {
			if !a.IsUsable() {
				return oauthstore.ApprovalAppDead
			}
			return oauthstore.ApprovalDone
		},
	}
}

// as returns the fixture with another user.
func (f *oauthFixture) as(userID string) *oauthFixture {
	other := *f
	other.user = userID
	return &other
}

// wantUser checks for whom the tokens are.
func (f *oauthFixture) wantUser(t testing.TB, m oauthstore.NewTokens, userID string) {
	t.Helper()
	access := get[oauthstore.AccessToken](t)(f.AccessToken(t.Context(), m.AccessID, m.AccessDigest))
	refresh := f.refreshToken(t, m)
	if access.UserID != userID || refresh.UserID != userID || access.GrantID != refresh.GrantID {
		t.Errorf("tokens of %q and %q, want %q", access.UserID, refresh.UserID, userID)
	}
}

// holders returns whose consents are alive.
func (f *oauthFixture) holders(t testing.TB) (users []string) {
	t.Helper()
	for _, g := range get[[]oauthstore.Grant](t)(f.Grants(t.Context(), f.business, f.app.ID)) {
		users = append(users, g.UserID)
	}
	return users
}

func wantOutcome(t testing.TB, got oauthstore.ApprovalOutcome, err error, want oauthstore.ApprovalOutcome) {
	t.Helper()
	if err != nil || got != want {
		t.Fatalf("%q, %v; want %q", got, err, want)
	}
}

// takeOverCases: a connection outlives the person who made it.
var takeOverCases = []testCase[partnerkit.Store]{
	{"INST-06 A take-over moves what lives", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		ended := f.issued(t)
		must(t, f.EndGrant(t.Context(), f.endGrant()))
		burned, kept := f.issued(t), f.issued(t)
		must(t, issuedBy(f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, burned)}, newTokens(noon))))
		if got := get[oauthstore.IssueResult](t)(f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, burned)}, newTokens(noon))); got.Outcome != oauthstore.Lost {
			t.Fatalf("a replay ended with %q", got.Outcome)
		}
		second := f.as("usr_second")
		other, stays := second.issued(t), f.as("usr_stays").issued(t)
		exchanged := newTokens(noon)
		exchanged.RefreshID, exchanged.FamilyID = "", ""
		must(t, issuedBy(f.ExchangeSession(t.Context(), oauthstore.Exchange{TokenID: "jti_" + f.user, ExpiresAt: noon, AppID: f.app.ID, BusinessID: f.business, UserID: f.user}, exchanged)))

		d := f.takeOver()
		d.From = append(d.From, second.user)
		var asked identity.Scopes
		d.Check = func(_ partner.App, scopes identity.Scopes) oauthstore.ApprovalOutcome {
			asked = scopes
			return oauthstore.ApprovalDone
		}
		got, err := f.TakeOver(t.Context(), d)
		wantOutcome(t, got, err, oauthstore.ApprovalDone)
		if !asked.Equal(allScopes) {
			t.Errorf("checked %s", asked)
		}
		for _, m := range []oauthstore.NewTokens{kept, other} {
			f.wantLive(t, m, true)
			f.wantUser(t, m, f.taker())
		}
		f.wantUser(t, stays, "usr_stays")
		f.wantLive(t, stays, true)
		f.wantLive(t, ended, false)
		f.wantLive(t, burned, false)
		if f.isLive(t, exchanged) {
			t.Error("an exchanged token outlives its person")
		}
		users := f.holders(t) // by random ids
		if slices.Sort(users); !slices.Equal(users, []string{f.taker(), "usr_stays"}) {
			t.Errorf("consents of %v", users)
		}
		next := newTokens(noon)
		must(t, issuedBy(f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, kept)}, next)))
		f.wantUser(t, next, f.taker())
		f.wantLive(t, kept, false)
		must(t, f.EndGrant(t.Context(), oauthstore.EndGrant{AppID: f.app.ID, BusinessID: f.business, UserID: f.taker(), Now: noon}))
		f.wantLive(t, next, false)
		f.wantLive(t, other, false)
		f.wantLive(t, stays, true)
	}},
	{"INST-06 A take-over that is refused changes nothing", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		m := f.issued(t)
		for want, change := range map[oauthstore.ApprovalOutcome]func(*oauthstore.TakeOver){
			oauthstore.ApprovalNobodyLeft: func(d *oauthstore.TakeOver) { d.From = []string{"usr_else"} },
			oauthstore.ApprovalNotOpen:    func(d *oauthstore.TakeOver) { d.RequestID = "arq_else" },
			oauthstore.ApprovalWider: func(d *oauthstore.TakeOver) {
				d.Check = func(partner.App, identity.Scopes) oauthstore.ApprovalOutcome { return oauthstore.ApprovalWider }
			},
			oauthstore.ApprovalUserDead: func(d *oauthstore.TakeOver) {
				d.UserID = "usr_suspended"
				must(t, f.SetUserStatus(t.Context(), d.UserID, identity.UserSuspended, noon))
			},
		} {
			d := f.takeOver()
			change(&d)
			got, err := f.TakeOver(t.Context(), d)
			wantOutcome(t, got, err, want)
		}
		if got := f.holders(t); !slices.Equal(got, []string{f.user}) {
			t.Errorf("consents of %v", got)
		}
		f.wantLive(t, m, true)
		f.wantUser(t, m, f.user)
		must(t, f.end(t, partner.InstallationRemoved))
		if _, err := f.TakeOver(t.Context(), f.takeOver()); !isNotFound(err) {
			t.Errorf("a connection that was removed: %v", err)
		}
	}},
	{"INST-06 A request is used up once", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.issued(t)
		r := f.request(allScopes)
		r.Purpose, r.BusinessID, r.RedirectURI = oauthstore.PurposeTakeOver, f.business, ""
		must(t, f.HoldRequest(t.Context(), r))
		found := get[oauthstore.AuthorizationRequest](t)(f.Request(t.Context(), r.Digest))
		if found.Purpose != r.Purpose || found.BusinessID != r.BusinessID {
			t.Errorf("request %+v", found)
		}
		approved := get[oauthstore.Approved](t)(f.DecideRequest(t.Context(), f.approval(r.ID, noon)))
		if approved.Outcome != oauthstore.ApprovalNotOpen {
			t.Errorf("it was approved as the request of an app: %q", approved.Outcome)
		}
		d := f.takeOver()
		d.RequestID = r.ID
		got, err := f.TakeOver(t.Context(), d)
		wantOutcome(t, got, err, oauthstore.ApprovalDone)
		f.issued(t)
		got, err = f.TakeOver(t.Context(), d)
		wantOutcome(t, got, err, oauthstore.ApprovalNotOpen)
	}},
	{"INST-06 A departure is noted once", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		m := f.issued(t)
		ctx, leaves := t.Context(), oauthstore.Membership{BusinessID: f.business, UserID: f.user, HasLeft: true, Now: noon}
		stays := leaves
		stays.HasLeft = false
		for range 2 {
			var told atomic.Int64
			testdb.Race(8, func(int) {
				apps, err := f.SetMembership(ctx, leaves)
				if err != nil || len(apps) > 1 || len(apps) == 1 && apps[0] != f.app.ID {
					t.Errorf("%v, %v", apps, err)
				}
				told.Add(int64(len(apps)))
			})
			if token := get[oauthstore.AccessToken](t)(f.AccessToken(ctx, m.AccessID, m.AccessDigest)); told.Load() != 1 || !token.GrantLeft || !f.refreshToken(t, m).GrantLeft {
				t.Errorf("told %d times, and the token says %v", told.Load(), token.GrantLeft)
			}
			if _, err := f.SetMembership(ctx, stays); err != nil || f.refreshToken(t, m).GrantLeft {
				t.Errorf("the person is back: %v", err)
			}
		}
		get[[]string](t)(f.SetMembership(ctx, leaves))
		f.code(t) // the person consents again
		if f.refreshToken(t, m).GrantLeft {
			t.Error("a person who consents has left")
		}
		other := leaves
		other.BusinessID = "biz_else"
		if apps := get[[]string](t)(f.SetMembership(ctx, other)); len(apps) != 0 || f.refreshToken(t, m).GrantLeft {
			t.Errorf("left another business: %v", apps)
		}
	}},
	{"INST-06 Race to take over", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			must(t, ignoreNotFound(f.end(t, partner.InstallationRemoved)))
			m := f.issued(t)
			var won, late atomic.Int64
			testdb.Race(contenders, func(i int) {
				d := f.takeOver()
				if i%2 == 0 { // of some people at once, and of one person twice
					d.UserID += "_else"
				}
				switch got, err := f.TakeOver(t.Context(), d); {
				case err != nil:
					t.Error(err)
				case got == oauthstore.ApprovalDone:
					won.Add(1)
				case got == oauthstore.ApprovalNobodyLeft:
					late.Add(1)
				}
			})
			if won.Load() != 1 || late.Load() != contenders-1 {
				t.Fatalf("%d won, %d were late", won.Load(), late.Load())
			}
			f.wantLive(t, m, true)
			if got := f.holders(t); len(got) != 1 || got[0] == f.user {
				t.Fatalf("consents of %v", got)
			}
		}
	}},
	{"INST-06 Race of a refresh and a take-over", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for range rounds() {
			must(t, ignoreNotFound(f.end(t, partner.InstallationRemoved)))
			first, next := f.issued(t), newTokens(noon)
			token := f.refreshToken(t, first)
			testdb.Race(2, func(i int) {
				if i == 0 {
					got, err := f.TakeOver(t.Context(), f.takeOver())
					if err != nil || got != oauthstore.ApprovalDone {
						t.Errorf("%q, %v", got, err)
					}
					return
				}
				got, err := f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, next)
				if err == nil && got.Outcome == oauthstore.Moved {
					got, err = f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, first)}, next)
				}
				if err != nil || got.Outcome != oauthstore.Issued {
					t.Errorf("refresh: %q, %v", got.Outcome, err)
				}
			})
			f.wantLive(t, first, false)
			f.wantLive(t, next, true)
			f.wantUser(t, next, f.taker())
		}
	}},
	{"OPS-04 Race of a take-over and the erasure of either person", func(t *testing.T, e partnerkit.Store) {
		last := newOAuth(t, e).lastPart(t)
		for round := range rounds() {
			f := newOAuth(t, e)
			m := f.issued(t)
			erased := []string{f.user, f.taker()}[round%2]
			testdb.Race(2, func(i int) {
				if i == 0 {
					if _, err := f.TakeOver(t.Context(), f.takeOver()); err != nil {
						t.Error(err)
					}
					return
				}
				if err := f.eraseUntil(t, erased, last); err != nil {
					t.Error(err)
				}
			})
			users := f.holders(t)
			if slices.Contains(users, erased) {
				t.Fatalf("a consent of the user who was erased: %v", users)
			}
			f.wantLive(t, m, len(users) == 1)
			if len(users) == 1 {
				f.wantUser(t, m, users[0])
			} else {
				f.wantUser(t, m, partner.ErasedUser)
			}
		}
	}},
}

// eraseUntil erases a user but for the parts from one on. While the last part is missing, the
// user is suspended.
func (f *oauthFixture) eraseUntil(t testing.TB, userID, last string) error {
	t.Helper()
	part := oauthstore.EraseUser{UserID: userID, Now: noon, Limit: 1000}
	for {
		done, err := f.EraseUser(t.Context(), part)
		if err != nil || done.Next == "" || done.Next == last {
			return err
		}
		part.After = done.Next
	}
}

// lastPart returns where the last part of an erasure begins.
func (f *oauthFixture) lastPart(t testing.TB) string {
	t.Helper()
	part := oauthstore.EraseUser{UserID: "usr_absent", Now: noon, Limit: 1000}
	for {
		done := get[oauthstore.Erased](t)(f.EraseUser(t.Context(), part))
		if done.Next == "" {
			return part.After
		}
		part.After = done.Next
	}
}

func isNotFound(err error) bool { return errors.Is(err, partner.ErrNotFound) }

func ignoreNotFound(err error) error {
	if isNotFound(err) {
		return nil
	}
	return err
}

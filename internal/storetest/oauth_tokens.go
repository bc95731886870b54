package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// tokenCases test codes and tokens, one at a time.
var tokenCases = []testCase[partnerkit.Store]{
	// REF-01, REF-02: the chain, and its end.
	{"A family's chain", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		first, second := f.issued(t), newTokens(noon)
		token := f.refreshToken(t, first)
		result := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token, Narrow: identity.MustScopes("events:read")}, second))
		if result.Outcome != oauthstore.Issued || !result.Scopes.Equal(identity.MustScopes("events:read")) {
			t.Errorf("rotation: %+v", result)
		}
		f.wantLive(t, first, false)
		f.wantLive(t, second, true)
		if next := f.refreshToken(t, second); !next.FamilyScopes.Equal(allScopes) {
			t.Errorf("the family has %v", next.FamilyScopes)
		}
		token = f.refreshToken(t, first) // used by now
		if result = get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, newTokens(noon))); result.Outcome != oauthstore.Lost {
			t.Errorf("a replay: %q", result.Outcome)
		}
		f.wantLive(t, second, false)
		if result = get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, second)}, newTokens(noon))); result.Outcome != oauthstore.Revoked {
			t.Errorf("after the burn: %q", result.Outcome)
		}
	}},
	// REF-06: a refresh for scopes that were lost uses nothing up.
	{"A refresh for lost scopes", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		first := f.issued(t)
		none := func(before, after partner.Installation) []partner.Event { return nil }
		get[partner.Installation](t)(e.SetInstallationScopes(t.Context(), f.app.ID, f.business, identity.MustScopes("events:read"), none))
		lost := oauthstore.Rotation{Token: f.refreshToken(t, first), Narrow: identity.MustScopes("invoices:read")}
		if got := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), lost, newTokens(noon))); got.Outcome != oauthstore.TooWide {
			t.Errorf("for a lost scope: %q", got.Outcome)
		}
		f.wantLive(t, first, true)
		if got := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, first)}, newTokens(noon))); got.Outcome != oauthstore.Issued {
			t.Errorf("for all that is left: %q", got.Outcome)
		}
	}},
	// REF-08: within the window the same response, never a second branch.
	{"A retry of a refresh", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		first, second := f.issued(t), newTokens(noon)
		rotate := func(now time.Time) oauthstore.IssueResult {
			m := newTokens(now)
			if now.Equal(noon) {
				m = second
			}
			return get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{
				Token: f.refreshToken(t, first), Response: []byte("sealed"), Retry: 10 * time.Second,
			}, m))
		}
		if got := rotate(noon); got.Outcome != oauthstore.Issued {
			t.Fatalf("rotation: %q", got.Outcome)
		}
		if got := rotate(noon.Add(10*time.Second - time.Millisecond)); got.Outcome != oauthstore.Repeated || string(got.Response) != "sealed" || !got.Scopes.Equal(allScopes) {
			t.Errorf("within the window: %+v", got)
		}
		f.wantLive(t, second, true)
		if got := rotate(noon.Add(10 * time.Second)); got.Outcome != oauthstore.Lost {
			t.Errorf("after the window: %q", got.Outcome)
		}
		f.wantLive(t, second, false)
	}},
	{"A retry after the successor was used is a replay", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		first, second, third := f.issued(t), newTokens(noon), newTokens(noon)
		for _, step := range []struct {
			from oauthstore.NewTokens
			to   oauthstore.NewTokens
			want oauthstore.Outcome
		}{{first, second, oauthstore.Issued}, {second, third, oauthstore.Issued}, {first, newTokens(noon), oauthstore.Lost}} {
			got := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{
				Token: f.refreshToken(t, step.from), Response: []byte("sealed"), Retry: 10 * time.Second,
			}, step.to))
			if got.Outcome != step.want {
				t.Errorf("outcome %q, want %q", got.Outcome, step.want)
			}
		}
		f.wantLive(t, third, false)
	}},
	{"A rotation without a retry forgets the answer before", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		first, second := f.issued(t), newTokens(noon)
		rotate := func(from, to oauthstore.NewTokens, retry time.Duration) oauthstore.Outcome {
			return get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{
				Token: f.refreshToken(t, from), Response: []byte("sealed"), Retry: retry,
			}, to)).Outcome
		}
		kept, strict, again := rotate(first, second, time.Minute), rotate(second, newTokens(noon), 0), rotate(second, newTokens(noon), time.Minute)
		if kept != oauthstore.Issued || strict != oauthstore.Issued || again != oauthstore.Lost {
			t.Errorf("outcomes %q, %q and %q", kept, strict, again)
		}
	}},
	// TOK-09: a token is found by its id, and proved by its digest.
	{"Another token's id, or digest", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		one, other := f.issued(t), f.issued(t)
		for name, m := range map[string]oauthstore.NewTokens{
			"its own id, another's digest": {AccessID: one.AccessID, AccessDigest: other.AccessDigest, RefreshID: one.RefreshID, RefreshDigest: other.RefreshDigest},
			"no id":                        {AccessDigest: one.AccessDigest, RefreshDigest: one.RefreshDigest},
			"no digest":                    {AccessID: one.AccessID, RefreshID: one.RefreshID},
			"of the other kind":            {AccessID: one.RefreshID, AccessDigest: one.RefreshDigest, RefreshID: one.AccessID, RefreshDigest: one.AccessDigest},
		} {
			_, access := f.AccessToken(t.Context(), m.AccessID, m.AccessDigest)
			_, refresh := f.RefreshToken(t.Context(), m.RefreshID, m.RefreshDigest)
			for _, err := range []error{access, refresh} {
				if !errors.Is(err, partner.ErrNotFound) {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		f.wantLive(t, one, true)
	}},
	// REF-03, CODE-06: of what happened since the look, revoked comes before used, and
	// used before what else has ended.
	{"Used and ended since the look", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		code, device, first, second := f.code(t), f.device(t, true), newTokens(noon), newTokens(noon)
		if got := get[oauthstore.IssueResult](t)(e.RedeemCode(t.Context(), code, first)); got.Outcome != oauthstore.Issued {
			t.Fatalf("redemption: %q", got.Outcome)
		}
		if got := get[oauthstore.IssueResult](t)(e.CollectDevice(t.Context(), device, newTokens(noon))); got.Outcome != oauthstore.Issued {
			t.Fatalf("collection: %q", got.Outcome)
		}
		must(t, f.SetUserStatus(t.Context(), f.user, identity.UserSuspended, noon))
		if got := get[oauthstore.IssueResult](t)(e.RedeemCode(t.Context(), code, newTokens(noon))); got.Outcome != oauthstore.Lost {
			t.Errorf("a code that was used, of a user who was suspended: %q", got.Outcome)
		}
		if got := get[oauthstore.IssueResult](t)(e.CollectDevice(t.Context(), device, newTokens(noon))); got.Outcome != oauthstore.Lost {
			t.Errorf("a device code that was collected, of a user who was suspended: %q", got.Outcome)
		}
		must(t, f.SetUserStatus(t.Context(), f.user, identity.UserActive, noon))
		f.wantLive(t, first, false)

		token := f.refreshToken(t, f.issued(t))
		if got := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, second)); got.Outcome != oauthstore.Issued {
			t.Fatalf("rotation: %q", got.Outcome)
		}
		must(t, f.end(t, partner.InstallationRevoked))
		if got := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, newTokens(noon))); got.Outcome != oauthstore.Revoked {
			t.Errorf("a token that was used, of an installation that was revoked: %q", got.Outcome)
		}
	}},
	// TOK-12: a cause that may pass leaves a refresh token and a session token as they were, and
	// uses up a code and a device code.
	{"TOK-12 A refused issue", func(t *testing.T, e partnerkit.Store) {
		for cause, change := range map[string]struct {
			want  oauthstore.Outcome
			begin func(f *oauthFixture, m *oauthstore.NewTokens)
			end   func(f *oauthFixture)
		}{
			"a suspended user": {
				oauthstore.UserBarred,
				func(f *oauthFixture, _ *oauthstore.NewTokens) {
					must(t, f.SetUserStatus(t.Context(), f.user, identity.UserSuspended, noon))
				},
				func(f *oauthFixture) {
					must(t, f.SetUserStatus(t.Context(), f.user, identity.UserActive, noon))
				},
			},
			"no member": {oauthstore.UserBarred, func(_ *oauthFixture, m *oauthstore.NewTokens) { m.NotMember = true }, func(*oauthFixture) {}},
			"no scopes": {
				oauthstore.NoScopes,
				func(f *oauthFixture, _ *oauthstore.NewTokens) {
					setAppScopes(t, f, identity.MustScopes("payments:read"))
				},
				func(f *oauthFixture) { setAppScopes(t, f, allScopes) },
			},
		} {
			f := newOAuth(t, e)
			code, digest := f.codeAndDigest(t, allScopes)
			device, refresh := f.device(t, true), f.refreshToken(t, f.issued(t))
			session := oauthstore.Exchange{TokenID: fmt.Sprintf("session_%d", serial.Add(1)), ExpiresAt: noon.Add(time.Minute), AppID: f.app.ID, BusinessID: f.business, UserID: f.user}
			for name, issue := range map[string]struct {
				do   func(m oauthstore.NewTokens) (oauthstore.IssueResult, error)
				then oauthstore.Outcome
			}{
				"redeem": {func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
					return f.RedeemCode(t.Context(), code, m)
				}, oauthstore.Lost},
				"collect": {func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
					return f.CollectDevice(t.Context(), device, m)
				}, oauthstore.Lost},
				"exchange": {func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
					return f.ExchangeSession(t.Context(), session, m)
				}, oauthstore.Issued},
				"refresh": {func(m oauthstore.NewTokens) (oauthstore.IssueResult, error) {
					return f.RotateRefresh(t.Context(), oauthstore.Rotation{Token: refresh}, m)
				}, oauthstore.Issued},
			} {
				m := newTokens(noon)
				change.begin(f, &m)
				refused := get[oauthstore.IssueResult](t)(issue.do(m))
				change.end(f)
				again := get[oauthstore.IssueResult](t)(issue.do(newTokens(noon)))
				if refused.Outcome != change.want || again.Outcome != issue.then {
					t.Errorf("%s with %s: %q and then %q, want %q and %q", name, cause, refused.Outcome, again.Outcome, change.want, issue.then)
				}
			}
			if spent := get[oauthstore.Code](t)(f.Code(t.Context(), digest)); !spent.Used || spent.FamilyID != "" {
				t.Errorf("%s: the code is %+v", cause, spent)
			}
			if got := get[oauthstore.DeviceCode](t)(f.DeviceByUserCode(t.Context(), device.UserCode)); got.Status != oauthstore.DeviceDenied {
				t.Errorf("%s: the device code is %s", cause, got.Status)
			}
		}
	}},
	// CODE-02: a replay ends what the code gave.
	{"A replayed code", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		code, digest := f.codeAndDigest(t, allScopes)
		if code.Used || code.FamilyID != "" {
			t.Errorf("a new code: %+v", code)
		}
		m := newTokens(noon)
		if got := get[oauthstore.IssueResult](t)(e.RedeemCode(t.Context(), code, m)); got.Outcome != oauthstore.Issued {
			t.Fatalf("redemption: %q", got.Outcome)
		}
		f.wantLive(t, m, true)
		used := get[oauthstore.Code](t)(e.Code(t.Context(), digest))
		if !used.Used || used.FamilyID != m.FamilyID {
			t.Errorf("a used code: %+v", used)
		}
		end := func() bool { return get[bool](t)(e.EndFamily(t.Context(), used.FamilyID, noon)) }
		if first, again := end(), end(); !first || again {
			t.Errorf("the family ended %v, and again %v", first, again)
		}
		f.wantLive(t, m, false)
	}},
	// CODE-04: a code that was used up without tokens stays so, and its replay ends nothing.
	{"CODE-04 A spent code", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		code, digest := f.codeAndDigest(t, allScopes)
		if spent := get[bool](t)(e.SpendCode(t.Context(), code.ID, noon)); !spent {
			t.Error("an unused code was not used up")
		}
		if spent := get[bool](t)(e.SpendCode(t.Context(), code.ID, noon)); spent {
			t.Error("a used code was used up again")
		}
		if got := get[oauthstore.IssueResult](t)(e.RedeemCode(t.Context(), code, newTokens(noon))); got.Outcome != oauthstore.Lost {
			t.Errorf("redemption: %q", got.Outcome)
		}
		if spent := get[oauthstore.Code](t)(e.Code(t.Context(), digest)); !spent.Used || spent.FamilyID != "" {
			t.Errorf("a spent code: %+v", spent)
		}

		redeemed, m := f.code(t), newTokens(noon)
		if got := get[oauthstore.IssueResult](t)(e.RedeemCode(t.Context(), redeemed, m)); got.Outcome != oauthstore.Issued {
			t.Fatalf("redemption: %q", got.Outcome)
		}
		if spent := get[bool](t)(e.SpendCode(t.Context(), redeemed.ID, noon)); spent {
			t.Error("a redeemed code was used up again")
		}
		f.wantLive(t, m, true)
	}},
	// TOK-10: no scope beyond what app and installation hold at issue time.
	{"Scopes at issue time", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		code, m := f.code(t), newTokens(noon)
		get[partner.App](t)(e.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
			a.Scopes = identity.MustScopes("invoices:read", "events:read")
			return a, nil
		}))
		get[partner.Installation](t)(e.SetInstallationScopes(t.Context(), f.app.ID, f.business, identity.MustScopes("invoices:read", "invoices:write"),
			func(before, after partner.Installation) []partner.Event {
				return f.event(events.AppScopesUpdated, noon)
			}))
		if got := get[oauthstore.IssueResult](t)(e.RedeemCode(t.Context(), code, m)); !got.Scopes.Equal(identity.MustScopes("invoices:read")) {
			t.Errorf("issued %v", got.Scopes)
		}
		none := func(before, after partner.Installation) []partner.Event { return nil }
		get[partner.Installation](t)(e.SetInstallationScopes(t.Context(), f.app.ID, f.business, identity.MustScopes("events:read"), none))
		if got := get[oauthstore.IssueResult](t)(e.RotateRefresh(t.Context(), oauthstore.Rotation{Token: f.refreshToken(t, m)}, newTokens(noon))); got.Outcome != oauthstore.NoScopes {
			t.Errorf("with no scope left: %q", got.Outcome)
		}
	}},
}

func setAppScopes(t *testing.T, f *oauthFixture, scopes identity.Scopes) {
	t.Helper()
	get[partner.App](t)(f.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
		a.Scopes = scopes
		return a, nil
	}))
}

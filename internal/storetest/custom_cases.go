package storetest

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// approveCustom names the business, approves the custom connection and returns the approval.
func (f *oauthFixture) approveCustom(t testing.TB, permissions ...string) oauthstore.Approved {
	t.Helper()
	must(t, f.nameBusiness(t.Context(), f, f.business))
	got := get[oauthstore.Approved](t)(f.DecideRequest(t.Context(), f.custom(f.approval(f.hold(t, allScopes).ID, noon), permissions...)))
	if got.Outcome != oauthstore.ApprovalDone {
		t.Fatalf("approval ended with %q", got.Outcome)
	}
	return got
}

// installationToken issues a token with scopes; none means all.
func (f *oauthFixture) installationToken(t testing.TB, scopes ...string) (oauthstore.NewTokens, oauthstore.IssueResult) {
	t.Helper()
	m := newTokens(noon)
	narrow, err := identity.NewScopes(scopes...)
	must(t, err)
	return m, get[oauthstore.IssueResult](t)(f.IssueForInstallation(t.Context(), f.app.ID, narrow, m))
}

// customCases are the custom connections of apps and their installation tokens.
var customCases = []testCase[partnerkit.Store]{
	{"IT-02 An installation token has no user, and the scopes and permissions that were approved", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		approved := f.approveCustom(t, "journal.post", "payments.delete")
		m, got := f.installationToken(t)
		token := get[oauthstore.AccessToken](t)(f.AccessToken(t.Context(), m.AccessID, m.AccessDigest))
		switch {
		case got.Outcome != oauthstore.Issued || !got.Scopes.Equal(allScopes) || !token.Scopes.Equal(allScopes):
			t.Errorf("%+v", got)
		case !token.IsForInstallation() || token.UserID != "" || token.InstallationID != approved.Installation.ID || token.BusinessID != f.business || !token.IsLive(noon):
			t.Errorf("%+v", token)
		case !slices.Equal(token.Permissions, []string{"journal.post", "payments.delete"}):
			t.Errorf("permissions %q", token.Permissions)
		case f.canRefresh(t, m):
			t.Error("there is a refresh token")
		case !approved.Installed || f.recorded(t, events.AppInstalled) != 1:
			t.Errorf("%+v", approved)
		}
		custom := get[[]oauthstore.Grant](t)(f.CustomConnections(t.Context(), approved.Installation.ID, "ins_absent"))
		if len(custom) != 1 || custom[0].ID != approved.Grant.ID || !slices.Equal(custom[0].Permissions, token.Permissions) || !custom[0].Scopes.Equal(allScopes) {
			t.Errorf("listed %+v", custom)
		}
	}},
	{"IT-02 scope may narrow an installation token, and not widen it", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.approveCustom(t)
		m, got := f.installationToken(t, "invoices:read")
		if token := get[oauthstore.AccessToken](t)(f.AccessToken(t.Context(), m.AccessID, m.AccessDigest)); got.Scopes.String() != "invoices:read" || token.Scopes.String() != "invoices:read" {
			t.Errorf("%+v, %+v", got, token.Scopes)
		}
		if m, got = f.installationToken(t, "invoices:read", "customers:read"); got.Outcome != oauthstore.TooWide || f.isLive(t, m) {
			t.Errorf("a wider one: %+v", got)
		}
		get[partner.App](t)(f.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
			a.Scopes = identity.MustScopes("customers:read")
			return a, nil
		}))
		if m, got = f.installationToken(t); got.Outcome != oauthstore.NoScopes || f.isLive(t, m) {
			t.Errorf("no scope left: %+v", got)
		}
	}},
	{"IT-02 Without an approved custom connection nothing is issued", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.code(t) // connected by a person
		if m, got := f.installationToken(t); got.Outcome != oauthstore.Dead || f.isLive(t, m) {
			t.Errorf("connected by a person: %+v", got)
		}
		must(t, f.nameBusiness(t.Context(), f, f.business))
		if m, got := f.installationToken(t); got.Outcome != oauthstore.Dead || f.isLive(t, m) {
			t.Errorf("named: %+v", got)
		}
	}},
	{"IT-03 What ends the installation or the app ends its tokens", func(t *testing.T, e partnerkit.Store) {
		for what, end := range map[string]func(f *oauthFixture) error{
			"uninstall": func(f *oauthFixture) error { return f.end(t, partner.InstallationRemoved) },
			"revoke":    func(f *oauthFixture) error { return f.end(t, partner.InstallationRevoked) },
			"suspend": func(f *oauthFixture) error {
				return fixture.SetAppStatus(t.Context(), f, f.app.ID, partner.AppSuspended)
			},
			"unset": func(f *oauthFixture) error { return f.nameBusiness(t.Context(), f, "") },
		} {
			f := newOAuth(t, e)
			f.approveCustom(t)
			m, _ := f.installationToken(t)
			must(t, end(f))
			if next, got := f.installationToken(t); f.isLive(t, m) || got.Outcome == oauthstore.Issued || f.isLive(t, next) {
				t.Errorf("%s: the token is live: %v; the next one: %+v", what, f.isLive(t, m), got)
			}
		}
	}},
	{"IT-03 Nothing of a custom connection depends on the approver", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.approveCustom(t)
		m, _ := f.installationToken(t)
		must(t, f.SetUserStatus(t.Context(), f.user, identity.UserSuspended, noon))
		f.erase(t)
		if _, got := f.installationToken(t); !f.isLive(t, m) || got.Outcome != oauthstore.Issued {
			t.Errorf("the token is live: %v, the next: %+v", f.isLive(t, m), got)
		}
	}},
	{"IT-01 Another business cannot be named while one has approved", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		must(t, f.nameBusiness(t.Context(), f, "biz_other")) // which has not approved
		f.approveCustom(t)
		m, _ := f.installationToken(t)
		before := get[partner.App](t)(f.App(t.Context(), f.app.ID))
		if err := f.nameBusiness(t.Context(), f, "biz_other"); !errors.Is(err, oauthstore.ErrConnectionExists) {
			t.Errorf("named another one: %v", err)
		}
		if app := get[partner.App](t)(f.App(t.Context(), f.app.ID)); app.CustomBusinessID != f.business || app.Version != before.Version || !f.isLive(t, m) {
			t.Errorf("%+v, the token is live: %v", app, f.isLive(t, m))
		}
		get[partner.App](t)(f.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
			a.CustomBusinessID = "biz_other"
			return a, nil
		}))
		if app := get[partner.App](t)(f.App(t.Context(), f.app.ID)); app.CustomBusinessID != f.business {
			t.Errorf("UpdateApp named %q", app.CustomBusinessID)
		}
	}},
	{"IT-01 Unsetting uninstalls the app, unless a person has connected it", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.approveCustom(t)
		must(t, f.nameBusiness(t.Context(), f, ""))
		if _, err := activeInstallation(f)(t.Context(), f.app.ID, f.business); !errors.Is(err, partner.ErrNotFound) || f.recorded(t, events.AppUninstalled) != 1 {
			t.Errorf("the installation of an approval alone: %v", err)
		}
		ended := get[[]audit.Entry](t)(e.Audit(t.Context(), audit.Query{AppID: f.app.ID, Action: audited.CustomConnectionEnded, Limit: 10}))
		if len(ended) != 1 || ended[0].Target != f.business {
			t.Errorf("audit: %+v", ended)
		}
		m := f.issued(t)
		f.approveCustom(t)
		must(t, f.nameBusiness(t.Context(), f, ""))
		f.wantLive(t, m, true)
		if f.recorded(t, events.AppUninstalled) != 1 {
			t.Error("the app was uninstalled although a person has connected it")
		}
	}},
	{"IT-01 Naming the business again does not bring an ended connection back", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.code(t) // keeps the installation
		f.approveCustom(t)
		m, _ := f.installationToken(t)
		must(t, f.nameBusiness(t.Context(), f, ""))
		must(t, f.nameBusiness(t.Context(), f, f.business))
		if _, got := f.installationToken(t); f.isLive(t, m) || got.Outcome != oauthstore.Dead {
			t.Errorf("%+v", got)
		}
	}},
	{"IT-01 Another approval replaces what calls may do", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		first := f.approveCustom(t, "journal.post")
		m, _ := f.installationToken(t)
		second := f.approveCustom(t)
		token := get[oauthstore.AccessToken](t)(f.AccessToken(t.Context(), m.AccessID, m.AccessDigest))
		if second.Grant.ID != first.Grant.ID || second.Installed || len(token.Permissions) != 0 || !token.IsLive(noon) {
			t.Errorf("%+v, %+v", second, token)
		}
	}},
	{"IT-01 An approval for a business that is no longer named does nothing", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		must(t, f.nameBusiness(t.Context(), f, f.business))
		request := f.hold(t, allScopes)
		must(t, f.nameBusiness(t.Context(), f, "biz_other"))
		got := get[oauthstore.Approved](t)(f.DecideRequest(t.Context(), f.custom(f.approval(request.ID, noon))))
		if _, err := activeInstallation(f)(t.Context(), f.app.ID, f.business); got.Outcome != oauthstore.ApprovalNotNamed || !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("%+v, %v", got, err)
		}
	}},
	{"IT-03 Race of issues with an end", func(t *testing.T, e partnerkit.Store) {
		for range rounds() / 5 {
			f := newOAuth(t, e)
			f.approveCustom(t)
			issued := make([]oauthstore.NewTokens, 8)
			testdb.Race(len(issued)+1, func(i int) {
				if i == len(issued) {
					if err := f.nameBusiness(t.Context(), f, ""); err != nil {
						t.Error(err)
					}
					return
				}
				issued[i] = newTokens(noon)
				if _, err := f.IssueForInstallation(t.Context(), f.app.ID, identity.Scopes{}, issued[i]); err != nil {
					t.Error(err)
				}
			})
			for _, m := range issued {
				if f.isLive(t, m) {
					t.Fatal("a token is live after the end of the connection")
				}
			}
		}
	}},
	{"IT-01 Race for one request", func(t *testing.T, e partnerkit.Store) {
		for range rounds() / 5 {
			f := newOAuth(t, e)
			must(t, f.nameBusiness(t.Context(), f, f.business))
			request := f.hold(t, allScopes)
			var done atomic.Int64
			testdb.Race(contenders, func(int) {
				got, err := f.DecideRequest(t.Context(), f.custom(f.approval(request.ID, noon)))
				switch {
				case err != nil:
					t.Error(err)
				case got.Outcome == oauthstore.ApprovalDone:
					done.Add(1)
				}
			})
			if done.Load() != 1 || f.recorded(t, events.AppInstalled) != 1 {
				t.Fatalf("%d approvals, %d events", done.Load(), f.recorded(t, events.AppInstalled))
			}
		}
	}},
}

package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/events/eventstore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Noon is the time of the cases.
var Noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var noon = Noon

var allScopes = identity.MustScopes("invoices:read", "invoices:write", "events:read")

// serial makes names that are new in this process.
var serial atomic.Int64

// oauthFixture is one app, connected or about to be, in one business.
type oauthFixture struct {
	partnerkit.Store
	app      partner.App
	business string
	user     string
}

func newOAuth(t testing.TB, e partnerkit.Store) *oauthFixture {
	t.Helper()
	return newOAuthNamed(t, e, id.New(id.App, noon), fmt.Sprint(serial.Add(1)))
}

// newOAuthNamed is newOAuth with the id of the app, and with a name for all others.
func newOAuthNamed(t testing.TB, e partnerkit.Store, appID, name string) *oauthFixture {
	t.Helper()
	f := &oauthFixture{Store: e, business: "biz_" + name, user: "usr_" + name, app: partner.App{
		ID: appID, ClientID: "client_" + name, Type: partner.Confidential, Status: partner.AppActive,
		Origin: partner.OriginConsole, Name: "App", OrganizationID: "org_1", Reviewed: true,
		RedirectURIs: []string{"https://app.example/cb"}, Scopes: allScopes, CreatedAt: noon,
	}}
	f.app.ReviewedAs = f.app.Profile()
	must(t, fixture.AddApp(t.Context(), e, f.app, partner.ClientSecret{
		ID: "sec_00" + name, AppID: f.app.ID, Digest: secret.DigestOf("s"), Prefix: "s", CreatedAt: noon,
	}))
	return f
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get is must for calls that return something.
func get[T any](t testing.TB) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

// hold opens an authorization request.
func (f *oauthFixture) hold(t testing.TB, scopes identity.Scopes) oauthstore.AuthorizationRequest {
	t.Helper()
	r := f.request(scopes)
	must(t, f.HoldRequest(t.Context(), r))
	return r
}

// request returns an authorization request of the session of the fixture.
func (f *oauthFixture) request(scopes identity.Scopes) oauthstore.AuthorizationRequest {
	return oauthstore.AuthorizationRequest{
		ID: id.New(id.Authorization, noon), Digest: secret.New(secret.ConsentRequest).Digest(), Browser: secret.DigestOf("browser"), Session: secret.DigestOf("session of " + f.user), AppID: f.app.ID,
		RedirectURI: f.app.RedirectURIs[0], Scopes: scopes, State: []byte{0, 0xff, 'x'}, CreatedAt: noon, ExpiresAt: noon.Add(lifetimes.Request),
	}
}

// approval approves a request with a new code, or a device code.
func (f *oauthFixture) approval(requestID string, now time.Time) oauthstore.Decision {
	return oauthstore.Decision{
		RequestID: requestID, UserID: f.user, BusinessID: f.business, InstallationID: id.New(id.Installation, now), GrantID: id.New(id.Grant, now), Now: now,
		Code: newCode(),
		Check: func(a partner.App) oauthstore.ApprovalOutcome {
			if !a.IsUsable() {
				return oauthstore.ApprovalAppDead
			}
			return oauthstore.ApprovalDone
		},
		Record: func(a oauthstore.Approved) []partner.Event {
			switch {
			case a.Installed:
				return f.event(events.AppInstalled, now)
			case a.Widened:
				return f.event(events.AppScopesUpdated, now)
			}
			return nil
		},
		Audit: f.entry(audited.ConsentAllowed, now),
	}
}

// connectTo connects the app to a business.
func (f *oauthFixture) connectTo(t testing.TB, businessID string) {
	t.Helper()
	a := f.approval(f.hold(t, allScopes).ID, noon)
	a.BusinessID = businessID
	if got := get[oauthstore.Approved](t)(f.DecideRequest(t.Context(), a)); got.Outcome != oauthstore.ApprovalDone {
		t.Fatalf("connecting: %q", got.Outcome)
	}
}

func (f *oauthFixture) denial(requestID string, now time.Time) oauthstore.Decision {
	return oauthstore.Decision{RequestID: requestID, Now: now, Audit: f.entry(audited.ConsentDenied, now), IsDenied: true}
}

// denied is partner.ErrNotFound for a denial that came too late.
func denied(got oauthstore.Approved, err error) error {
	if err == nil && got.Outcome == oauthstore.ApprovalNotOpen {
		return partner.ErrNotFound
	}
	return outcome(err, got.Outcome == oauthstore.ApprovalDone)
}

func (f *oauthFixture) endGrant() oauthstore.EndGrant {
	return oauthstore.EndGrant{AppID: f.app.ID, BusinessID: f.business, UserID: f.user, Now: noon, Audit: f.entry(audited.ConsentRevoked, noon)}
}

func (f *oauthFixture) entry(action audit.Action, now time.Time) audit.Entry {
	return audit.Entry{ID: id.New(id.Audit, now), AppID: f.app.ID, UserID: f.user, Action: action, Target: f.business, At: now}
}

func (f *oauthFixture) event(name string, now time.Time) []partner.Event {
	return []partner.Event{{ID: id.New(id.Event, now), Type: name, BusinessID: f.business, AppID: f.app.ID, Data: []byte("{}"), CreatedAt: now}}
}

// code approves a new request and returns its code.
func (f *oauthFixture) code(t testing.TB) oauthstore.Code {
	t.Helper()
	return f.codeFor(t, allScopes)
}

func (f *oauthFixture) codeFor(t testing.TB, scopes identity.Scopes) oauthstore.Code {
	t.Helper()
	code, _ := f.codeAndDigest(t, scopes)
	return code
}

func (f *oauthFixture) codeAndDigest(t testing.TB, scopes identity.Scopes) (oauthstore.Code, storage.Digest) {
	t.Helper()
	approval := f.approval(f.hold(t, scopes).ID, noon)
	digest := approval.Code.Digest
	approved := get[oauthstore.Approved](t)(f.DecideRequest(t.Context(), approval))
	if approved.Outcome != oauthstore.ApprovalDone {
		t.Fatalf("approval ended with %q", approved.Outcome)
	}
	code, err := f.Code(t.Context(), digest)
	if err != nil || code.AppID != f.app.ID {
		t.Fatalf("the code is of %q: %v", code.AppID, err)
	}
	return code, digest
}

// device creates a device code, approved or not.
func (f *oauthFixture) device(t testing.TB, approved bool) oauthstore.DeviceCode {
	t.Helper()
	digest := secret.New(secret.DeviceCode).Digest()
	d := oauthstore.DeviceCode{ID: id.New(id.Device, noon), UserCode: secret.NewUserCode(), Scopes: allScopes, CreatedAt: noon, ExpiresAt: noon.Add(lifetimes.DeviceCode)}
	d.AppID = f.app.ID
	must(t, f.CreateDevice(t.Context(), d, digest))
	if approved {
		if got := get[oauthstore.Approved](t)(f.DecideDevice(t.Context(), f.approval(d.ID, noon))); got.Outcome != oauthstore.ApprovalDone {
			t.Fatalf("approval ended with %q", got.Outcome)
		}
	}
	return get[oauthstore.DeviceCode](t)(f.Device(t.Context(), digest))
}

// newTokens creates ids and digests for tokens to issue.
func newTokens(now time.Time) oauthstore.NewTokens {
	return oauthstore.NewTokens{
		Now: now, FamilyID: id.New(id.Family, now),
		AccessID: id.New(id.Token, now), AccessDigest: secret.New(secret.AccessToken).Digest(), AccessExpires: now.Add(lifetimes.AccessToken),
		RefreshID: id.New(id.Token, now), RefreshDigest: secret.New(secret.RefreshToken).Digest(), RefreshExpires: now.Add(lifetimes.RefreshToken),
	}
}

// issued redeems a new code.
func (f *oauthFixture) issued(t testing.TB) oauthstore.NewTokens {
	t.Helper()
	m := newTokens(noon)
	if got := get[oauthstore.IssueResult](t)(f.RedeemCode(t.Context(), f.code(t), m)); got.Outcome != oauthstore.Issued {
		t.Fatalf("redemption ended with %q", got.Outcome)
	}
	return m
}

func (f *oauthFixture) refreshToken(t testing.TB, m oauthstore.NewTokens) oauthstore.RefreshToken {
	t.Helper()
	return get[oauthstore.RefreshToken](t)(f.RefreshToken(t.Context(), m.RefreshID, m.RefreshDigest))
}

// isLive reports whether an access token exists and would be taken at noon.
func (f *oauthFixture) isLive(t testing.TB, m oauthstore.NewTokens) bool {
	t.Helper()
	token, err := f.AccessToken(t.Context(), m.AccessID, m.AccessDigest)
	if errors.Is(err, partner.ErrNotFound) {
		return false
	}
	must(t, err)
	return token.IsLive(noon)
}

// canRefresh reports whether a refresh token exists, is unused and alive.
func (f *oauthFixture) canRefresh(t testing.TB, m oauthstore.NewTokens) bool {
	t.Helper()
	token, err := f.RefreshToken(t.Context(), m.RefreshID, m.RefreshDigest)
	if errors.Is(err, partner.ErrNotFound) {
		return false
	}
	must(t, err)
	return !token.Used && token.IsAlive()
}

func (f *oauthFixture) wantLive(t testing.TB, m oauthstore.NewTokens, want bool) {
	t.Helper()
	if access, refresh := f.isLive(t, m), f.canRefresh(t, m); access != want || refresh != want {
		t.Errorf("access token live: %v, refresh token usable: %v; want %v", access, refresh, want)
	}
}

func (f *oauthFixture) end(t testing.TB, status partner.InstallationStatus) error {
	t.Helper()
	return f.endIn(t.Context(), status)
}

func (f *oauthFixture) endIn(ctx context.Context, status partner.InstallationStatus) error {
	return f.endOn(ctx, f, status)
}

func (f *oauthFixture) endOn(ctx context.Context, on partnerkit.Store, status partner.InstallationStatus) error {
	_, err := on.EndInstallation(ctx, oauthstore.EndInstallation{
		AppID: f.app.ID, BusinessID: f.business, Status: status, Now: noon, RedactAt: noon.Add(lifetimes.RedactDelay),
		Record: func(partner.Installation) []partner.Event { return f.event(events.AppUninstalled, noon) },
		Audit:  f.entry(audited.Uninstalled, noon),
	})
	return err
}

// recorded counts the events of a type for the fixture's app in its business.
func (f *oauthFixture) recorded(t testing.TB, name string) int {
	t.Helper()
	number(t, f, f.business)
	q := eventstore.Query{BusinessID: f.business, AppID: f.app.ID, AppTypes: []string{name}, Limit: 1000}
	return len(get[[]partner.Event](t)(f.Events(t.Context(), q)))
}

// purge returns a function that purges a batch of a kind.
func purge(e partnerkit.Store, kind storage.PurgeKind) func(ctx context.Context, before time.Time, limit int) (int, error) {
	return func(ctx context.Context, before time.Time, limit int) (int, error) {
		return e.Purge(ctx, storage.Purge{Kind: kind, Before: before, Limit: limit})
	}
}

// outcome returns an error for an operation that ended other than expected.
func outcome(err error, expected bool) error {
	if err == nil && !expected {
		return errors.New("storetest: the act ended otherwise")
	}
	return err
}

package storetest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

func newCode() oauthstore.NewCode {
	return oauthstore.NewCode{ID: id.New(id.Code, noon), Digest: secret.New(secret.AuthorizationCode).Digest(), ExpiresAt: noon.Add(lifetimes.Code)}
}

func (f *oauthFixture) exchange() oauthstore.Exchange {
	return oauthstore.Exchange{
		TokenID: secret.New(secret.Session).Reveal(), ExpiresAt: noon.Add(time.Minute), AppID: f.app.ID, BusinessID: f.business, UserID: f.user,
	}
}

// oauthCases are the operations of the OAuth server, one at a time.
var oauthCases = []testCase[partnerkit.Store]{
	{"Installations of an app, page by page", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		want := map[string]bool{}
		for i := range 5 {
			in := *f
			in.business = fmt.Sprintf("%s_%d", f.business, i)
			in.code(t) // installs
			want[in.business] = true
		}
		newOAuth(t, e).code(t) // another app
		q := partner.InstallationQuery{AppID: f.app.ID, Limit: 2}
		for _, size := range []int{2, 2, 1, 0} {
			page := get[[]partner.Installation](t)(e.Installations(t.Context(), q))
			if len(page) != size {
				t.Fatalf("a page after %q has %d, want %d", q.After, len(page), size)
			}
			for _, i := range page {
				if i.ID <= q.After || !want[i.BusinessID] {
					t.Errorf("%+v after %q", i, q.After)
				}
				delete(want, i.BusinessID)
				q.After = i.ID
			}
		}
	}},
	{"CON-11 Businesses of an app, each with its newest installation", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for i := range 4 {
			in := *f
			in.business = fmt.Sprintf("%s_%d", f.business, i)
			in.code(t) // installs
			if i%2 == 1 {
				must(t, in.end(t, partner.InstallationRevoked))
			}
			if i == 1 {
				approved := get[oauthstore.Approved](t)(e.DecideRequest(t.Context(), in.approval(in.hold(t, allScopes).ID, noon.Add(time.Second))))
				if !approved.Installed {
					t.Fatalf("%+v", approved)
				}
			}
		}
		newOAuth(t, e).code(t) // another app
		after, listed := "", []string(nil)
		for _, size := range []int{3, 1, 0} {
			page := get[[]partner.Installation](t)(e.BusinessInstallations(t.Context(), f.app.ID, after, 3))
			if len(page) != size {
				t.Fatalf("a page after %q has %d, want %d", after, len(page), size)
			}
			for _, i := range page {
				after = i.BusinessID
				listed = append(listed, strings.TrimPrefix(i.BusinessID, f.business)+" "+string(i.Status)+" "+i.CreatedAt.Sub(noon).String()+" "+i.Scopes.String())
			}
		}
		want := []string{"_0 ACTIVE 0s ", "_1 ACTIVE 1s ", "_2 ACTIVE 0s ", "_3 ACCESS_REVOKED 0s "}
		for i := range want {
			want[i] += allScopes.String()
		}
		if diff := cmp.Diff(want, listed); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}},
	{"Apps come back as they were", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		for _, find := range []func() (partner.App, error){
			func() (partner.App, error) { return e.App(t.Context(), f.app.ID) },
			func() (partner.App, error) { return fixture.AppByClientID(t.Context(), e, f.app.ClientID) },
		} {
			got, err := find()
			if diff := cmp.Diff(f.app, got, cmp.Comparer(identity.Scopes.Equal)); err != nil || diff != "" {
				t.Errorf("%v, (-want +got)\n%s", err, diff)
			}
		}
		for _, scopes := range []identity.Scopes{{}, identity.MustScopes("one"), identity.MustScopes("a&b", "<c>", "d,e", "[f]")} {
			updated := get[partner.App](t)(e.UpdateApp(t.Context(), f.app.ID, func(a partner.App) (partner.App, error) {
				a.Scopes = scopes
				return a, nil
			}))
			if got := get[partner.App](t)(e.App(t.Context(), f.app.ID)); !got.Scopes.Equal(scopes) || !updated.Scopes.Equal(scopes) {
				t.Errorf("scopes %q came back as %q", scopes, got.Scopes)
			}
		}
		if err := fixture.AddApp(t.Context(), e, f.app); !errors.Is(err, oauthstore.ErrTaken) {
			t.Errorf("a second app with the client_id: %v", err)
		}
		if _, err := e.App(t.Context(), "app_absent"); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an absent app: %v", err)
		}
	}},
	// APP-01, APP-02.
	{"Status and secrets of an app", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		second := partner.ClientSecret{ID: id.New(id.Secret, noon.Add(time.Second)), AppID: f.app.ID, Digest: secret.DigestOf("t"), Prefix: "t", CreatedAt: noon}
		must(t, addSecret(t.Context(), e, second))
		client := get[oauthstore.Client](t)(e.Client(t.Context(), f.app.ClientID))
		if len(client.Secrets) != 2 || client.ID != f.app.ID {
			t.Errorf("%d valid secrets of %q", len(client.Secrets), client.ID)
		}
		third := second
		third.ID = id.New(id.Secret, noon.Add(2*time.Second))
		if err := addSecret(t.Context(), e, third); !errors.Is(err, oauthstore.ErrTooManySecrets) {
			t.Errorf("a third secret: %v", err)
		}
		if err := endSecret(t.Context(), e, newOAuth(t, e).app.ID, second.ID); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("ending another app's secret: %v", err)
		}
		must(t, endSecret(t.Context(), e, f.app.ID, second.ID))
		if err := endSecret(t.Context(), e, f.app.ID, second.ID); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("ending a secret twice: %v", err)
		}
		if client = get[oauthstore.Client](t)(e.Client(t.Context(), f.app.ClientID)); len(client.Secrets) != 1 || !client.Secrets[0].Equal(secret.DigestOf("s")) {
			t.Errorf("%d valid secrets after one ended", len(client.Secrets))
		}
		if all := get[[]partner.ClientSecret](t)(e.ClientSecrets(t.Context(), f.app.ID)); len(all) != 2 || all[1].EndedAt != noon {
			t.Errorf("listed %+v", all)
		}
		first := get[[]partner.ClientSecret](t)(e.ClientSecrets(t.Context(), f.app.ID))[0]
		if err := endSecret(t.Context(), e, f.app.ID, first.ID); !errors.Is(err, errLastSecret) {
			t.Errorf("ending the last secret: %v", err)
		}
		must(t, addSecret(t.Context(), e, third)) // an ended one makes room
		third.AppID = "app_absent"
		if err := addSecret(t.Context(), e, third); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("a secret of an absent app: %v", err)
		}
		must(t, fixture.SetAppStatus(t.Context(), e, f.app.ID, partner.AppSuspended))
		must(t, fixture.SetAppStatus(t.Context(), e, f.app.ID, partner.AppActive))
		must(t, fixture.SetAppStatus(t.Context(), e, f.app.ID, partner.AppDeactivated))
		must(t, fixture.SetAppStatus(t.Context(), e, f.app.ID, partner.AppDeactivated))
		if err := fixture.SetAppStatus(t.Context(), e, f.app.ID, partner.AppActive); !errors.Is(err, oauthstore.ErrDeactivated) {
			t.Errorf("reactivating a deactivated app: %v", err)
		}
		if err := fixture.SetAppStatus(t.Context(), e, "app_absent", partner.AppActive); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an absent app: %v", err)
		}
	}},
	// CIMD-02: a document changes what it may, and nothing else.
	{"Apps of documents", func(t *testing.T, e partnerkit.Store) {
		app := partner.App{ID: id.New(id.App, noon), ClientID: "https://c.example/" + secret.NewUserCode(), Type: partner.Public, Status: partner.AppActive,
			Origin: partner.OriginDocument, Name: "one", RedirectURIs: []string{"https://c.example/cb"}, Scopes: allScopes, CreatedAt: noon, DocumentFetchedAt: noon}
		first := get[partner.App](t)(e.SaveDocumentApp(t.Context(), app))
		must(t, fixture.SetAppStatus(t.Context(), e, first.ID, partner.AppSuspended))
		again := app
		again.ID, again.Name, again.DocumentFetchedAt = id.New(id.App, noon), "two", noon.Add(time.Hour)
		saved := get[partner.App](t)(e.SaveDocumentApp(t.Context(), again))
		if saved.ID != first.ID || saved.Name != "two" || saved.Status != partner.AppSuspended || saved.DocumentFetchedAt != noon.Add(time.Hour) {
			t.Errorf("saved %+v", saved)
		}
		older := again
		older.Name, older.DocumentFetchedAt = "late", noon
		if kept := get[partner.App](t)(e.SaveDocumentApp(t.Context(), older)); kept.Name != "two" {
			t.Errorf("an older document won: %+v", kept)
		}
		f := newOAuth(t, e)
		again.ClientID = f.app.ClientID
		if kept := get[partner.App](t)(e.SaveDocumentApp(t.Context(), again)); kept.Name != f.app.Name || kept.Origin != partner.OriginConsole {
			t.Errorf("a registered app became %+v", kept)
		}
	}},
	// AZ-13: union of scopes, events only for what changed.
	{"Approvals add up", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		f.codeFor(t, identity.MustScopes("invoices:read"))
		first := get[partner.Installation](t)(activeInstallation(e)(t.Context(), f.app.ID, f.business))
		f.codeFor(t, identity.MustScopes("events:read"))
		f.codeFor(t, identity.MustScopes("events:read"))
		second := get[partner.Installation](t)(activeInstallation(e)(t.Context(), f.app.ID, f.business))
		if second.ID != first.ID || !second.Scopes.Equal(identity.MustScopes("invoices:read", "events:read")) {
			t.Errorf("installation %s has %v", second.ID, second.Scopes)
		}
		if i, u := f.recorded(t, events.AppInstalled), f.recorded(t, events.AppScopesUpdated); i != 1 || u != 1 {
			t.Errorf("%d installed, %d updated", i, u)
		}
		if all := get[[]partner.Installation](t)(e.Installations(t.Context(), partner.InstallationQuery{BusinessID: f.business})); len(all) != 1 {
			t.Errorf("%d installations", len(all))
		}
	}},
	{"Refused approvals leave nothing", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		request := f.hold(t, allScopes)
		tests := map[oauthstore.ApprovalOutcome]func(a *oauthstore.Decision){
			oauthstore.ApprovalNotOpen: func(a *oauthstore.Decision) { a.Now = request.ExpiresAt },
			oauthstore.ApprovalUnreviewed: func(a *oauthstore.Decision) {
				a.Check = func(partner.App) oauthstore.ApprovalOutcome { return oauthstore.ApprovalUnreviewed }
			},
			oauthstore.ApprovalFull: func(a *oauthstore.Decision) {
				a.MaxConnections = 1
				f.connectTo(t, "biz_first of "+f.business)
			},
			oauthstore.ApprovalUserDead: func(a *oauthstore.Decision) {
				a.UserID = "usr_suspended"
				must(t, e.SetUserStatus(t.Context(), "usr_suspended", identity.UserSuspended, noon))
			},
		}
		for want, change := range tests {
			a := f.approval(request.ID, noon)
			change(&a)
			if got := get[oauthstore.Approved](t)(e.DecideRequest(t.Context(), a)); got.Outcome != want {
				t.Errorf("outcome %q, want %q", got.Outcome, want)
			}
		}
		if _, err := activeInstallation(e)(t.Context(), f.app.ID, f.business); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an installation after refusals: %v", err)
		}
		held := get[oauthstore.AuthorizationRequest](t)(e.Request(t.Context(), request.Digest))
		if diff := cmp.Diff(request, held, cmp.Comparer(identity.Scopes.Equal)); diff != "" {
			t.Errorf("the request changed (-want +got)\n%s", diff)
		}
		must(t, denied(e.DecideRequest(t.Context(), f.denial(request.ID, request.ExpiresAt.Add(-time.Millisecond)))))
		if got := get[oauthstore.Approved](t)(e.DecideRequest(t.Context(), f.approval(request.ID, noon))); got.Outcome != oauthstore.ApprovalNotOpen {
			t.Errorf("a denied request: %q", got.Outcome)
		}
	}},
	{"AN-03 Connections are counted by business, own sandboxes apart", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		approve := func(business string, isSandbox bool) oauthstore.ApprovalOutcome {
			a := f.approval(f.hold(t, allScopes).ID, noon)
			a.BusinessID, a.OwnSandbox, a.MaxConnections = business, isSandbox, 2
			return get[oauthstore.Approved](t)(e.DecideRequest(t.Context(), a)).Outcome
		}
		other := newOAuth(t, e)
		other.codeFor(t, allScopes) // the connections of another app do not count
		for i, step := range []struct {
			business  string
			isSandbox bool
			want      oauthstore.ApprovalOutcome
		}{
			{"biz_a", false, oauthstore.ApprovalDone}, {"biz_sandbox", true, oauthstore.ApprovalDone}, {"biz_b", false, oauthstore.ApprovalDone},
			{"biz_c", false, oauthstore.ApprovalFull}, {"biz_a", false, oauthstore.ApprovalDone}, {"biz_sandbox_2", true, oauthstore.ApprovalDone},
			{"biz_sandbox", false, oauthstore.ApprovalDone}, // connected already, although it is no sandbox any more
			{"biz_c", false, oauthstore.ApprovalFull},
		} {
			if got := approve(step.business, step.isSandbox); got != step.want {
				t.Errorf("step %d, %s: %q, want %q", i, step.business, got, step.want)
			}
		}
		if _, err := e.EndInstallation(t.Context(), oauthstore.EndInstallation{AppID: f.app.ID, BusinessID: "biz_a", Status: partner.InstallationRevoked, Now: noon, Record: func(partner.Installation) []partner.Event { return nil }}); err != nil {
			t.Fatal(err)
		}
		if got := approve("biz_c", false); got != oauthstore.ApprovalDone {
			t.Errorf("after one has ended: %q", got)
		}
		if got := approve("biz_a", false); got != oauthstore.ApprovalFull {
			t.Errorf("the one that has ended: %q", got)
		}
	}},
	// INST-02: the dead never wake up.
	{"Connecting again is a new installation", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		old := f.issued(t)
		code, device := f.code(t), f.device(t, true)
		must(t, f.end(t, partner.InstallationRemoved))
		if err := f.end(t, partner.InstallationRemoved); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("a second uninstall: %v", err)
		}
		fresh := f.issued(t)
		f.wantLive(t, old, false)
		f.wantLive(t, fresh, true)
		if got := get[oauthstore.IssueResult](t)(e.RedeemCode(t.Context(), code, newTokens(noon))); got.Outcome != oauthstore.Dead {
			t.Errorf("an old code: %q", got.Outcome)
		}
		if got := get[oauthstore.IssueResult](t)(e.CollectDevice(t.Context(), device, newTokens(noon))); got.Outcome != oauthstore.Dead {
			t.Errorf("an old device code: %q", got.Outcome)
		}
		if n := f.recorded(t, events.AppUninstalled); n != 1 {
			t.Errorf("%d app.uninstalled", n)
		}
	}},
	// INST-05: 48 hours later, once, unless connected again.
	{"Redaction is due once", func(t *testing.T, e partnerkit.Store) {
		gone, back := newOAuth(t, e), newOAuth(t, e)
		for _, f := range []*oauthFixture{gone, back} {
			f.issued(t)
			must(t, f.end(t, partner.InstallationRemoved))
		}
		back.issued(t)
		redact := func(now time.Time) int {
			return get[int](t)(e.RecordRedactions(t.Context(), now, 10, func(i partner.Installation) []partner.Event {
				return []partner.Event{{ID: id.New(id.Event, now), Type: events.BusinessRedact, BusinessID: i.BusinessID, AppID: i.AppID, Data: []byte("{}"), CreatedAt: now}}
			}))
		}
		due := noon.Add(lifetimes.RedactDelay)
		if n := redact(due.Add(-time.Millisecond)); n != 0 {
			t.Errorf("%d timers early", n)
		}
		testdb.Race(4, func(int) { redact(due) })
		if g, b := gone.recorded(t, events.BusinessRedact), back.recorded(t, events.BusinessRedact); g != 1 || b != 0 {
			t.Errorf("%d for the one that left, %d for the one that came back", g, b)
		}
	}},
	// DEV-04: the interval counts from the last poll that was not too fast.
	{"Polls of a device code", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		device := f.device(t, false)
		for _, poll := range []struct {
			at   time.Duration
			want bool
		}{{0, true}, {4999 * time.Millisecond, false}, {5 * time.Second, true}, {9 * time.Second, false}, {10 * time.Second, true}} {
			if got := get[bool](t)(e.PollDevice(t.Context(), device.ID, noon.Add(poll.at), lifetimes.DeviceInterval)); got != poll.want {
				t.Errorf("poll at %v counted: %v", poll.at, got)
			}
		}
		if got := get[oauthstore.DeviceCode](t)(e.DeviceByUserCode(t.Context(), device.UserCode)); got.ID != device.ID || got.Status != oauthstore.DevicePending {
			t.Errorf("by its user code: %+v", got)
		}
		again := device
		again.ID = id.New(id.Device, noon)
		if err := e.CreateDevice(t.Context(), again, secret.New(secret.DeviceCode).Digest()); !errors.Is(err, oauthstore.ErrTaken) {
			t.Errorf("a second device with the user code: %v", err)
		}
	}},
	// REG-05: a registration token is used once.
	{"Registration tokens", func(t *testing.T, e partnerkit.Store) {
		digest := secret.New(secret.RegistrationToken).Digest()
		must(t, e.CreateRegistrationToken(t.Context(), oauthstore.RegistrationToken{ID: id.New(id.RegistrationToken, noon), Digest: digest, OrganizationID: "org_7", CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}))
		register := func(now time.Time) (partner.App, error) {
			app := partner.App{ID: id.New(id.App, now), ClientID: id.New(id.Client, now), Type: partner.Public, Status: partner.AppActive, Origin: partner.OriginRegistered, Scopes: allScopes, CreatedAt: now}
			return e.RegisterApp(t.Context(), oauthstore.Registration{App: app, Token: &digest, Now: now})
		}
		if _, err := register(noon.Add(time.Hour)); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("an expired token: %v", err)
		}
		app := get[partner.App](t)(register(noon))
		if stored := get[partner.App](t)(e.App(t.Context(), app.ID)); stored.OrganizationID != "org_7" {
			t.Errorf("registered for %q", stored.OrganizationID)
		}
		if _, err := register(noon); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("a used token: %v", err)
		}
	}},
	// CON-12.
	{"An organization has only so many apps", func(t *testing.T, e partnerkit.Store) {
		const most = 3
		register := func(organizationID string, token *storage.Digest) (partner.App, error) {
			app := partner.App{ID: id.New(id.App, noon), ClientID: id.New(id.Client, noon), Type: partner.Public, Status: partner.AppActive, Origin: partner.OriginConsole, OrganizationID: organizationID, Scopes: allScopes, CreatedAt: noon}
			return e.RegisterApp(t.Context(), oauthstore.Registration{App: app, Token: token, Now: noon, MaxApps: most})
		}
		for round := range rounds() {
			organizationID := fmt.Sprint("org_", round)
			var mu sync.Mutex
			var added []partner.App
			full := 0
			testdb.Race(contenders, func(i int) {
				var token *storage.Digest
				if i%2 == 0 {
					digest := secret.New(secret.RegistrationToken).Digest()
					if err := e.CreateRegistrationToken(t.Context(), oauthstore.RegistrationToken{ID: id.New(id.RegistrationToken, noon), Digest: digest, OrganizationID: organizationID, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}); err != nil {
						t.Error(err)
					}
					token = &digest
				}
				app, err := register(organizationID, token)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					added = append(added, app)
				case errors.Is(err, oauthstore.ErrTooManyApps):
					full++
				default:
					t.Error(err)
				}
			})
			if len(added) != most || full != contenders-most {
				t.Fatalf("%d apps of %d were added, %d refused", len(added), most, full)
			}
			get[partner.App](t)(register("", nil)) // of no organization
			must(t, fixture.SetAppStatus(t.Context(), e, added[0].ID, partner.AppSuspended))
			if _, err := register(organizationID, nil); !errors.Is(err, oauthstore.ErrTooManyApps) {
				t.Errorf("a suspended app does not count: %v", err)
			}
			must(t, fixture.SetAppStatus(t.Context(), e, added[0].ID, partner.AppDeactivated))
			get[partner.App](t)(register(organizationID, nil))
		}
	}},
	// META-04: if several nodes rotate at once, exactly one adds a key.
	{"Signing keys", func(t *testing.T, e partnerkit.Store) {
		add := func(after string) int {
			added := make(chan string, 8)
			testdb.Race(8, func(int) {
				key := oauthstore.SigningKey{ID: id.New(id.SigningKey, noon), Sealed: []byte("sealed"), CreatedAt: noon, ActiveAt: noon}
				switch err := e.AddSigningKey(t.Context(), key, after, noon.Add(time.Hour)); {
				case err == nil:
					added <- key.ID
				case !errors.Is(err, partner.ErrNotFound):
					t.Error(err)
				}
			})
			return len(added)
		}
		if n := add(""); n != 1 {
			t.Fatalf("%d first keys", n)
		}
		keys := get[[]oauthstore.SigningKey](t)(e.SigningKeys(t.Context(), noon))
		if n := add(keys[0].ID); n != 1 {
			t.Errorf("%d rotations", n)
		}
		if keys = get[[]oauthstore.SigningKey](t)(e.SigningKeys(t.Context(), noon)); len(keys) != 2 {
			t.Errorf("%d keys", len(keys))
		}
		if keys = get[[]oauthstore.SigningKey](t)(e.SigningKeys(t.Context(), noon.Add(time.Hour))); len(keys) != 1 {
			t.Errorf("%d keys after one retired", len(keys))
		}
		for _, was := range []string{"sealed", "sealed", "another"} { // the first one fits
			must(t, e.ResealSigningKey(t.Context(), keys[0].ID, []byte(was), []byte("resealed")))
		}
		must(t, e.ResealSigningKey(t.Context(), keys[0].ID, []byte("sealed"), []byte("late")))
		if keys = get[[]oauthstore.SigningKey](t)(e.SigningKeys(t.Context(), noon.Add(time.Hour))); string(keys[0].Sealed) != "resealed" {
			t.Errorf("resealed: %q", keys[0].Sealed)
		}
	}},
	// TOK-11: each kind of row is purged when it has expired for long enough, not before.
	{"TOK-11 Purging", func(t *testing.T, e partnerkit.Store) {
		f := newOAuth(t, e)
		m := f.issued(t)
		f.device(t, false)
		x := f.exchange()
		get[oauthstore.IssueResult](t)(e.ExchangeSession(t.Context(), x, newTokens(noon)))
		const day = 24 * time.Hour
		for _, step := range []struct {
			after time.Duration
			want  int
			what  string
		}{
			{35 * time.Minute, 0, "before a request is old enough"},
			{35*time.Minute + time.Second, 1, "30 minutes after a request"}, // AZ-17
			{day + time.Hour, 0, "before access tokens are old enough"},
			{day + time.Hour + time.Second, 2, "one day after access tokens"},
			{30*day + time.Minute, 0, "before a session token is old enough"},
			{30*day + time.Minute + time.Second, 1, "30 days after a session token"},
			{30*day + 10*time.Minute, 0, "before codes are old enough"},
			{30*day + 10*time.Minute + time.Second, 2, "30 days after a code and a device code"},
			{120 * day, 0, "before refresh tokens are old enough"},
		} {
			if n := purgeAll(t, e, noon.Add(step.after), 1); n != step.want {
				t.Errorf("%s: %d rows, want %d", step.what, n, step.want)
			}
		}
		if !f.canRefresh(t, m) {
			t.Error("a purge took a refresh token that it should keep")
		}
		if n := purgeAll(t, e, noon.Add(120*day+time.Second), 1); n != 4 { // two refresh tokens and their families
			t.Errorf("%d rows 90 days after refresh tokens", n)
		}
		if _, err := e.RefreshToken(t.Context(), m.RefreshID, m.RefreshDigest); !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("the refresh token after purging: %v", err)
		}
	}},
}

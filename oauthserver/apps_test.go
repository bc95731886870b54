package oauthserver_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

func validApp() oauthserver.NewApp {
	return oauthserver.NewApp{
		Name: "Sync", Type: partner.Confidential, OrganizationID: "org_1",
		RedirectURIs: []string{apiRedirect}, Scopes: identity.MustScopes("invoices:read"),
	}
}

// CON-08: an app is refused with everything that is wrong with it.
func TestCreateAppValidates(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	tests := map[string]struct {
		change func(*oauthserver.NewApp)
		want   []string
	}{
		"valid":    {func(*oauthserver.NewApp) {}, nil},
		"a query":  {func(a *oauthserver.NewApp) { a.RedirectURIs = []string{apiRedirect + "?a=b"} }, nil},
		"loopback": {func(a *oauthserver.NewApp) { a.RedirectURIs = []string{"http://127.0.0.1:80/cb", "http://[::1]/cb"} }, nil},
		"CON-08 ports": {func(a *oauthserver.NewApp) {
			a.RedirectURIs = []string{"http://127.0.0.1:0/cb", "http://localhost:05000/cb", "http://[::1]:99999/cb", "https://app.example.com:0443/cb", "http://127.0.0.1:65535/cb"}
		}, []string{"redirectUris[0] has no valid port", "redirectUris[1] has no valid port", "redirectUris[2] has no valid port", "redirectUris[3] has no valid port"}},
		"more than five":   {func(a *oauthserver.NewApp) { a.RedirectURIs = strings.Fields(strings.Repeat(apiRedirect+" ", 6)) }, nil},
		"a private scheme": {func(a *oauthserver.NewApp) { a.RedirectURIs = []string{"com.example.app:/cb"} }, []string{"redirectUris[0] is not https"}},
		"a private scheme of a PUBLIC app": {func(a *oauthserver.NewApp) {
			a.Type, a.RedirectURIs = partner.Public, []string{"com.example.app:/cb"}
		}, nil},
		"a name that hides something": {func(a *oauthserver.NewApp) { a.Name = "Sync\u202eknab" }, []string{"name must not have the character U+202E, which cannot be seen"}},
		"everything": {func(a *oauthserver.NewApp) {
			*a = oauthserver.NewApp{Name: strings.Repeat("n", 121), RedirectURIs: []string{"http://example.com/", apiRedirect + "#f"}, Scopes: identity.MustScopes("internal:admin")}
		}, []string{
			"name must have 1 to 120 characters", "type must be CONFIDENTIAL or PUBLIC", "redirectUris[0] is not https, nor http on loopback",
			"redirectUris[1] has a fragment", "scopes: unknown scope: internal:admin",
		}},
		"nothing": {func(a *oauthserver.NewApp) { *a = oauthserver.NewApp{Type: partner.Public} }, []string{
			"name must have 1 to 120 characters", "redirectUris must have at least one entry", "scopes must have at least one entry",
		}},
	}
	for name, test := range tests {
		app := validApp()
		test.change(&app)
		_, err := k.OAuth.CreateApp(t.Context(), app)
		var invalid *apierror.Error
		var got []string
		if errors.As(err, &invalid) {
			got = invalid.Messages()
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// APP-02: a developer moves from one secret to the next without an outage.
func TestSecretsOverlap(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	created, err := k.OAuth.CreateApp(t.Context(), validApp())
	k.Must(err)
	second, record, err := k.OAuth.AddClientSecret(t.Context(), created.App.ID)
	k.Must(err)
	if !strings.HasPrefix(second, record.Prefix) || len(record.Prefix) > 12 {
		t.Errorf("the prefix of the record is %q", record.Prefix)
	}
	status := func(secret string) int {
		return k.post("/oauth/device/authorize", withBasic(created.App.ClientID, secret)).Status
	}
	if a, b := status(created.Secret), status(second); a != http.StatusOK || b != http.StatusOK {
		t.Errorf("with two valid secrets: %d and %d", a, b)
	}
	secrets, err := k.Store.ClientSecrets(t.Context(), created.App.ID)
	k.Must(err)
	for _, s := range secrets {
		if s.ID != record.ID {
			k.Must(k.OAuth.EndClientSecret(t.Context(), created.App.ID, s.ID))
		}
	}
	if a, b := status(created.Secret), status(second); a != http.StatusUnauthorized || b != http.StatusOK {
		t.Errorf("after the first ended: %d and %d", a, b)
	}
	if err := k.OAuth.EndClientSecret(t.Context(), created.App.ID, record.ID); !apierror.HasCode(err, codes.LastSecret.Code) {
		t.Errorf("ending the last one: %v", err)
	}
	_, _, err = k.OAuth.AddClientSecret(t.Context(), created.App.ID)
	k.Must(err)
	if _, _, err := k.OAuth.AddClientSecret(t.Context(), created.App.ID); !apierror.HasCode(err, codes.SecretLimitReached.Code) {
		t.Errorf("a third one: %v", err)
	}
	if _, _, err := k.OAuth.AddClientSecret(t.Context(), k.app(publicID).ID); !apierror.HasCode(err, codes.PublicAppHasNoSecrets.Code) {
		t.Errorf("of a PUBLIC app: %v", err)
	}
	if _, _, err := k.OAuth.AddClientSecret(t.Context(), "app_absent"); !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("an absent app: %v", err)
	}
}

// CON-08, APP-01: a change is held to the rules of an app, leaves alone what it
// does not name, and comes too late for an app that was deactivated.
func TestUpdateApp(t *testing.T) {
	t.Parallel()
	k := newAPIHarness(t)
	created, err := k.OAuth.CreateApp(t.Context(), validApp())
	k.Must(err)
	want := created.App
	want.Name, want.AppURL = "Sync 2", "https://partner.example/embedded"
	got, err := k.OAuth.UpdateApp(t.Context(), created.App.ID, oauthserver.AppChange{Name: &want.Name, AppURL: &want.AppURL})
	k.Must(err)
	want.Version++
	same := cmp.Options{cmp.Comparer(identity.Scopes.Equal), cmpopts.EquateApproxTime(time.Millisecond)}
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	scopes := identity.MustScopes("internal:admin")
	_, err = k.OAuth.UpdateApp(t.Context(), created.App.ID, oauthserver.AppChange{
		Name: new(string), RedirectURIs: &[]string{"com.example.app:/cb"}, Scopes: &scopes,
	})
	var invalid *apierror.Error
	if !errors.As(err, &invalid) || len(invalid.Messages()) != 3 {
		t.Errorf("a wrong change: %v", err)
	}
	k.Must(k.OAuth.SetAppStatus(t.Context(), created.App.ID, partner.AppDeactivated))
	if _, err := k.OAuth.UpdateApp(t.Context(), created.App.ID, oauthserver.AppChange{Name: &want.Name}); !apierror.HasCode(err, codes.AppDeactivated.Code) {
		t.Errorf("a deactivated app: %v", err)
	}
	if _, err := k.OAuth.UpdateApp(t.Context(), "app_absent", oauthserver.AppChange{}); !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("an absent app: %v", err)
	}
}

package oauthserver_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

func validApp() oauthserver.NewApp {
	return oauthserver.NewApp{
		Name: "Sync", Type: oauthserver.Confidential, OrganizationID: "org_1",
		RedirectURIs: []string{apiRedirect}, Scopes: identity.MustScopes("invoices:read"),
	}
}

// CON-08: an app is refused with everything that is wrong with it.
func TestCreateAppValidates(t *testing.T) {
	t.Parallel()
	k := newAPIKit(t)
	tests := map[string]struct {
		change func(*oauthserver.NewApp)
		want   []string
	}{
		"valid":            {func(*oauthserver.NewApp) {}, nil},
		"a query":          {func(a *oauthserver.NewApp) { a.RedirectURIs = []string{apiRedirect + "?a=b"} }, nil},
		"loopback":         {func(a *oauthserver.NewApp) { a.RedirectURIs = []string{"http://127.0.0.1:80/cb", "http://[::1]/cb"} }, nil},
		"more than five":   {func(a *oauthserver.NewApp) { a.RedirectURIs = strings.Fields(strings.Repeat(apiRedirect+" ", 6)) }, nil},
		"a private scheme": {func(a *oauthserver.NewApp) { a.RedirectURIs = []string{"com.example.app:/cb"} }, []string{"redirectUris[0] is not https"}},
		"a private scheme of a PUBLIC app": {func(a *oauthserver.NewApp) {
			a.Type, a.RedirectURIs = oauthserver.Public, []string{"com.example.app:/cb"}
		}, nil},
		"everything": {func(a *oauthserver.NewApp) {
			*a = oauthserver.NewApp{Name: strings.Repeat("n", 121), RedirectURIs: []string{"http://example.com/", apiRedirect + "#f"}, Scopes: identity.MustScopes("internal:admin")}
		}, []string{
			"name must have 1 to 120 characters", "type must be CONFIDENTIAL or PUBLIC", "redirectUris[0] is not https, nor http on loopback",
			"redirectUris[1] has a fragment", "scopes: unknown scope: internal:admin",
		}},
		"nothing": {func(a *oauthserver.NewApp) { *a = oauthserver.NewApp{Type: oauthserver.Public} }, []string{
			"name must have 1 to 120 characters", "redirectUris must have at least one entry", "scopes must have at least one entry",
		}},
	}
	for name, test := range tests {
		app := validApp()
		test.change(&app)
		_, err := k.server.CreateApp(t.Context(), app)
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
	k := newAPIKit(t)
	created, err := k.server.CreateApp(t.Context(), validApp())
	k.must(err)
	second, record, err := k.server.AddClientSecret(t.Context(), created.App.ID)
	k.must(err)
	if !strings.HasPrefix(second, record.Prefix) || len(record.Prefix) > 12 {
		t.Errorf("the prefix of the record is %q", record.Prefix)
	}
	status := func(secret string) int {
		return k.post("/oauth/device/authorize", withBasic(created.App.ClientID, secret)).status
	}
	if a, b := status(created.Secret), status(second); a != http.StatusOK || b != http.StatusOK {
		t.Errorf("with two valid secrets: %d and %d", a, b)
	}
	secrets, err := k.store.ClientSecrets(t.Context(), created.App.ID)
	k.must(err)
	for _, s := range secrets {
		if s.ID != record.ID {
			k.must(k.server.EndClientSecret(t.Context(), created.App.ID, s.ID))
		}
	}
	if a, b := status(created.Secret), status(second); a != http.StatusUnauthorized || b != http.StatusOK {
		t.Errorf("after the first ended: %d and %d", a, b)
	}
	if _, _, err := k.server.AddClientSecret(t.Context(), k.app(publicID).ID); err == nil {
		t.Error("a PUBLIC app got a secret")
	}
	if _, _, err := k.server.AddClientSecret(t.Context(), "app_absent"); !errors.Is(err, oauthserver.ErrNotFound) {
		t.Errorf("an absent app: %v", err)
	}
}

package partnerkit_test

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/bcrypt"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/partnertest"
)

// hydraClient is a row of hydra_client, and hydraToken one of hydra_oauth2_refresh, as their
// columns are named.
type hydraClient struct {
	ID           string    `json:"id"`
	Name         string    `json:"client_name"`
	Secret       string    `json:"client_secret"`
	RedirectURIs []string  `json:"redirect_uris"`
	Scope        string    `json:"scope"`
	Owner        string    `json:"owner"`
	Method       string    `json:"token_endpoint_auth_method"`
	CreatedAt    time.Time `json:"created_at"`
}

type hydraToken struct {
	Signature    string    `json:"signature"`
	ClientID     string    `json:"client_id"`
	GrantedScope string    `json:"granted_scope"`
	Subject      string    `json:"subject"`
	Active       bool      `json:"active"`
	ExpiresAt    time.Time `json:"expires_at"`
}

// hydraClients are clients whose secret is "s3cret", by the hashes that there are.
func hydraClients(t *testing.T) []hydraClient {
	t.Helper()
	slow, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	key, err := pbkdf2.Key(sha256.New, "s3cret", []byte("some salt of it"), 25_000, 32)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawStdEncoding.EncodeToString
	plain := sha256.Sum256([]byte("s3cret"))
	rows := fmt.Sprintf(`[
		{"id": "hydra-bcrypt", "client_name": "Ledger", "client_secret": %q, "redirect_uris": ["https://ledger.example/cb"], "scope": "invoices:read", "owner": "org_1", "token_endpoint_auth_method": "client_secret_basic", "created_at": "2024-05-01T10:00:00Z"},
		{"id": "hydra-pbkdf2", "client_name": "Sync", "client_secret": "$pbkdf2-sha256$i=25000,l=32$%s$%s", "redirect_uris": ["https://sync.example/cb"], "scope": "invoices:read customers:read", "owner": "org_1", "token_endpoint_auth_method": "client_secret_post", "created_at": "2024-05-02T10:00:00Z"},
		{"id": "hydra-sha", "client_name": "Sums", "client_secret": %q, "redirect_uris": ["https://sums.example/cb"], "scope": "invoices:read", "owner": "org_2", "token_endpoint_auth_method": "client_secret_basic", "created_at": "2024-05-03T10:00:00Z"},
		{"id": "hydra-public", "client_name": "Phone", "client_secret": "", "redirect_uris": ["https://phone.example/cb"], "scope": "invoices:read", "owner": "org_2", "token_endpoint_auth_method": "none", "created_at": "2024-05-03T10:00:00Z"}]`,
		slow, encode([]byte("some salt of it")), encode(key), hex.EncodeToString(plain[:]))
	var all []hydraClient
	if err := json.Unmarshal([]byte(rows), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// tokenRequest sends a form to the token endpoint as a client with a secret.
func tokenRequest(t *testing.T, h *partnertest.Harness, as partnertest.App, form url.Values) *partnertest.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, h.APIURL+"/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(as.ClientID, as.ClientSecret)
	return partnertest.Serve(t, h.API(), r)
}

func importedApps(clients []hydraClient) (all []oauthserver.ImportedApp) {
	for _, c := range clients {
		app := oauthserver.ImportedApp{
			ClientID: c.ID, Type: partner.Confidential, Name: c.Name, OrganizationID: c.Owner, RedirectURIs: c.RedirectURIs,
			Scopes: identity.MustScopes(strings.Fields(c.Scope)...), CreatedAt: c.CreatedAt,
		}
		if app.Secrets = []string{c.Secret}; c.Method == "none" {
			app.Type, app.Secrets = partner.Public, nil
		}
		all = append(all, app)
	}
	return all
}

// MIG-01: apps keep their client ids and secrets, an import can be repeated, and it revives
// nothing that has ended.
func TestImport_MIG01(t *testing.T) {
	t.Parallel()
	h := partnertest.New(t)
	read := identity.MustScopes("invoices:read")
	batch := oauthserver.Import{Apps: importedApps(hydraClients(t))}
	for _, app := range batch.Apps {
		batch.Installations = append(batch.Installations, oauthserver.ImportedInstallation{ClientID: app.ClientID, BusinessID: partnertest.Business, Scopes: read})
		batch.Consents = append(batch.Consents, oauthserver.ImportedConsent{ClientID: app.ClientID, BusinessID: partnertest.Business, UserID: partnertest.User, Scopes: read})
	}
	report, err := h.Import(t.Context(), batch)
	if err != nil || report.Apps != 4 || report.Installations != 4 || report.Consents != 4 || len(report.Skipped) != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, id := range []string{"hydra-bcrypt", "hydra-pbkdf2", "hydra-sha"} {
		t.Run("MIG-01 "+id, func(t *testing.T) {
			app := partnertest.App{ClientID: id, ClientSecret: "wrong"}
			tokenRequest(t, h, app, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}).Want(http.StatusUnauthorized)
			app.ClientSecret = "s3cret"
			for range 2 { // by the foreign digest, and by ours
				tokenRequest(t, h, app, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"x"}}).Want(http.StatusBadRequest)
			}
			client, err := h.Store.Client(t.Context(), id)
			digest := sha256.Sum256([]byte("s3cret"))
			if err != nil || len(client.Secrets) != 1 || client.Secrets[0] != digest {
				t.Errorf("the digest is not replaced: %v", err)
			}
			if left, err := h.Store.ForeignSecrets(t.Context(), client.ID); err != nil || len(left) != 0 {
				t.Errorf("foreign digests are left: %v, %v", left, err)
			}
		})
	}
	client, err := h.Store.Client(t.Context(), "hydra-sha")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.OAuth().RevokeConsent(t.Context(), client.ID, partnertest.Business, partnertest.User); err != nil {
		t.Fatal(err)
	}
	if client, err = h.Store.Client(t.Context(), "hydra-pbkdf2"); err != nil {
		t.Fatal(err)
	}
	if err := h.OAuth().Uninstall(t.Context(), client.ID, partnertest.Business, ""); err != nil {
		t.Fatal(err)
	}
	report, err = h.Import(t.Context(), batch)
	if err != nil || report.Apps+report.Installations+report.Consents != 0 || len(report.Skipped) != 12 {
		t.Errorf("again: %+v, %v", report, err)
	}
	reasons := map[string]string{}
	for _, one := range report.Skipped {
		reasons[one.Kind+" "+one.ClientID] = one.Reason
	}
	for what, want := range map[string]string{
		"app hydra-sha": "exists already", "installation hydra-bcrypt": "exists already", "consent hydra-bcrypt": "exists already",
		"installation hydra-pbkdf2": "has ended", "consent hydra-sha": "has ended", "consent hydra-pbkdf2": "what it belongs to does not exist, or has ended",
	} {
		if reasons[what] != want {
			t.Errorf("%s: %q, want %q", what, reasons[what], want)
		}
	}
	expensive := fmt.Sprintf("$pbkdf2-sha256$i=600001,l=32$%s$%s", base64.RawStdEncoding.EncodeToString([]byte("salt")), base64.RawStdEncoding.EncodeToString(make([]byte, 32)))
	for problem, change := range map[string]func(*oauthserver.ImportedApp){
		"not be a URL":        func(a *oauthserver.ImportedApp) { a.ClientID = "https://client.example/" },
		"at most 600000":      func(a *oauthserver.ImportedApp) { a.Secrets = []string{expensive} },
		"at most 12":          func(a *oauthserver.ImportedApp) { a.Secrets = []string{"$2a$13$" + strings.Repeat("a", 53)} },
		"must be SHA-256":     func(a *oauthserver.ImportedApp) { a.Secrets = []string{"s3cret"} },
		"none for a PUBLIC":   func(a *oauthserver.ImportedApp) { a.Type = partner.Public },
		"1 to 120 characters": func(a *oauthserver.ImportedApp) { a.Name = "" },
	} {
		app := batch.Apps[0]
		app.ClientID = "another"
		change(&app)
		report, err := h.Import(t.Context(), oauthserver.Import{Apps: []oauthserver.ImportedApp{app}})
		if err != nil || len(report.Skipped) != 1 || !strings.Contains(report.Skipped[0].Reason, problem) {
			t.Errorf("%q: %+v, %v", problem, report, err)
		}
	}
}

// MIG-02: a live refresh token of the other server starts a family, once, and presenting it again
// ends the family. While the host fails the answer is a 5xx and the token stays as it was.
func TestForeignRefreshTokens_MIG02(t *testing.T) {
	t.Parallel()
	var fails atomic.Bool
	tokens := map[string]hydraToken{
		"live":    {ClientID: "hydra-sha", GrantedScope: "invoices:read", Subject: partnertest.User, Active: true},
		"used":    {ClientID: "hydra-sha", GrantedScope: "invoices:read", Subject: partnertest.User},
		"raced":   {ClientID: "hydra-sha", GrantedScope: "invoices:read", Subject: partnertest.User, Active: true},
		"another": {ClientID: "hydra-bcrypt", GrantedScope: "invoices:read", Subject: partnertest.User, Active: true},
		"nobody":  {ClientID: "hydra-sha", GrantedScope: "invoices:read", Subject: "usr_nobody", Active: true},
		"old":     {ClientID: "hydra-sha", GrantedScope: "invoices:read", Subject: partnertest.User, Active: true, ExpiresAt: time.Unix(1, 0)},
	}
	var h *partnertest.Harness
	notifier := &told{}
	h = partnertest.New(t, func(c *partnerkit.Config) {
		c.Notifier = notifier
		c.OAuth.ForeignRefreshTokens = func(_ context.Context, asked oauthserver.ForeignToken) (oauthserver.ForeignGrant, bool, error) {
			if fails.Load() {
				return oauthserver.ForeignGrant{}, false, errors.New("down")
			}
			signature, ok := strings.CutPrefix(asked.Token, "ory_rt_")
			row := tokens[signature]
			if !ok || !row.Active || row.ClientID != asked.ClientID {
				return oauthserver.ForeignGrant{}, false, nil
			}
			if row.ExpiresAt.IsZero() {
				row.ExpiresAt = h.Clock.Now().Add(time.Hour)
			}
			return oauthserver.ForeignGrant{
				BusinessID: partnertest.Business, UserID: row.Subject, Scopes: identity.MustScopes(strings.Fields(row.GrantedScope)...), ExpiresAt: row.ExpiresAt,
			}, true, nil
		}
	})
	read := identity.MustScopes("invoices:read")
	_, err := h.Import(t.Context(), oauthserver.Import{
		Apps:          importedApps(hydraClients(t)),
		Installations: []oauthserver.ImportedInstallation{{ClientID: "hydra-sha", BusinessID: partnertest.Business, Scopes: read}},
		Consents:      []oauthserver.ImportedConsent{{ClientID: "hydra-sha", BusinessID: partnertest.Business, UserID: partnertest.User, Scopes: read}},
	})
	if err != nil {
		t.Fatal(err)
	}
	refresh := func(token string) *partnertest.Response {
		return tokenRequest(t, h, partnertest.App{ClientID: "hydra-sha", ClientSecret: "s3cret"}, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
	}
	fails.Store(true)
	if got := refresh("ory_rt_live"); got.Status < 500 {
		t.Errorf("while the host fails: %s", got)
	}
	fails.Store(false)
	for _, dead := range []string{"ory_rt_used", "ory_rt_another", "ory_rt_nobody", "ory_rt_old", "ory_rt_unknown", "x"} {
		if got := refresh(dead); got.Status != http.StatusBadRequest {
			t.Errorf("%s: %s", dead, got)
		}
	}
	first := refresh("ory_rt_live").Want(http.StatusOK)
	next := refresh(first.Text("refresh_token")).Want(http.StatusOK)
	if next.Text("scope") != "invoices:read" {
		t.Errorf("scope %q", next.Text("scope"))
	}
	if got := refresh("ory_rt_live").Want(http.StatusBadRequest).Text("error_description"); got != "refresh token reuse detected" {
		t.Errorf("used again: %q", got)
	}
	refresh(next.Text("refresh_token")).Want(http.StatusBadRequest) // its family has ended
	if got := refresh("ory_rt_live").Want(http.StatusBadRequest).Text("error_description"); got != "revoked" {
		t.Errorf("after its family has ended: %q", got)
	}
	h.Settle()
	if diff := cmp.Diff([]string{"token.reuse_detected biz_bakery usr_ada"}, notifier.take()); diff != "" {
		t.Errorf("OPS-03 the Notifier (-want +got):\n%s", diff)
	}

	var issued atomic.Int64
	testdb.Race(8, func(int) {
		if refresh("ory_rt_raced").Status == http.StatusOK {
			issued.Add(1)
		}
	})
	if issued.Load() != 1 {
		t.Errorf("%d of 8 uses at once were answered with tokens", issued.Load())
	}
}

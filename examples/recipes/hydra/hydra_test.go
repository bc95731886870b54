package hydra_test

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"database/sql"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/hydra"
	"github.com/partnerkit/partnerkit/partnertest"
)

const systemSecret = "a system secret of Hydra"

// refreshToken makes one as Hydra does.
func refreshToken(secret string) (token, signature string) {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	digest := sha256.Sum256([]byte(secret))
	mac := hmac.New(sha512.New512_256, digest[:])
	mac.Write(key)
	signature = base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return "ory_rt_" + base64.RawURLEncoding.EncodeToString(key) + "." + signature, signature
}

// An app goes on with its id, its secret and its refresh token. The tables are those of Hydra,
// with the columns that are read.
func TestMove(t *testing.T) {
	ctx := t.Context()
	hydra, err := sql.Open("sqlite", "file:hydra?mode=memory&cache=shared")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hydra.Close() })
	hydra.SetMaxOpenConns(1)
	salt := []byte("sixteen bytes or")
	key, err := pbkdf2.Key(sha256.New, "old secret", salt, 1000, 32)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawStdEncoding.EncodeToString
	live, liveSignature := refreshToken(systemSecret)
	forged, forgedSignature := refreshToken("another secret")
	for _, statement := range []struct {
		text string
		args []any
	}{
		{"CREATE TABLE hydra_client (id TEXT, client_name TEXT, owner TEXT, client_secret TEXT, scope TEXT, redirect_uris TEXT, token_endpoint_auth_method TEXT, created_at TIMESTAMP)", nil},
		{"CREATE TABLE hydra_oauth2_refresh (signature TEXT, client_id TEXT, subject TEXT, granted_scope TEXT, active BOOLEAN, requested_at TIMESTAMP)", nil},
		{"INSERT INTO hydra_client VALUES ($1, $2, $3, $4, $5, $6, $7, $8)", []any{
			"old-app", "Old App", partnertest.Organization, fmt.Sprintf("$pbkdf2-sha256$i=1000,l=32$%s$%s", encode(salt), encode(key)),
			"openid offline invoices:read", `["https://old.example/callback"]`, "client_secret_basic", time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}},
		{"INSERT INTO hydra_oauth2_refresh VALUES ($1, 'old-app', $2, 'offline|invoices:read', TRUE, $3)", []any{liveSignature, partnertest.User, time.Date(2026, 8, 30, 0, 0, 0, 0, time.UTC)}},
		{"INSERT INTO hydra_oauth2_refresh VALUES ($1, 'old-app', $2, 'offline|invoices:read', TRUE, $3)", []any{forgedSignature, partnertest.User, time.Date(2026, 8, 30, 0, 0, 0, 0, time.UTC)}},
	} {
		if _, err := hydra.ExecContext(ctx, statement.text, statement.args...); err != nil {
			t.Fatal(err)
		}
	}
	old := &recipe.Server{
		DB: hydra, SystemSecret: systemSecret, Life: 30 * 24 * time.Hour,
		Business: func(context.Context, string, string) (string, error) { return partnertest.Business, nil },
	}
	h := partnertest.New(t, func(c *partnerkit.Config) { c.OAuth.ForeignRefreshTokens = old.RefreshToken })
	report, err := old.Import(ctx, h.Platform)
	if err != nil || len(report.Skipped) != 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	refresh := func(token string) *partnertest.Response {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
		r := httptest.NewRequest(http.MethodPost, h.APIURL+"/oauth/token", strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.SetBasicAuth("old-app", "old%20secret")
		return partnertest.Serve(t, h.API(), r)
	}
	refresh(forged).Want(http.StatusBadRequest)
	var first struct {
		Refresh string `json:"refresh_token"`
		Scope   string `json:"scope"`
	}
	refresh(live).Want(http.StatusOK).Decode(&first)
	if first.Scope != "invoices:read" {
		t.Errorf("scope %q", first.Scope)
	}
	refresh(first.Refresh).Want(http.StatusOK)
	refresh(live).Want(http.StatusBadRequest) // a replay
}

package bearer_test

import (
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/partnerkit/partnerkit"
	recipe "github.com/partnerkit/partnerkit/examples/recipes/bearer"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

func TestTokens(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	_, other, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.ForeignTokens = recipe.Tokens(jose.JSONWebKey{Key: key}, c.Host.IsMember, c.Clock.Now)
		c.Routes = []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", SessionsAllowed: true, Handler: func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusNoContent)
			return nil
		}}}
	})
	soon := h.Clock.Now().Add(time.Hour)
	sign := func(key ed25519.PrivateKey, issuer string, expiry time.Time) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: key}, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.Signed(signer).Claims(jwt.Claims{Issuer: issuer, Subject: partnertest.User, Audience: jwt.Audience{"mobile"}, Expiry: jwt.NewNumericDate(expiry)}).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, test := range map[string]struct {
		token, business string
		want            int
	}{
		"ours":               {sign(key, "https://login.example.com", soon), partnertest.Business, http.StatusNoContent},
		"another's business": {sign(key, "https://login.example.com", soon), "biz_other", http.StatusBadRequest},
		"expired":            {sign(key, "https://login.example.com", h.Clock.Now().Add(-time.Minute)), partnertest.Business, http.StatusUnauthorized},
		"another issuer":     {sign(key, h.APIURL, soon), partnertest.Business, http.StatusUnauthorized},
		"another key":        {sign(other, "https://login.example.com", soon), partnertest.Business, http.StatusUnauthorized},
		"no JWT":             {"abc", partnertest.Business, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, h.APIURL+"/invoices", nil)
			r.Header.Set("Authorization", "Bearer "+test.token)
			r.Header.Set("X-Business", test.business)
			partnertest.Serve(t, h.API(), r).Want(test.want)
		})
	}
}

package console

import (
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

func (c *Console) tokenRoutes() []route {
	return []route{
		{"POST /developer/tokens", c.createToken},
		{"GET /developer/tokens", c.listTokens},
		{"DELETE /developer/tokens/{tokenId}", c.revokeToken},
	}
}

type createdTokenPayload struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Token     string     `json:"token"` // once
	ExpiresAt stamp.Time `json:"expiresAt"`
}

type tokenPayload struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	OrganizationID string      `json:"organizationId"`
	UserID         string      `json:"userId"`
	CreatedAt      stamp.Time  `json:"createdAt"`
	ExpiresAt      stamp.Time  `json:"expiresAt"`
	LastUsedAt     *stamp.Time `json:"lastUsedAt"`
}

func newTokenPayload(t consolestore.Token) tokenPayload {
	return tokenPayload{
		ID: t.ID, Name: t.Name, OrganizationID: t.OrganizationID, UserID: t.UserID,
		CreatedAt: stamp.Of(t.CreatedAt), ExpiresAt: stamp.Of(t.ExpiresAt), LastUsedAt: stamp.OrNull(t.LastUsedAt),
	}
}

func (c *Console) createToken(w http.ResponseWriter, r *http.Request, by Actor) error {
	var n NewToken
	if err := readBody(r, &n, func() error { _, err := by.newToken(n); return err }); err != nil {
		return err
	}
	text, token, err := c.CreateToken(r.Context(), by, n)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, createdTokenPayload{ID: token.ID, Name: token.Name, Token: text, ExpiresAt: stamp.Of(token.ExpiresAt)})
}

func (c *Console) listTokens(w http.ResponseWriter, r *http.Request, by Actor) error {
	q := jsonapi.ParseQuery(r.URL.RawQuery)
	organizationID := q.Text("organizationId")
	if err := q.Err(); err != nil {
		return err
	}
	tokens, err := c.Tokens(r.Context(), by, organizationID)
	if err != nil {
		return err
	}
	return jsonapi.WriteList(w, tokens, newTokenPayload)
}

func (c *Console) revokeToken(w http.ResponseWriter, r *http.Request, by Actor) error {
	if err := c.RevokeToken(r.Context(), by, r.PathValue("tokenId")); err != nil {
		return err
	}
	return noContent(w)
}

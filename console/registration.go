package console

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
)

// IssueRegistrationToken makes a token that lets its bearer register one app for an
// organization of the actor's, and says when it expires. Who has only one may leave
// it out. Its error is a validation error of apierror.
func (c *Console) IssueRegistrationToken(ctx context.Context, by Actor, organizationID string) (token string, expiresAt time.Time, err error) {
	var v apierror.Validation
	organizationID = by.organization(&v, organizationID)
	if err := v.Err(); err != nil {
		return "", time.Time{}, err
	}
	secret, record, err := c.cfg.OAuth.IssueRegistrationToken(ctx, organizationID)
	if err != nil {
		return "", time.Time{}, err
	}
	c.did(ctx, act{by: by, action: "registration_token.created"}, organizationID)
	return secret.Reveal(), record.ExpiresAt, nil
}

func (c *Console) registrationRoutes() []route {
	return []route{{"POST /developer/registration-tokens", c.issueRegistrationToken}}
}

func (c *Console) issueRegistrationToken(w http.ResponseWriter, r *http.Request, by Actor) error {
	var body struct {
		OrganizationID string `json:"organizationId"`
	}
	if err := readBody(r, &body); err != nil {
		return err
	}
	token, expiresAt, err := c.IssueRegistrationToken(r.Context(), by, body.OrganizationID)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expiresAt"`
	}{token, stamp(expiresAt)})
}

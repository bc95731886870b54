package console

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/stamp"
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
	err = c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		issued, record, err := c.cfg.OAuth.IssueRegistrationToken(ctx, organizationID)
		token, expiresAt = issued, record.ExpiresAt
		return by.did(audited.RegistrationTokenCreated, "", organizationID), err
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return token, expiresAt, nil
}

func (c *Console) registrationRoutes() []route {
	return []route{{"POST /developer/registration-tokens", c.issueRegistrationToken}}
}

func (c *Console) issueRegistrationToken(w http.ResponseWriter, r *http.Request, by Actor) error {
	var body struct {
		OrganizationID string `json:"organizationId"`
	}
	check := func() error {
		var v apierror.Validation
		by.organization(&v, body.OrganizationID)
		return v.Err()
	}
	if err := readBody(r, &body, check); err != nil {
		return err
	}
	token, expiresAt, err := c.IssueRegistrationToken(r.Context(), by, body.OrganizationID)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, struct {
		Token     string     `json:"token"`
		ExpiresAt stamp.Time `json:"expiresAt"`
	}{token, stamp.Of(expiresAt)})
}

package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/partner"
)

const (
	day = 24 * time.Hour

	// maxTokens is how many valid console tokens an organization may have.
	maxTokens = 100

	defaultTokenDays = 90
	maxTokenName     = 100 // characters
)

// NewToken is a console token as its creator describes it.
type NewToken struct {
	Name string `json:"name"`
	// OrganizationID is one of the actor's; who has only one may leave it out.
	OrganizationID string `json:"organizationId"`
	// ExpiresInDays is 1 to 365; nil means 90.
	ExpiresInDays *int `json:"expiresInDays"`
}

func (n NewToken) days() int {
	if n.ExpiresInDays == nil {
		return defaultTokenDays
	}
	return *n.ExpiresInDays
}

func (n NewToken) lifetime() time.Duration { return time.Duration(n.days()) * day }

// newToken returns the token that the actor describes, or a validation error.
func (a Actor) newToken(n NewToken) (consolestore.Token, error) {
	var v apierror.Validation
	if days := n.days(); days < 1 || days > int(consolestore.MaxTokenLifetime/day) {
		v.Add("expiresInDays", "must be a whole number from 1 to %d", int(consolestore.MaxTokenLifetime/day))
	}
	name := strings.TrimSpace(n.Name)
	if length := utf8.RuneCountInString(name); !text.HasVisible(name) || length > maxTokenName {
		v.Add("name", "must have 1 to %d characters", maxTokenName)
	} else if problem := text.LineProblem(name); problem != "" {
		v.Add("name", "%s", problem)
	}
	return consolestore.Token{Name: name, OrganizationID: a.organization(&v, n.OrganizationID), UserID: a.userID}, v.Err()
}

// HasToken reports whether a request presents something with the prefix of console tokens,
// in its only Authorization header.
func HasToken(r *http.Request) bool {
	presented, sent := header.Authorization(r.Header, "Bearer")
	return sent && len(r.Header.Values("Authorization")) == 1 && strings.HasPrefix(presented, string(secret.ConsoleToken))
}

// caller returns the actor who makes a call of the JSON API: a script with a console
// token, or a signed-in user.
func (c *Console) caller(r *http.Request) (Actor, error) {
	if !HasToken(r) {
		return c.Actor(r)
	}
	presented, _ := header.Authorization(r.Header, "Bearer")
	parsed, err := secret.Parse(secret.ConsoleToken, presented)
	if err != nil {
		return Actor{}, apierror.Unauthorized()
	}
	token, err := c.cfg.Store.ConsoleToken(r.Context(), parsed.Digest())
	now := c.cfg.Clock.Now()
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return Actor{}, apierror.Unauthorized()
	case err != nil:
		return Actor{}, err
	case !token.RevokedAt.IsZero() || !now.Before(token.ExpiresAt):
		return Actor{}, apierror.Unauthorized()
	}
	by, err := c.actor(r.Context(), token.UserID, "")
	if err != nil {
		return Actor{}, err
	}
	if !by.isOf(token.OrganizationID) {
		return Actor{}, apierror.Unauthorized() // the creator has left the organization
	}
	c.cfg.Analytics.Use(token.ID, now)
	by.organizations = slices.DeleteFunc(by.organizations, func(o Organization) bool { return o.ID != token.OrganizationID })
	by.token = token.Name
	return by, nil
}

// CreateToken creates a console token and returns its text, for the only time. Its error is
// one of apierror: everything that is wrong, or 403 for an actor that is a token itself.
func (c *Console) CreateToken(ctx context.Context, by Actor, n NewToken) (string, consolestore.Token, error) {
	if by.token != "" {
		return "", consolestore.Token{}, apierror.Forbidden("A console token cannot create tokens")
	}
	token, err := by.newToken(n)
	if err != nil {
		return "", consolestore.Token{}, err
	}
	now := c.cfg.Clock.Now()
	made := secret.New(secret.ConsoleToken)
	token.ID, token.Digest, token.CreatedAt, token.ExpiresAt = id.New(id.ConsoleToken, now), made.Digest(), now, now.Add(n.lifetime())
	err = c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		entry := by.did(audited.ConsoleTokenCreated, "", token.OrganizationID)
		entry.Detail = token.Name
		return entry, c.cfg.Store.CreateConsoleToken(ctx, token, maxTokens)
	})
	switch {
	case errors.Is(err, consolestore.ErrTooManyTokens):
		return "", consolestore.Token{}, apierror.Invalid(fmt.Sprintf("an organization may have at most %d console tokens", maxTokens))
	case err != nil:
		return "", consolestore.Token{}, err
	}
	return made.Reveal(), token, nil
}

// Tokens lists the console tokens of an organization of the actor's that are not revoked,
// oldest first. Who has only one organization may leave it out. Its error is a validation
// error of apierror.
func (c *Console) Tokens(ctx context.Context, by Actor, organizationID string) ([]consolestore.Token, error) {
	var v apierror.Validation
	organizationID = by.organization(&v, organizationID)
	if err := v.Err(); err != nil {
		return nil, err
	}
	tokens, err := c.cfg.Store.ConsoleTokens(ctx, organizationID)
	if err != nil {
		return nil, err
	}
	uses, err := c.cfg.Analytics.LastUses(ctx, jsonapi.Convert(tokens, func(t consolestore.Token) string { return t.ID })...)
	if err != nil {
		return nil, err
	}
	for i := range tokens {
		tokens[i].LastUsedAt = uses[tokens[i].ID]
	}
	return tokens, nil
}

// RevokeToken revokes a console token of one of the actor's organizations. It is refused
// from the next call on. Its error is a 404 of apierror.
func (c *Console) RevokeToken(ctx context.Context, by Actor, tokenID string) error {
	now := c.cfg.Clock.Now()
	err := c.change(ctx, func(ctx context.Context) (audit.Entry, error) {
		for _, organization := range by.organizations {
			name, err := c.cfg.Store.RevokeConsoleToken(ctx, organization.ID, tokenID, now)
			if errors.Is(err, partner.ErrNotFound) {
				continue
			}
			entry := by.did(audited.ConsoleTokenRevoked, "", organization.ID)
			entry.Detail = name
			return entry, err
		}
		return audit.Entry{}, partner.ErrNotFound
	})
	return absent("token", err)
}

package partnerkit_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// oldClient is a row of the clients of the server that we leave.
type oldClient struct {
	ID, Name, Owner, SecretDigest, Scope string
	RedirectURIs                         []string
	CreatedAt                            time.Time
}

// moveApps imports clients with their ids and the digests of their secrets.
func moveApps(ctx context.Context, p *partnerkit.Platform, clients []oldClient) error {
	var batch oauthserver.Import
	for _, c := range clients {
		scopes, err := identity.NewScopes(strings.Fields(c.Scope)...)
		if err != nil {
			return fmt.Errorf("client %s: %w", c.ID, err)
		}
		batch.Apps = append(batch.Apps, oauthserver.ImportedApp{
			ClientID: c.ID, Type: partner.Confidential, Name: c.Name, OrganizationID: c.Owner,
			RedirectURIs: c.RedirectURIs, Scopes: scopes, Secrets: []string{c.SecretDigest}, CreatedAt: c.CreatedAt,
		})
	}
	report, err := p.Import(ctx, batch) // after an error, call it again
	if err != nil {
		return err
	}
	for _, skipped := range report.Skipped {
		fmt.Println(skipped.Kind, skipped.ClientID, skipped.Reason)
	}
	return nil
}

// oldToken is a refresh token of that server.
type oldToken struct {
	BusinessID, UserID string
	Scopes             identity.Scopes
	ExpiresAt          time.Time
}

// foreignTokens answers for refresh tokens of the server that we leave. Its find returns a live
// token of a client, and checks its signature.
func foreignTokens(find func(ctx context.Context, clientID, token string) (oldToken, bool, error)) func(context.Context, oauthserver.ForeignToken) (oauthserver.ForeignGrant, bool, error) {
	return func(ctx context.Context, asked oauthserver.ForeignToken) (oauthserver.ForeignGrant, bool, error) {
		found, ok, err := find(ctx, asked.ClientID, asked.Token)
		if err != nil || !ok {
			return oauthserver.ForeignGrant{}, false, err // an error is a 5xx, and the client tries again
		}
		return oauthserver.ForeignGrant{BusinessID: found.BusinessID, UserID: found.UserID, Scopes: found.Scopes, ExpiresAt: found.ExpiresAt}, true, nil
	}
}

// A host that leaves another OAuth server imports its clients and asks it about live tokens.
func ExamplePlatform_Import() {
	move := func(ctx context.Context, cfg partnerkit.Config, clients []oldClient, find func(ctx context.Context, clientID, token string) (oldToken, bool, error)) error {
		cfg.OAuth.ForeignRefreshTokens = foreignTokens(find)
		p, err := partnerkit.New(cfg)
		if err != nil {
			return err
		}
		return moveApps(ctx, p, clients)
	}
	_ = move
}

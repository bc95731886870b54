//go:build linux

package crash_test

import "net/url"

const (
	reuse    = "invalid_grant: refresh token reuse detected"
	exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
)

// keeper holds a family of tokens.
type keeper struct {
	as       *app
	business string
	tokens
}

// act does one thing with the tokens.
func (k *keeper) act(c *client) {
	if k.Access == "" {
		k.tokens, _ = c.connect(k.as, k.business)
		return
	}
	switch n := c.rng.IntN(100); {
	case n < 75:
		k.rotate(c)
	case n < 82:
		k.replay(c)
	case n < 90:
		k.revoke(c)
	default:
		k.exchange(c)
	}
}

// rotate refreshes the tokens. REF-07: after a crash the old refresh token either is usable
// or is marked as used and new tokens were issued. REF-01: the old access token is
// rejected at once.
func (k *keeper) rotate(c *client) {
	a, isRepeated := c.insist(func() response { return c.refresh(k.as, k.Refresh) })
	switch {
	case a.isOK():
		c.acked("refreshes")
		c.died(k.as, "refreshed", k.Access)
		a.read(&k.tokens)
	case isRepeated && a.oauthError() == reuse:
		c.died(k.as, "reuse was detected", k.Access, k.Refresh)
		k.tokens = tokens{}
	default:
		c.unexpected("a refresh token", a)
	}
}

// replay uses a token twice on purpose, which revokes the family (REF-02).
func (k *keeper) replay(c *client) {
	old := k.tokens
	k.rotate(c)
	if k.Refresh == old.Refresh || k.Refresh == "" {
		return
	}
	a, isRepeated := c.insist(func() response { return c.refresh(k.as, old.Refresh) })
	if got := a.oauthError(); got != reuse && !(isRepeated && got == "invalid_grant: revoked") {
		c.unexpected("a refresh token that was used", a)
		return
	}
	c.acked("families burnt")
	c.died(k.as, "the family was burnt", k.Access, k.Refresh, old.Refresh)
	k.tokens = tokens{}
}

// revoke ends the family (REV-06).
func (k *keeper) revoke(c *client) {
	a, _ := c.insist(func() response {
		return c.send(call{method: "POST", path: "/oauth/revoke", as: k.as, form: url.Values{"token": {k.Refresh}}})
	})
	if !a.isOK() {
		c.unexpected("a revocation", a)
		return
	}
	c.acked("revocations")
	c.died(k.as, "revoked", k.Access, k.Refresh)
	if a := c.refresh(k.as, k.Refresh); a.isOK() {
		c.violation("a refresh token that was revoked: %v", a)
	}
	k.tokens = tokens{}
}

// exchange uses a session token, which works once (TX-04).
func (k *keeper) exchange(c *client) {
	issued := c.send(call{method: "POST", path: "/dev/session-tokens", json: map[string]string{
		"clientId": k.as.ClientID, "businessId": k.business, "userId": theUser,
	}})
	if !issued.isOK() {
		c.unexpected("a session token", issued)
		return
	}
	var session struct{ SessionToken string }
	issued.read(&session)
	use := func() response {
		return c.grant(k.as, exchange, "subject_token", session.SessionToken, "subject_token_type", "urn:ietf:params:oauth:token-type:jwt")
	}
	a, isRepeated := c.insist(use)
	switch {
	case a.isOK():
		c.acked("session tokens exchanged")
		if again, _ := c.insist(use); again.oauthError() != "invalid_grant" {
			c.unexpected("a session token for the second time", again)
		}
	case isRepeated && a.oauthError() == "invalid_grant":
	default:
		c.unexpected("a session token", a)
	}
}

//go:build linux

package crash_test

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// tokens are the tokens of a grant.
type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// signIn returns the cookie of a new session, or "" if the server did not respond.
func (c *client) signIn(business string) string {
	a := c.send(call{method: "POST", path: "/dev/sessions", json: map[string]string{"userId": theUser, "businessId": business}})
	if !a.isOK() {
		return ""
	}
	var session struct{ Cookie string }
	a.read(&session)
	return session.Cookie
}

// visit opens a page with the cookie of a session. A kill must not end a session.
func (c *client) visit(method, path, cookie string, form url.Values) response {
	a := c.send(call{method: method, path: path, onApp: true, cookie: cookie, form: form})
	if strings.HasPrefix(a.Header.Get("Location"), "/login") {
		c.violation("%s %s: a session was lost", method, path)
	}
	return a
}

// consent approves an app in a business as the user, and returns the code, or "" if a
// request had no response.
func (c *client) consent(a *app, business string) (code string) {
	cookie := c.signIn(business)
	if cookie == "" {
		return ""
	}
	page := c.visit("GET", "/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {a.ClientID}, "redirect_uri": {callback}, "scope": {strings.Join(a.Scopes.Names(), " ")}, "state": {"s"},
	}.Encode(), cookie, nil)
	if page.Status != http.StatusOK {
		c.unexpected("the consent page", page)
		return ""
	}
	form := servertest.Form(page.Body)
	form.Set("business_id", business)
	form.Set("decision", "allow")
	back := c.visit("POST", "/oauth/authorize", cookie, form)
	if back.Status != http.StatusSeeOther {
		// A form that was posted to a killed process can be posted only once.
		if back.Status != http.StatusBadRequest {
			c.unexpected("a consent", back)
		}
		return ""
	}
	c.acked("consents")
	to, err := url.Parse(back.Header.Get("Location"))
	if err != nil {
		c.violation("a consent leads to %q", back.Header.Get("Location"))
		return ""
	}
	return to.Query().Get("code")
}

// unexpected reports a response as a violation, unless its outcome is
// unknown or a limit rejected the call.
func (c *client) unexpected(what string, a response) {
	if !a.isUnknown() && !a.isLimited() {
		c.violation("%s: %v", what, a)
	}
}

// grant makes a request to the token endpoint.
func (c *client) grant(a *app, kind string, pairs ...string) response {
	form := servertest.Values(append(pairs, "grant_type", kind)...)
	return c.send(call{method: "POST", path: "/oauth/token", as: a, form: form})
}

func (c *client) redeem(a *app, code string) response {
	return c.grant(a, "authorization_code", "code", code, "redirect_uri", callback)
}

func (c *client) refresh(a *app, token string) response {
	return c.grant(a, "refresh_token", "refresh_token", token)
}

// insist repeats an operation until its outcome is known. It reports whether an earlier
// attempt may have succeeded.
func (c *client) insist(act func() response) (a response, isRepeated bool) {
	for {
		a = act()
		isRepeated = isRepeated || a.isUnknown()
		if !a.isUnknown() && !(isRepeated && a.isLimited()) || c.isOver() {
			return a, isRepeated
		}
		c.pause(10 * time.Millisecond)
	}
}

// connect goes from consent to tokens, and starts over as often as necessary. CODE-01: a
// used code has issued tokens, either in a response that was lost or in this one.
func (c *client) connect(a *app, business string) (t tokens, ok bool) {
	for !c.isOver() {
		code := c.consent(a, business)
		if code == "" {
			continue
		}
		got, isRepeated := c.insist(func() response { return c.redeem(a, code) })
		switch {
		case got.isOK():
			got.read(&t)
			c.acked("codes redeemed")
			if c.rng.IntN(10) == 0 {
				c.replayCode(a, code, t)
				continue
			}
			return t, true
		case isRepeated && got.oauthError() == "invalid_grant: code already used":
		default:
			c.unexpected("a code", got)
		}
	}
	return tokens{}, false
}

// replayCode uses a code again, which ends its tokens (CODE-02).
func (c *client) replayCode(a *app, code string, t tokens) {
	got, _ := c.insist(func() response { return c.redeem(a, code) })
	if got.oauthError() != "invalid_grant: code already used" {
		c.unexpected("a code that was redeemed", got)
		return
	}
	c.acked("codes replayed")
	c.died(a, "its code was replayed", t.Access, t.Refresh)
}

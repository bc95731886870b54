//go:build linux

package crash_test

import (
	"net/http"
	"net/url"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// device is a user who connects a device.
type device struct {
	as       *app
	business string
}

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code"

// act goes from a device code to tokens (DEV-04).
func (d *device) act(c *client) {
	c.move() // 30 a minute from one address
	a := c.send(call{method: "POST", path: "/oauth/device/authorize", as: d.as, form: url.Values{}})
	if !a.isOK() {
		c.unexpected("a device code", a)
		return
	}
	var code struct {
		Device string `json:"device_code"`
		User   string `json:"user_code"`
	}
	a.read(&code)
	c.acked("device codes")
	if !d.approve(c, code.User) {
		return
	}
	poll := func() response { return c.grant(d.as, deviceGrant, "device_code", code.Device) }
	a, isRepeated := c.insist(poll)
	switch {
	case a.isOK():
		c.acked("device codes collected")
		if again, _ := c.insist(poll); again.oauthError() != "invalid_grant" {
			c.unexpected("a device code for the second time", again)
		}
	case isRepeated && a.oauthError() == "invalid_grant":
	default:
		c.unexpected("an approved device code", a)
	}
}

// approve approves the device. An approval without a response is repeated, and may then
// be rejected because the decision was already made.
func (d *device) approve(c *client, userCode string) bool {
	isRepeated := false
	for !c.isOver() {
		cookie := c.signIn(d.business)
		if cookie == "" {
			continue
		}
		page := c.visit("POST", "/device", cookie, url.Values{"user_code": {userCode}})
		if page.isUnknown() {
			continue
		}
		if page.Status != http.StatusOK {
			if !isRepeated {
				c.unexpected("the page of a device code", page)
			}
			return isRepeated
		}
		form := servertest.Form(page.Body)
		form.Set("decision", "allow")
		switch a := c.visit("POST", "/device", cookie, form); {
		case a.isOK():
			c.acked("devices approved")
			return true
		case a.isUnknown():
			isRepeated = true
		default:
			if !isRepeated {
				c.unexpected("an approval", a)
			}
			return isRepeated
		}
	}
	return false
}

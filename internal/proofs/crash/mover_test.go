//go:build linux

package crash_test

import "net/http"

// mover installs and uninstalls an app repeatedly (INST-01, INST-03).
type mover struct {
	as       *app
	business string
	left     int // how often
}

func (m *mover) act(c *client) {
	t, ok := c.connect(m.as, m.business)
	if !ok {
		return
	}
	a, isRepeated := c.insist(func() response {
		return c.send(call{method: "POST", path: "/dev/installations/uninstall", json: map[string]string{"clientId": m.as.ClientID, "businessId": m.business}})
	})
	switch {
	case a.isOK():
		m.left++
		c.acked("uninstalls")
	case isRepeated && a.Status == http.StatusNotFound:
		m.left++ // the first request succeeded
	default:
		c.unexpected("an uninstall", a)
		return
	}
	c.died(m.as, "uninstalled", t.Access, t.Refresh)
}

package pages_test

import (
	"net/http"
	"testing"
)

// CON-02: a person sees the apps of their organizations, and makes one.
func TestApps_CON02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.get("").want(http.StatusOK).shows("No apps yet")
	o.send(ask{method: http.MethodGet, by: zoe}).want(http.StatusOK).shows("You do not belong to an organization")
	app := o.newApp()
	o.get("").want(http.StatusOK).shows("Sync", "One", "Sandbox only", "Confidential")
	o.send(ask{method: http.MethodGet, by: ben}).want(http.StatusOK).shows("Sync")
	o.send(ask{method: http.MethodGet, by: eve}).want(http.StatusOK).shows("No apps yet").lacks(app.ID)
}

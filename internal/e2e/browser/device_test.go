package browser_test

import (
	"net/url"
	"strings"
	"testing"
)

// DEV-02, DEV-04, DEV-05: a user types the code that a device shows and sees the requested
// scopes. The device gets tokens when the user allows it.
func TestDevice(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s, b := serve(t), open(t)
	start := func() (device, user string) {
		t.Helper()
		var out struct {
			DeviceCode      string `json:"device_code"`
			UserCode        string `json:"user_code"`
			VerificationURI string `json:"verification_uri"`
		}
		s.call(request{method: "POST", path: "/oauth/device/authorize", form: url.Values{"client_id": {"ledgerlink-cli"}, "scope": {"invoices:read"}}}, &out)
		b.visit(out.VerificationURI)
		return out.DeviceCode, out.UserCode
	}
	poll := func(device string) (int, string) {
		t.Helper()
		status, response := s.send(request{method: "POST", path: "/oauth/token", form: url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:device_code"}, "device_code": {device}, "client_id": {"ledgerlink-cli"},
		}})
		return status, string(response)
	}

	device, user := start()
	b.signIn("ada@example.com", "demo-ada")
	b.inspect("device")
	b.fill("Code shown on your device", "BCDF-GHJK")
	b.submit("Continue")
	if b.status() != 400 || !strings.HasPrefix(b.alert(), "This code is not valid") {
		t.Fatalf("a wrong code: %s", b.where())
	}
	b.inspect("device-wrong")
	b.fill("Code shown on your device", strings.ToLower(strings.ReplaceAll(user, "-", " ")))
	b.submit("Continue")
	b.sees("Ledgerlink CLI")
	b.sees("Moreau Bakery")
	b.inspect("device-consent")
	if status, response := poll(device); status != 400 || !strings.Contains(response, "authorization_pending") {
		t.Fatalf("poll before the decision: %d %s", status, response)
	}
	b.submit("Allow")
	b.sees("Ledgerlink CLI is connected to Moreau Bakery.")
	b.inspect("device-done")
	if status, response := poll(device); status != 200 || !strings.Contains(response, `"access_token"`) {
		t.Fatalf("poll after Allow: %d %s", status, response)
	}

	device, user = start()
	b.fill("Code shown on your device", user)
	b.submit("Continue")
	b.submit("Deny")
	b.sees("Ledgerlink CLI was not connected.")
	b.inspect("device-denied")
	if status, response := poll(device); status != 400 || !strings.Contains(response, "access_denied") {
		t.Fatalf("poll after Deny: %d %s", status, response)
	}
}

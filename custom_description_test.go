package partnerkit_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partnertest"
)

// IT-03: the API description says who may call what, and nothing of it while the option is off.
func TestDescribeCustomConnections_IT03(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	var calls []identity.Principal
	withCustom(&calls)(&cfg)
	cfg.Developers = partnertest.NewHost()
	for i := range cfg.Routes {
		cfg.Routes[i].Description = guard.Description{Summary: "Do it"}
	}
	words := []string{"client_credentials", "clientCredentials", "customBusinessId", "/connections/new", "InstallationGrant", "InstallationToken", "custom connection"}
	on := string(platform(t, cfg).OpenAPI())
	cfg.OAuth.CustomConnections = false
	off := string(platform(t, cfg).OpenAPI())
	for _, word := range words {
		if !strings.Contains(on, word) || strings.Contains(off, word) {
			t.Errorf("%s: %v with the option, %v without", word, strings.Contains(on, word), strings.Contains(off, word))
		}
	}
	var described struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(on), &described); err != nil {
		t.Fatal(err)
	}
	const taken = "Tokens of a custom connection may call it."
	for path, method := range map[string]string{"/invoices": "get", "/journal": "post", "/events": "get", "/events/{id}": "get"} {
		if text := string(described.Paths[path][method]); !strings.Contains(text, taken) {
			t.Errorf("%s %s: %s", method, path, text)
		}
	}
	if text := string(described.Paths["/profile"]["get"]); strings.Contains(text, taken) {
		t.Errorf("GET /profile: %s", text)
	}
}

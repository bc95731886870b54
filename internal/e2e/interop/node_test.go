package interop_test

import (
	"os/exec"
	"testing"
)

// META-01, META-06, TOK-01, CODE-02, REF-01, REV-02, INT-02, DEV-04, REG-04, TX-04
func TestOAuth4WebAPI(t *testing.T) {
	t.Parallel()
	needNode(t)
	runs(t, exec.CommandContext(t.Context(), "node", "oauth4webapi.mjs"), start(t, "").settings(),
		"discovery", "resource discovery",
		"basic code with PKCE", "basic refresh", "basic revocation",
		"post code with PKCE", "post refresh", "post revocation",
		"public code with PKCE", "public refresh", "public revocation",
		"basic device", "public device", "replay", "introspection",
		"registered code with PKCE", "registered refresh", "registered revocation",
		"token exchange")
}

// AZ-10, TOK-01, REF-01, REV-03
func TestPassport(t *testing.T) {
	t.Parallel()
	needNode(t)
	runs(t, exec.CommandContext(t.Context(), "node", "passport.mjs"), start(t, "").settings(),
		"confidential code with PKCE", "confidential refresh", "confidential revocation, without its help",
		"public code with PKCE", "public refresh", "public revocation, without its help")
}

// SAND-02, REF-08: what openid-client does when the response to a refresh is lost. docs/sandbox.md
// has it in a table.
func TestOpenIDClientLosesResponse_SAND02(t *testing.T) {
	t.Parallel()
	need(t, "run npm ci in e2e/interop", "node", "--input-type=module", "--eval", "await import('openid-client')")
	for name, test := range map[string]struct {
		flags []string
		want  string
	}{
		"strict":              {nil, "invalid_grant"},
		"with -refresh-retry": {[]string{"-refresh-retry", "1m"}, "new tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := runs(t, exec.CommandContext(t.Context(), "node", "openid_client.mjs"), start(t, "", test.flags...).settings(),
				"discovery", "code with PKCE", "an error without a code", "again")
			if said != test.want {
				t.Errorf("the second refresh: %q, want %q", said, test.want)
			}
		})
	}
}

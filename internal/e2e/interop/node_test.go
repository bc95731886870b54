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

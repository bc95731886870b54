package interop_test

import (
	"os/exec"
	"testing"
)

// META-01, TOK-01, CODE-05, REF-01, REV-02, INT-01, INT-02, DEV-04
func TestAuthlib(t *testing.T) {
	t.Parallel()
	needPython(t)
	runs(t, exec.CommandContext(t.Context(), python, "-B", "authlib_client.py"), start(t, "").settings(),
		"discovery",
		"basic code with PKCE", "basic refresh", "basic revocation",
		"post code with PKCE", "post refresh", "post revocation",
		"public code with PKCE", "public refresh", "public revocation",
		"basic device", "public device", "introspection", "refused without code_challenge_method")
}

// TOK-01, REF-01, REV-02, DEV-04
func TestRequestsOAuthlib(t *testing.T) {
	t.Parallel()
	needPython(t)
	runs(t, exec.CommandContext(t.Context(), python, "-B", "requests_oauthlib_client.py"), start(t, "").settings(),
		"confidential code with PKCE", "confidential refresh", "confidential revocation",
		"public code with PKCE", "public refresh", "public revocation",
		"confidential device", "public device")
}

package browser_test

import (
	"strings"
	"testing"
)

// signIn fills the form that the browser is at.
func (b *tab) signIn(email, password string) {
	b.t.Helper()
	b.fill("Email", email)
	b.fill("Password", password)
	b.submit("Sign in")
}

// AZ-01: a wrong password is reported and changes nothing; the right one continues, to the
// choice of a business for a user with several.
func TestSignIn(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s, b := serve(t), open(t)
	b.visit(s.App + "/settings/apps")
	if b.title() != "Sign in" {
		t.Fatalf("a page for nobody in particular: %s", b.where())
	}
	b.inspect("login")
	b.signIn("ada@example.com", "demo-eve")
	if b.status() != 403 || b.alert() != "The email or the password is wrong." {
		t.Fatalf("wrong password: %d %s", b.status(), b.where())
	}
	b.inspect("login-wrong")
	b.signIn("ada@example.com", "demo-ada")
	if !strings.HasSuffix(b.at(), "/settings/apps") || b.title() != "Connected apps" {
		t.Fatalf("it does not lead back: %s", b.where())
	}
	b.signOut()
	b.signIn("ada@example.com", "demo-ada")
	if !strings.HasSuffix(b.at(), "/businesses") {
		t.Fatalf("several businesses: %s", b.where())
	}
	b.inspect("businesses")
	b.choose("Moreau Mill")
	b.submit("Continue")
	b.sees("Moreau Mill")
	b.inspect("settings-empty")
	b.signOut()
	b.visit(s.App + "/settings/apps")
	if b.title() != "Sign in" {
		t.Fatalf("signed out: %s", b.where())
	}
}

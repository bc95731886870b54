package client_test

import (
	"errors"
	"net/url"
	"testing"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// CLI-01: a fresh state and verifier for every attempt; a state that is not the
// attempt's is refused, and its code not sent anywhere.
func TestState(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	one, two := k.app.Begin(), k.app.Begin()
	for _, name := range []string{"state", "code_challenge"} {
		a, b := parameter(t, one.URL, name), parameter(t, two.URL, name)
		if len(a) < 20 || a == b {
			t.Errorf("%s %q and %q of two attempts", name, a, b)
		}
	}
	if parameter(t, one.URL, "code_challenge_method") != "S256" {
		t.Error("not S256")
	}

	back := k.Approve(one.URL)
	before := k.wire.requests("/oauth/token")
	for name, test := range map[string]struct {
		attempt client.Attempt
		query   url.Values
	}{
		"another attempt's": {two, back},
		"none":              {one, url.Values{"code": back["code"]}},
		"no attempt":        {client.Attempt{}, url.Values{"code": back["code"], "state": {""}}},
		"cut":               {one, url.Values{"code": back["code"], "state": {one.State[:10]}}},
	} {
		if _, err := k.app.Finish(t.Context(), test.attempt, test.query); !errors.Is(err, client.ErrState) {
			t.Errorf("%s: %v, want ErrState", name, err)
		}
	}
	if k.wire.requests("/oauth/token") != before {
		t.Error("a code was sent")
	}
	if _, err := k.app.Finish(t.Context(), one, back); err != nil {
		t.Errorf("with its own state: %v", err)
	}
	denied := url.Values{"error": {"access_denied"}, "state": {two.State}}
	if _, err := k.app.Finish(t.Context(), two, denied); !errors.Is(err, client.ErrDenied) {
		t.Errorf("denied: %v", err)
	}
}

func parameter(t *testing.T, address, name string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

// REV-06: an access token goes alone, a refresh token takes everything along.
func TestRevoke(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	source, api := k.start(t, k.file)
	if err := k.app.Revoke(t.Context(), k.first.Access); err != nil {
		t.Fatal(err)
	}
	if err := api.Do(t.Context(), profile); err != nil {
		t.Errorf("after a refresh: %v", err)
	}
	if err := source.Disconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := api.Do(t.Context(), profile); !errors.Is(err, client.ErrReauthorize) {
		t.Errorf("disconnected: %v", err)
	}
	if _, ok, err := k.file.Load(); ok || err != nil {
		t.Errorf("still stored, or %v", err)
	}
	if err := k.app.Revoke(t.Context(), "unknown"); err != nil {
		t.Errorf("an unknown token: %v", err)
	}
	k.app.ClientSecret = "wrong"
	if err := k.app.Revoke(t.Context(), "unknown"); err == nil {
		t.Error("a wrong secret is no error")
	}
}

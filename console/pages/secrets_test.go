package pages_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/partner"
)

// APP-02: a second secret is shown once; then the first one can be ended, and the last
// one not.
func TestSecrets_APP02(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	at := "/apps/" + app.ID + "/secrets"
	first := o.secrets(app)[0]
	o.get(at).want(http.StatusOK).shows(app.ClientID, first.Prefix+"…", "Valid", "Add a secret")
	o.post(at + "/" + first.ID + "/end").want(http.StatusBadRequest).alerts("this is the app's only valid secret; add another one first").shows(first.Prefix)

	added := o.post(at).want(http.StatusOK).shows("Copy it now.")
	o.onlyOnce(added, added.values("data-copy")[0], at)
	second := o.secrets(app)[1]
	o.did(app, "secret.created", "app.created")
	o.get(at).shows(first.Prefix, second.Prefix).lacks(`action="/developer` + at + `"`)
	o.post(at).want(http.StatusBadRequest).alerts("the app has 2 valid secrets already; end one of them first")

	o.post(at+"/"+first.ID+"/end").wantTo(at+"?done=secret-ended").shows("The secret was ended.", "Ended")
	o.did(app, "secret.ended", "secret.created")
	o.post(at + "/" + first.ID + "/end").want(http.StatusNotFound)
}

func (o *harness) secrets(app partner.App) []console.Secret {
	o.Helper()
	all, err := o.console.Secrets(o.Context(), o.actor(ann), app.ID)
	o.must(err)
	return all
}

// onlyOnce checks that a secret is on this page, and from then on nowhere: on no page,
// in no address and in no log. A reload asks for the page of this path instead.
func (o *harness) onlyOnce(shown response, secret, path string) {
	o.Helper()
	if len(secret) < 20 || strings.Count(shown.text(), secret) != 1 {
		o.Errorf("%s: shows the secret %q %d times", shown.Request, secret, strings.Count(shown.text(), secret))
	}
	if replace := shown.values("data-replace"); !slices.Equal(replace, []string{o.prefix + path}) {
		o.Errorf("%s: a reload asks for %q", shown.Request, replace)
	}
	for _, address := range append(shown.values("href"), shown.values("action")...) {
		if strings.Contains(address, secret) {
			o.Errorf("%s: the secret is in %q", shown.Request, address)
		}
	}
	o.get(path).want(http.StatusOK).lacks(secret)
	o.get("").want(http.StatusOK).lacks(secret)
	if strings.Contains(o.logged.String(), secret) {
		o.Error("the secret is in the log")
	}
}

// A public app has none.
func TestSecretsOfPublicApp(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp(func(n *console.NewApp) { n.Type = partner.Public })
	at := "/apps/" + app.ID + "/secrets"
	o.get(at).want(http.StatusOK).shows("A public app has no secret", "PKCE").lacks("<form method=\"post\"")
	o.post(at).want(http.StatusBadRequest).alerts("a PUBLIC app has no client secret; it proves itself with PKCE")
}

// CIMD-05: an app that authenticates with a key has no secrets, and cannot get one.
func TestAppWithKeys_CIMD05(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app := o.newApp()
	_, err := o.store.Tap.Exec(t.Context(), "UPDATE partnerkit_app SET origin = $1, metadata = $2", string(partner.OriginRegistered), `{"jwks_uri": "https://partner.example/keys"}`)
	o.must(err)
	at := "/apps/" + app.ID + "/secrets"
	o.get(at).shows("This app has no secret", "private_key_jwt").lacks("Add a secret")
	o.post(at).want(http.StatusBadRequest)
}

package main

import (
	"io"
	"testing"
)

// A flag comes before the environment, and the environment before the demo's secrets.
func TestSecretsOfTheEnvironment(t *testing.T) {
	t.Setenv("PARTNER_CLIENT_SECRET", "env client")
	t.Setenv("PARTNER_WEBHOOK_SECRET", "env webhook")
	for _, test := range []struct {
		args            []string
		client, webhook string
	}{
		{nil, "env client", "env webhook"},
		{[]string{"-client-secret", "flag client"}, "flag client", "env webhook"},
		{[]string{"-client-secret", "", "-webhook-secret", "flag webhook"}, "", "flag webhook"},
	} {
		o, err := parseOptions(test.args, io.Discard)
		if err != nil || o.clientSecret != test.client || o.webhookSecret != test.webhook {
			t.Errorf("%q: client secret %q, webhook secret %q, %v; want %q and %q", test.args, o.clientSecret, o.webhookSecret, err, test.client, test.webhook)
		}
	}
}

package webhooks_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	harnesses "github.com/partnerkit/partnerkit/internal/harness"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// WH-01: several webhooks, each with its URL, its events, its secret and its switch.
func TestCreate(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	k.Clock.Advance(1234567 * time.Nanosecond)
	first, secret, err := k.service.Create(t.Context(), webhooks.NewWebhook{
		AppID: k.app.ID, URL: hookURL, Events: []string{"invoice.paid", "customer.created", "invoice.paid", "app.installed"},
	})
	k.Must(err)
	if !regexp.MustCompile(`^whk_[0-9a-v]{26}$`).MatchString(first.ID) || !regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`).MatchString(secret) {
		t.Errorf("id %q, secret %q", first.ID, secret)
	}
	want := partner.Webhook{
		ID: first.ID, AppID: k.app.ID, URL: hookURL, Events: []string{"invoice.paid", "customer.created", "app.installed"}, Enabled: true,
		CreatedAt: harnesses.Start.Add(time.Millisecond), UpdatedAt: harnesses.Start.Add(time.Millisecond), Version: 1, Secrets: first.Secrets,
	}
	k.Clock.Advance(time.Second)
	second, another, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, Disabled: true})
	k.Must(err)
	if second.Enabled || len(second.Events) != 0 || another == secret || second.ID == first.ID {
		t.Errorf("the second is %+v", second)
	}
	got, err := k.service.Get(t.Context(), k.app.ID, first.ID)
	k.Must(err)
	if diff := cmp.Diff(want, got) + cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	list, err := k.service.List(t.Context(), k.app.ID)
	k.Must(err)
	if diff := cmp.Diff([]partner.Webhook{first, second}, list); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	_, _, err = k.service.Create(t.Context(), webhooks.NewWebhook{AppID: "app_absent", URL: hookURL})
	wantNotFound(t, "an absent app", err)
}

// WH-01, DLV-07: one error reports every problem with its field.
func TestCreateValidates(t *testing.T) {
	t.Parallel()
	const (
		badSecret = "secret must have at most 256 printable ASCII characters without spaces, more than whsec_ alone"
		badID     = "id must have at most 64 letters, digits, hyphens and underscores"
	)
	k := newConsole(t)
	tests := map[string]struct {
		change func(*webhooks.NewWebhook)
		want   []string
	}{
		"http":             {func(n *webhooks.NewWebhook) { n.URL = "http://partner.example.com/" }, []string{"url must use https"}},
		"no URL":           {func(n *webhooks.NewWebhook) { n.URL = "" }, []string{"url must not be empty"}},
		"loopback":         {func(n *webhooks.NewWebhook) { n.URL = "http://127.0.0.1/" }, []string{"url must not name an address that is not public"}},
		"a private net":    {func(n *webhooks.NewWebhook) { n.URL = "https://10.0.0.1/" }, []string{"url must not name an address that is not public"}},
		"user info":        {func(n *webhooks.NewWebhook) { n.URL = "https://me:pw@partner.example.com/" }, []string{"url must not contain user info"}},
		"unknown events":   {func(n *webhooks.NewWebhook) { n.Events = []string{"invoice.eaten", "invoice.paid", ""} }, []string{`events[0] "invoice.eaten" is not in the catalog`, `events[2] "" is not in the catalog`}},
		"a long event":     {func(n *webhooks.NewWebhook) { n.Events = []string{strings.Repeat("x", 1<<16)} }, []string{`events[0] "` + strings.Repeat("x", 64) + `" is not in the catalog`}},
		"a secret space":   {func(n *webhooks.NewWebhook) { n.Secret = "top secret" }, []string{badSecret}},
		"a secret umlaut":  {func(n *webhooks.NewWebhook) { n.Secret = "göheim" }, []string{badSecret}},
		"a secret control": {func(n *webhooks.NewWebhook) { n.Secret = "secret\n" }, []string{badSecret}},
		"a prefix alone":   {func(n *webhooks.NewWebhook) { n.Secret = "whsec_" }, []string{badSecret}},
		"a long secret":    {func(n *webhooks.NewWebhook) { n.Secret = strings.Repeat("s", 257) }, []string{badSecret}},
		"an id path":       {func(n *webhooks.NewWebhook) { n.ID = "a/b" }, []string{badID}},
		"a long id":        {func(n *webhooks.NewWebhook) { n.ID = strings.Repeat("i", 65) }, []string{badID}},
		"everything": {func(n *webhooks.NewWebhook) { n.URL, n.Events, n.ID, n.Secret = "x", []string{"y"}, "ö", "ö" },
			[]string{"url must be absolute and begin with https://", `events[0] "y" is not in the catalog`, badID, badSecret}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			n := webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, Events: []string{"invoice.paid"}}
			test.change(&n)
			_, _, err := k.service.Create(t.Context(), n)
			wantInvalid(t, err, test.want...)
		})
	}
	if list, err := k.service.List(t.Context(), k.app.ID); err != nil || len(list) != 0 {
		t.Errorf("%d webhooks, %v", len(list), err)
	}
}

// WH-01: loopback, over http too, under the development option alone.
func TestCreateOnLoopback(t *testing.T) {
	t.Parallel()
	k := newConsole(t, func(c *webhooks.Config) { c.AllowLoopback = true })
	for _, url := range []string{"http://127.0.0.1:9000/hooks", "http://localhost/", "https://[::1]/"} {
		_, _, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: url})
		k.Must(err)
	}
	_, _, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: "http://192.168.0.1/"})
	wantInvalid(t, err, "url must not name an address that is not public")
}

// Fixtures bring ids and secrets, and notice that they were there before.
func TestCreateFixture(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	fixture := webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, ID: "whk_fixture-" + strings.Repeat("1", 52), Secret: strings.Repeat("~!", 128)}
	w, secret, err := k.service.Create(t.Context(), fixture)
	k.Must(err)
	signs, err := k.service.SigningSecrets(w, k.Clock.Now())
	if w.ID != fixture.ID || secret != fixture.Secret || err != nil || !cmp.Equal(signs, []string{fixture.Secret}) {
		t.Errorf("created %s with %q, which signs as %q, %v", w.ID, secret, signs, err)
	}
	_, _, err = k.service.Create(t.Context(), fixture)
	wantInvalid(t, err, "id is taken")
	if !errors.Is(err, webhookstore.ErrTaken) {
		t.Errorf("%v does not say ErrTaken", err)
	}
}

// WH-01: not any number; a host may set another one.
func TestCreateTooMany(t *testing.T) {
	t.Parallel()
	for set, limit := range map[int]int{0: 20, 2: 2} {
		k := newConsole(t, func(c *webhooks.Config) { c.MaxWebhooks = set })
		for range limit {
			k.hook()
		}
		_, _, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL})
		wantInvalid(t, err, fmt.Sprintf("an app has at most %d webhooks", limit))
		if !errors.Is(err, webhookstore.ErrTooMany) {
			t.Errorf("%v does not say ErrTooMany", err)
		}
		k.app = k.newApp()
		k.hook() // another app's do not count
	}
}

// WH-01: each member changes by itself.
func TestUpdate(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	before := k.hook("invoice.paid")
	url, names, on, off := hookURL+"/new", []string{"customer.created", "customer.created", "invoice.paid"}, true, false
	for _, step := range []struct {
		change webhooks.Change
		want   func(*partner.Webhook)
	}{
		{webhooks.Change{URL: &url}, func(w *partner.Webhook) { w.URL = url }},
		{webhooks.Change{Events: &names}, func(w *partner.Webhook) { w.Events = []string{"customer.created", "invoice.paid"} }},
		{webhooks.Change{Enabled: &off}, func(w *partner.Webhook) { w.Enabled = false }},
		{webhooks.Change{Enabled: &on, Events: &[]string{}}, func(w *partner.Webhook) { w.Enabled, w.Events = true, []string{} }},
		{webhooks.Change{}, func(*partner.Webhook) {}},
	} {
		k.Clock.Advance(time.Minute)
		want := before
		step.want(&want)
		want.UpdatedAt, want.Version = k.Clock.Now(), before.Version+1 // CON-13
		got := k.update(before, step.change)
		stored, err := k.service.Get(t.Context(), k.app.ID, before.ID)
		k.Must(err)
		if diff := cmp.Diff(want, got) + cmp.Diff(want, stored); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		before = got
	}
	bad, unknown := "http://partner.example.com/", []string{"nothing.happened"}
	_, err := k.service.Update(t.Context(), k.app.ID, before.ID, webhooks.Change{URL: &bad, Events: &unknown, Enabled: &off})
	wantInvalid(t, err, "url must use https", `events[0] "nothing.happened" is not in the catalog`)
	if stored, err := k.service.Get(t.Context(), k.app.ID, before.ID); err != nil || !cmp.Equal(before, stored) {
		t.Errorf("after a refusal: %v, %v", stored, err)
	}
}

// CON-01, WH-01: what is deleted, or another app's, is not found by anything.
func TestNotFound(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook("invoice.paid")
	d := k.failed(w, "invoice.paid")
	notFound := func(what, appID, webhookID string) {
		t.Helper()
		_, get := k.service.Get(t.Context(), appID, webhookID)
		_, update := k.service.Update(t.Context(), appID, webhookID, webhooks.Change{})
		_, _, rotate := k.service.RotateSecret(t.Context(), appID, webhookID)
		_, list := k.service.Deliveries(t.Context(), partner.DeliveryQuery{AppID: appID, WebhookID: webhookID})
		_, _, one := k.service.Delivery(t.Context(), appID, webhookID, d.ID)
		_, test := k.service.SendTest(t.Context(), appID, webhookID, "")
		_, again := k.service.Redeliver(t.Context(), appID, webhookID, d.ID)
		for name, err := range map[string]error{
			"get": get, "update": update, "rotate": rotate, "deliveries": list, "delivery": one, "test": test, "redeliver": again,
			"delete": k.service.Delete(t.Context(), appID, webhookID),
		} {
			wantNotFound(t, what+", "+name, err)
		}
	}
	notFound("another app's", k.newApp().ID, w.ID)
	notFound("an absent one", k.app.ID, "whk_absent")
	k.Must(k.service.Delete(t.Context(), k.app.ID, w.ID))
	notFound("a deleted one", k.app.ID, w.ID)
	if list, err := k.service.List(t.Context(), k.app.ID); err != nil || len(list) != 0 {
		t.Errorf("listed %v, %v", list, err)
	}
	other := k.hook("invoice.paid")
	_, err := k.service.Redeliver(t.Context(), k.app.ID, other.ID, d.ID)
	wantNotFound(t, "a delivery of another webhook", err)
}

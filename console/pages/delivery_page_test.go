package pages_test

import (
	"context"
	"html"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/testenv"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// retried is the path of a delivery that has failed once, of an app of Ann's.
func (o *harness) retried(r *receiver, data any) (partner.App, string) {
	o.Helper()
	return o.retriedAt(r.URL+"/hook?a=1&b='2'", data)
}

// retriedAt is retried for a webhook with a URL.
func (o *harness) retriedAt(at string, data any) (partner.App, string) {
	o.Helper()
	o.run()
	app := o.newApp()
	hook := o.newWebhook(app, at, events.AppInstalled)
	_, err := o.Events.Record(o.Context(), events.Draft{Type: events.AppInstalled, BusinessID: "biz_1", AppID: app.ID, Data: data})
	o.must(err)
	o.settle()
	listed, err := o.Hooks.Deliveries(o.Context(), partner.DeliveryQuery{AppID: app.ID, WebhookID: hook.ID})
	o.must(err)
	return app, "/apps/" + app.ID + "/webhooks/" + hook.ID + "/deliveries/" + listed.Deliveries[0].ID
}

// CON-15: the id of a record, which comes from the host, is shown on one line and without
// characters that cannot be seen; so are choices, which apps write.
func TestRecordIDs_CON15(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	app, at := o.retried(newReceiver(t), map[string]any{"id": "inst\u202e_\u200b1"})
	o.get(at[:strings.LastIndex(at, "/")]).want(http.StatusOK).shows("app inst_1").lacks("\u202e", "\u200b")
	o.get(at).want(http.StatusOK).shows("Record app inst_1")
	o.post("/apps/"+app.ID+"/fields/new", "resource_type", "invoice", "key", "c", "type", "CHOICE", "choices", "po\u202est").want(http.StatusSeeOther)
	o.get("/apps/" + app.ID + "/fields").want(http.StatusOK).shows("one of post").lacks("\u202e")
}

// DLV-09: the page shows where the delivery went, what came back with its headers, when that
// was, and the body in colours.
func TestDeliveryPage_DLV09(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	_, at := o.retried(r, map[string]any{"id": "inst_1", "n": -1.5e3, "is": true, "none": nil, "<b>": "a\"\u202e<i>"})
	o.clock.Advance(30 * time.Second)
	page := o.get(at).want(http.StatusOK).shows("Endpoint "+r.URL+"/hook?a=1&b='2'", "X-Answered-By: printer", "Created 30 s ago", "Attempt 1 30 s ago", "app inst_1")
	if !strings.Contains(page.Body, `<time datetime="2026-09-01T12:00:00Z" title="1 Sep 2026, 12:00:00 UTC" tabindex="0">30 s ago</time>`) {
		t.Error("the exact time is missing")
	}
	for _, want := range []string{
		`<span class="json-name">&#34;data&#34;</span>: {`, `<span class="json-text">&#34;inst_1&#34;</span>`, `<span class="json-number">-1500</span>`,
		`<span class="json-word">true</span>`, `<span class="json-word">null</span>`, `<span class="json-name">&#34;&lt;b&gt;&#34;</span>`, `<span class="json-text">&#34;a\&#34;\u202e&lt;i&gt;&#34;</span>`,
	} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("the body is not shown with %s", want)
		}
	}
}

// RDL-05: the next attempt of a delivery that is retried can be made now.
func TestAttemptNow_RDL05(t *testing.T) {
	t.Parallel()
	o, r := newHarness(t), newReceiver(t)
	app, at := o.retried(r, map[string]any{})
	o.get(at).shows("Retrying", "Send it now", "in 00:01:00").lacks("Send it again")
	r.responseWith(http.StatusOK)
	o.clock.Advance(10 * time.Second)
	o.post(at + "/attempt-now").wantTo(at + "?done=delivery-hastened").shows("The next attempt starts now.")
	o.did(app, "delivery.attempted_now", "app.created")
	o.settle()
	o.get(at).shows("Delivered", "2 of 6", "Attempt 2").lacks("Send it now")
	o.post(at + "/attempt-now").want(http.StatusBadRequest).shows("Delivered")
	if n, _ := r.last(); n != 2 {
		t.Errorf("%d attempts arrived, want 2", n)
	}
	o.send(ask{method: http.MethodPost, path: at + "/attempt-now", by: eve}).want(http.StatusNotFound)
}

// The command on the page of a delivery sends it as the platform does, with a signature of
// now.
func TestCurl(t *testing.T) {
	t.Parallel()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("needs a shell")
	}
	o, r := newHarness(t), newReceiver(t)
	app, at := o.retried(r, map[string]any{"text": "it's \"$HOME\" `x` \\n\u202e"})
	_, sent := r.last()
	o.clock.Advance(time.Hour)
	o.settle()
	rotated, _, err := o.Hooks.RotateSecret(t.Context(), app.ID, strings.Split(at, "/")[4])
	o.must(err)

	found := regexp.MustCompile(`(?s)<pre tabindex="0">(curl .*?)</pre>`).FindStringSubmatch(o.get(at).Body)
	if found == nil {
		t.Fatal("no command on the page")
	}
	command := html.UnescapeString(found[1])
	// The shell prints the arguments that it passes to curl.
	out, err := exec.CommandContext(t.Context(), shell, "-c", `curl() { for a; do printf '%s\0' "$a"; done; }; `+command).Output()
	o.must(err)
	arguments := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	header := http.Header{}
	for i, argument := range arguments {
		if argument == "-H" {
			name, value, _ := strings.Cut(arguments[i+1], ": ")
			header.Set(name, value)
		}
	}
	if arguments[0] != "-i" || arguments[1] != r.URL+"/hook?a=1&b='2'" {
		t.Errorf("it goes to %q", arguments[:2])
	}
	if n := len(arguments); arguments[n-2] != "--data-raw" || arguments[n-1] != sent.body {
		t.Errorf("it sends %q, want %q", arguments[n-2:], sent.body)
	}
	for _, name := range []string{"Content-Type", "User-Agent", "X-Webhook-Id", "X-Webhook-Event", "X-Webhook-Event-Id", "X-Webhook-Sequence"} {
		if header.Get(name) != sent.header.Get(name) {
			t.Errorf("%s: %q, want %q", name, header.Get(name), sent.header.Get(name))
		}
	}
	verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{rotated}, Now: o.clock.Now})
	o.must(err)
	o.must(verifier.Verify(header.Get(signature.Header), []byte(sent.body)))

	// It is for those who may rotate the secret.
	webhookID, deliveryID := strings.Split(at, "/")[4], strings.Split(at, "/")[6]
	if _, err := o.console.SignedRequest(context.WithoutCancel(t.Context()), o.actor(eve), app.ID, webhookID, deliveryID); err == nil {
		t.Error("another organization gets a signed request")
	}
	o.must(o.oauth.SetAppStatus(t.Context(), app.ID, partner.AppDeactivated))
	o.get(at).want(http.StatusOK).lacks("curl")
}

// The command on the page, run as it is shown, sends one request: to the URL of the webhook, with
// the body and the headers of an attempt, and a signature that receivers accept.
func TestCurlRuns(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "sh", "curl")
	for name, test := range map[string]struct {
		path string
		data any
	}{
		"brackets":     {"/hook?id=[1-5]", nil},
		"a name in it": {"/hook?filter[name]=x", nil},
		"braces":       {"/{a,b}/[c-a]?x={1,2}&y=[1-", nil},
		"dots":         {"/a/../b/./c?d=../e", nil},
		"quotes":       {`/it's/"a"?b=$HOME&c=` + "`id`" + `&d=%27;|<>()!`, nil},
		"nothing":      {"", nil},
		"an option":    {"/-K?--help&@/etc/hostname", nil},
		"hostile data": {"/hook", map[string]any{"@/etc/hostname": "it's \"$HOME\" `x` \\n\\\u202e\r\n%s%d\u0000", "é": "😀"}},
		"a large body": {"/hook", map[string]any{"text": strings.Repeat("it's ", 50_000)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, r := newHarness(t), newReceiver(t)
			if test.data == nil {
				test.data = map[string]any{}
			}
			app, at := o.retriedAt(r.URL+test.path, test.data)
			rotated, _, err := o.Hooks.RotateSecret(t.Context(), app.ID, strings.Split(at, "/")[4])
			o.must(err)
			var commands []string
			for _, text := range o.get(at).values("data-copy") {
				if strings.Contains(text, "curl ") {
					commands = append(commands, html.UnescapeString(text))
				}
			}
			if len(commands) != 1 {
				t.Fatalf("the page has the commands %q", commands)
			}
			before, attempt := r.last()
			run := exec.CommandContext(t.Context(), "sh")
			run.Stdin = strings.NewReader(commands[0]) // as it is pasted
			run.Env = append(os.Environ(), "NO_PROXY=*", "CURL_HOME="+t.TempDir())
			if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "X-Answered-By: printer") {
				t.Fatalf("%.2000s: %v: %s", commands[0], err, out)
			}
			n, sent := r.last()
			if n != before+1 {
				t.Errorf("%.2000s sends %d requests, want 1", commands[0], n-before)
			}
			if sent.uri != attempt.uri || sent.body != attempt.body {
				t.Errorf("%.2000s sends %s, %.2000q; want %s, %.2000q", commands[0], sent.uri, sent.body, attempt.uri, attempt.body)
			}
			verifier, err := signature.NewVerifier(signature.Config{Secrets: []string{rotated}, Now: o.clock.Now})
			o.must(err)
			o.must(verifier.Verify(sent.header.Get(signature.Header), []byte(sent.body)))
			for header := range maps.Keys(attempt.header) {
				if header != signature.Header && header != "Accept-Encoding" && sent.header.Get(header) != attempt.header.Get(header) {
					t.Errorf("%s: %q, want %q", header, sent.header.Get(header), attempt.header.Get(header))
				}
			}
		})
	}
}

package webhooks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/go-cmp/cmp"
)

// arrived checks a request and its effect on its delivery.
func (m *model) arrived(p arrival) {
	id := p.header.Get("X-Webhook-Id")
	d := m.byID[id]
	if d == nil {
		m.fail("an unknown delivery arrived: %v %s", p.header, p.body)
	}
	if m.note("%s arrived from process %d at %s: %s", id, p.process, showMS(p.clock), manners[p.manner].name); d.isGone {
		m.fail("%s arrived, and was deleted before", id)
	}
	m.checkHeader(d, p)
	var after []modelState
	for _, s := range d.may {
		after = append(after, m.posted(d, s, p)...)
	}
	if len(after) == 0 {
		why := ""
		for _, w := range m.seen {
			why += fmt.Sprintf("%q ", w.closed(d))
		}
		m.fail("%s arrived at %s and should not have: it was %v; gates %s", id, showMS(p.clock), d.may, why)
	}
	d.may = after
}

// checkHeader is WH-02, WH-03, SIG-01, SIG-02: the request around a body, and that
// the body is always the same.
func (m *model) checkHeader(d *modelDelivery, p arrival) {
	var kind string
	var event []string
	if d.event == nil {
		kind = modelKinds[m.settings.hooks[d.hook].kinds[0]].name
	} else {
		kind, event = modelKinds[d.event.kind].name, []string{d.event.id}
	}
	got := map[string][]string{"method": {p.method}, "url": {p.url}, "body": {p.body}}
	for _, name := range []string{"Content-Type", "X-Webhook-Id", "X-Webhook-Event", "X-Webhook-Event-Id"} {
		got[name] = p.header.Values(name)
	}
	want := map[string][]string{
		"method": {"POST"}, "url": {"http://" + address(d.hook) + "/hook?a=b"}, "body": {d.body},
		"Content-Type": {"application/json"}, "X-Webhook-Id": {d.id}, "X-Webhook-Event": {kind}, "X-Webhook-Event-Id": event,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		m.fail("a request for %s (-want +got):\n%s", d.id, diff)
	}
	var valid []string
	for _, w := range m.seen {
		for _, at := range m.startsOf(p) {
			valid = append(valid, sign(at, d.body, w.hooks[d.hook].signs(at)))
		}
	}
	if signed := p.header.Values("X-Webhook-Signature"); len(signed) != 1 || !slices.Contains(valid, signed[0]) {
		m.fail("%s arrived at %s with the signature %q, want one of %q", d.id, showMS(p.clock), signed, valid)
	}
}

func sign(at int64, body string, secrets []string) string {
	header := fmt.Sprintf("t=%d", at/1000)
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", at/1000, body)
		header += ",v1=" + hex.EncodeToString(mac.Sum(nil))
	}
	return header
}

package oauthserver_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// CON-07: whoever keeps the audit log hears of each decision once, and of none that
// was refused.
func TestDecided_CON07(t *testing.T) {
	t.Parallel()
	var told []oauthserver.Decision
	e := newPageEnv(t, func(cfg *oauthserver.Config) {
		cfg.Decided = func(_ context.Context, d oauthserver.Decision) { told = append(told, d) }
	})
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	for _, decision := range []string{"allow", "deny"} {
		p := b.ask(app).wantOK()
		b.submit(p, decision, withParam("business_id", "biz_bikes")).wantCallback(pageCallback)
		b.submit(p, decision, withParam("business_id", "biz_bikes")) // too late
	}
	for _, decision := range []string{"deny", "allow"} {
		p := b.enter(e.device(t, app).UserCode).wantOK()
		b.submit(p, decision).wantOK()
		b.submit(p, decision) // too late
	}
	refused := b.ask(app).wantOK()
	b.submit(refused, "maybe")
	b.submit(refused, "allow", withParam("business_id", "biz_guest"))
	want := []oauthserver.Decision{
		{UserID: "usr_owner", AppID: app.ID, BusinessID: "biz_bikes", Allowed: true},
		{UserID: "usr_owner", AppID: app.ID},
		{UserID: "usr_owner", AppID: app.ID, OnDevice: true},
		{UserID: "usr_owner", AppID: app.ID, BusinessID: "biz_bakery", Allowed: true, OnDevice: true},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

package oauthserver_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// returnTo is the address that a sign-in returns to.
func (p shownPage) returnTo() string {
	p.t.Helper()
	login, err := url.Parse(p.location)
	if err != nil || p.Status != http.StatusSeeOther || login.Path != "/login" {
		p.t.Fatalf("%d to %q, want 303 to /login:\n%s", p.Status, p.location, p.main())
	}
	return login.Query().Get("return_to")
}

// AZ-17: what a request of a user who is not signed in costs, and how it continues.
func TestSignedOutRequest(t *testing.T) {
	t.Parallel()
	t.Run("AZ-17_nothing_is_stored", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t)
		app, device := e.app(t), e.app(t)
		code := e.device(t, device)
		for range 50 {
			b := e.browser(t)
			back := b.ask(app).returnTo()
			b.get(back).returnTo() // still signed out
			b.get("/device?user_code=" + code.UserCode).returnTo()
			b.post("/device", url.Values{"user_code": {code.UserCode}}).returnTo()
		}
		if n := e.count(t, "authorization_request"); n != 0 {
			t.Errorf("%d requests are stored", n)
		}
	})
	t.Run("AZ-17_decided_once", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t)
		b := e.browser(t)
		back := b.ask(e.app(t)).returnTo()
		b.signIn("usr_owner", "biz_bakery")
		p, reloaded := b.get(back).wantOK(), b.get(back).wantOK()
		b.submit(p, "deny").wantCallback(pageCallback)
		b.submit(reloaded, "allow").wantRefusal(400, notFoundOrExpired)
		b.get(back).wantRefusal(400, notFoundOrExpired)
		e.wantNothingGranted(t)
	})
	t.Run("AZ-09_AZ-17_five_minutes_from_the_first_request", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t)
		b := e.browser(t)
		back := b.ask(e.app(t)).returnTo()
		e.clock.Advance(5*time.Minute - time.Second)
		b.get(back).returnTo() // does not begin the time again
		b.signIn("usr_owner", "biz_bakery")
		p := b.get(back).wantOK()
		e.clock.Advance(time.Second)
		b.submit(p, "allow").wantRefusal(400, notFoundOrExpired)

		late := e.browser(t)
		back = late.ask(e.app(t)).returnTo()
		e.clock.Advance(5 * time.Minute)
		late.get(back).wantRefusal(400, notFoundOrExpired)
		late.signIn("usr_owner", "biz_bakery")
		late.get(back).wantRefusal(400, notFoundOrExpired)
		e.wantNothingGranted(t)
	})
	t.Run("AZ-14_AZ-17_only_in_its_browser_and_as_sealed", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t)
		app := e.app(t)
		b := e.browser(t)
		back := b.ask(app).returnTo()
		stranger := e.browser(t).signIn("usr_owner", "biz_bakery")
		stranger.get(back).wantRefusal(400, notFoundOrExpired)
		stranger.ask(app).wantOK() // has a cookie of its own now
		stranger.get(back).wantRefusal(400, notFoundOrExpired)
		b.signIn("usr_owner", "biz_bakery")
		for _, wrong := range []string{"", "%20", "%zz", "AQ", strings.Repeat("A", 200), "x&sealed_request=y"} {
			b.get("/oauth/authorize?sealed_request="+wrong).wantRefusal(400, notFoundOrExpired)
		}
		middle := len(back) / 2
		b.get(back[:middle]+string('A'+(back[middle]-'A'+1)%26)+back[middle+1:]).wantRefusal(400, notFoundOrExpired)
		b.get(back[:len(back)-8]).wantRefusal(400, notFoundOrExpired)
		b.get(back).wantOK()
	})
	t.Run("AZ-17_checked_again_after_sign_in", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t)
		app := e.app(t)
		b := e.browser(t)
		back := b.ask(app).returnTo()
		e.update(t, app, registered("https://partner.example/new"))
		b.signIn("usr_owner", "biz_bakery")
		b.get(back).wantRefusal(400, notRegistered)
		e.setStatus(t, app, partner.AppSuspended)
		b.get(back).wantRefusal(400, "Invalid client_id")
	})
	t.Run("AZ-17_the_longest_request_passes_sign_in", func(t *testing.T) {
		t.Parallel()
		e := newPageEnv(t)
		b := e.browser(t)
		state := strings.Repeat("\xff", 2500)
		back := b.ask(e.app(t), withParam("state", state), padQuery(8192)).returnTo()
		if len(back) > 11<<10+200 {
			t.Errorf("the address has %d bytes", len(back))
		}
		b.signIn("usr_owner", "biz_bakery")
		got := b.submit(b.get(back).wantOK(), "deny").wantCallback(pageCallback)
		if got.Get("state") != state {
			t.Error("the state has changed")
		}
	})
}

// AZ-17: a session holds 100 open requests, and of one more the oldest goes.
func TestOpenRequests_AZ17(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b, other := e.browser(t).signIn("usr_owner", "biz_bakery"), e.browser(t).signIn("usr_owner", "biz_bakery")
	foreign := other.ask(app).wantOK()
	pages := make([]shownPage, 102)
	for i := range pages {
		pages[i] = b.ask(app, withParam("state", fmt.Sprint(i))).wantOK()
		e.clock.Advance(time.Millisecond)
	}
	if n := e.count(t, "authorization_request"); n != oauthstore.MaxOpenRequests+1 {
		t.Errorf("%d requests are stored", n)
	}
	for i, p := range pages {
		if i < 2 {
			b.submit(p, "deny").wantRefusal(400, notFoundOrExpired)
			continue
		}
		b.submit(p, "deny").wantCallback(pageCallback)
	}
	other.submit(foreign, "deny").wantCallback(pageCallback)
}

// AZ-17: a state is stored in its shortest form.
func TestStoredState_AZ17(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	_, form := b.ask(e.app(t), withParam("state", strings.Repeat("\x00ü", 300))).wantOK().form()
	presented, err := secret.Parse(secret.ConsentRequest, form.Get("request_id"))
	mustDo(t, err)
	held, err := e.Request(t.Context(), presented.Digest())
	mustDo(t, err)
	if len(held.State) != 900 {
		t.Errorf("a state of 900 bytes is stored as %d", len(held.State))
	}
}

package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/examples/books"
)

func credentials(email, password, returnTo string) url.Values {
	return url.Values{"email": {email}, "password": {password}, "return_to": {returnTo}}
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	page := get(t, b, r.app+"/login?return_to=/settings/apps").want(t, http.StatusOK)
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'",
		"Cache-Control":           "no-store",
		"X-Frame-Options":         "DENY",
		"Content-Type":            "text/html; charset=utf-8",
	} {
		if !strings.Contains(page.Header.Get(name), want) {
			t.Errorf("%s: %q", name, page.Header.Get(name))
		}
	}
	if page.form().Get("return_to") != "/settings/apps" {
		t.Errorf("form %v", page.form())
	}
	for _, wrong := range []url.Values{
		credentials("ada@example.com", "demo-ben", ""),
		credentials("nobody@example.com", "demo-ada", ""),
		credentials("ada@example.com", "", ""),
		credentials("", "", ""),
		credentials("ada@example.com", strings.Repeat("x", books.MaxPassword+1), ""),
	} {
		a := post(t, b, r.app+"/login", wrong).want(t, http.StatusForbidden)
		if !strings.Contains(a.body, `role="alert"`) || len(a.Cookies()) > 0 {
			t.Errorf("%v: %v %s", wrong, a.Cookies(), a.body)
		}
	}
	a := post(t, b, r.app+"/login", credentials(" Ada@Example.com", "demo-ada", "/settings/apps")).want(t, http.StatusSeeOther)
	if got := a.Header.Get("Location"); got != "/settings/apps" {
		t.Errorf("Location %q", got)
	}
	cookie := a.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || cookie.Domain != "" || cookie.Secure {
		t.Errorf("cookie %+v", cookie)
	}
	if body := get(t, b, r.app+"/settings/apps").want(t, http.StatusOK).body; !strings.Contains(body, "Moreau Bakery") || !strings.Contains(body, "Ada Moreau") {
		t.Error(body)
	}

	post(t, b, r.app+"/logout", nil).want(t, http.StatusSeeOther)
	stale := request(t, http.MethodGet, r.app+"/settings/apps", "", "")
	stale.AddCookie(cookie)
	if a := do(t, browser(t), stale).want(t, http.StatusSeeOther); !strings.HasPrefix(a.Header.Get("Location"), "/login?return_to=%2Fsettings%2Fapps") {
		t.Errorf("after sign-out: %s", a.Header.Get("Location"))
	}
}

// A session that a browser brought to the sign-in does not live on.
func TestSignInRotatesTheSession(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	first := post(t, b, r.app+"/login", credentials("ada@example.com", "demo-ada", "")).want(t, http.StatusSeeOther).Cookies()[0]
	second := post(t, b, r.app+"/login", credentials("ada@example.com", "demo-ada", "")).want(t, http.StatusSeeOther).Cookies()[0]
	for cookie, want := range map[*http.Cookie]int{first: http.StatusSeeOther, second: http.StatusOK} {
		req := request(t, http.MethodGet, r.app+"/settings/apps", "", "")
		req.AddCookie(cookie)
		do(t, browser(t), req).want(t, want)
	}
}

// The cookie of one host is the other's too: same name, other port.
func TestSessionIsValidOnBothHosts(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.signIn("ada@example.com", "demo-ada")
	for _, host := range []string{r.api, r.app} {
		u, err := url.Parse(host)
		if err != nil {
			t.Fatal(err)
		}
		if cookies := b.Jar.Cookies(u); len(cookies) != 1 {
			t.Errorf("%s gets %d cookies", host, len(cookies))
		}
	}
	// And one that the API host set is the app host's.
	b = browser(t)
	do(t, b, request(t, http.MethodPost, r.api+"/dev/sessions", "application/json", `{"userId": "usr_ben", "businessId": "biz_cycles"}`)).want(t, http.StatusOK)
	if body := get(t, b, r.app+"/settings/apps").want(t, http.StatusOK).body; !strings.Contains(body, "Okafor Cycles") {
		t.Error(body)
	}
}

func TestReturnToAfterSignIn(t *testing.T) {
	t.Parallel()
	r := start(t)
	a := post(t, browser(t), r.app+"/login", credentials("dev@example.com", "demo-dev", "//evil.example")).want(t, http.StatusSeeOther)
	if got := a.Header.Get("Location"); got != "/settings/apps" {
		t.Errorf("Location %q", got)
	}
	if page := get(t, browser(t), r.app+"/login?return_to=//evil.example"); page.form().Get("return_to") != "" {
		t.Errorf("form %v", page.form())
	}
}

// CON-07: what another site's page sends does nothing.
func TestCrossOriginPosts(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, test := range []struct {
		name, origin, site string
		want               int
	}{
		{"no browser", "", "", http.StatusSeeOther},
		{"our page", r.app, "same-origin", http.StatusSeeOther},
		{"our other host", r.api, "same-site", http.StatusSeeOther},
		{"our page without a referrer", "null", "same-origin", http.StatusSeeOther},
		{"an old browser on our page", r.app, "", http.StatusSeeOther},
		{"another site", "https://evil.example", "cross-site", http.StatusForbidden},
		{"another port", "http://localhost:1", "same-site", http.StatusForbidden},
		{"another site in an old browser", "https://evil.example", "", http.StatusForbidden},
		{"a sandboxed frame", "null", "cross-site", http.StatusForbidden},
		{"a frame in an old browser", "null", "", http.StatusForbidden},
	} {
		b := r.session("usr_ada", "biz_bakery")
		req := request(t, http.MethodPost, r.app+"/logout", "application/x-www-form-urlencoded", "")
		for name, value := range map[string]string{"Origin": test.origin, "Sec-Fetch-Site": test.site} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		do(t, b, req).want(t, test.want)
		still := http.StatusOK
		if test.want == http.StatusSeeOther {
			still = http.StatusSeeOther
		}
		if got := get(t, b, r.app+"/settings/apps").StatusCode; got != still {
			t.Errorf("%s: afterwards %d", test.name, got)
		}
	}
}

// SIGN-01: how many wrong passwords close the sign-in.
const (
	wrongPerAccount = 10
	wrongPerIP      = 50
)

// wrongPassword is so long that the server rejects it without hashing it.
var wrongPassword = strings.Repeat("x", books.MaxPassword+1)

// SIGN-01: the tenth wrong password closes the sign-in of an account, for ten minutes.
func TestWrongPasswordsCloseTheSignIn(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	for i := range wrongPerAccount {
		email := "ada@example.com"
		if i%2 == 0 {
			email = "ADA@example.com " // the same account
		}
		post(t, b, r.app+"/login", credentials(email, wrongPassword, "")).want(t, http.StatusForbidden)
	}
	a := post(t, b, r.app+"/login", credentials("ada@example.com", "demo-ada", "")).want(t, http.StatusTooManyRequests)
	if a.Header.Get("Retry-After") == "" || len(a.Cookies()) > 0 {
		t.Errorf("%v", a.Header)
	}
	r.signIn("ben@example.com", "demo-ben") // others are not locked out
	r.dev("clock", `{"advanceSeconds": 600}`).want(t, http.StatusOK)
	r.signIn("ada@example.com", "demo-ada")
}

// together sends forms to the sign-in at the same moment, and counts the statuses.
func (r *harness) together(n int, form func(i int) url.Values) map[int]int {
	r.t.Helper()
	statuses := make([]int, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { statuses[i] = post(r.t, browser(r.t), r.app+"/login", form(i)).StatusCode })
	}
	wg.Wait()
	counts := map[int]int{}
	for _, status := range statuses {
		counts[status]++
	}
	return counts
}

// SIGN-01: attempts at the same moment stay within the limits, since each is counted
// before its password is hashed.
func TestSignInsAtTheSameMoment_SIGN01(t *testing.T) {
	t.Parallel()
	t.Run("of one account", func(t *testing.T) {
		t.Parallel()
		r := start(t)
		got := r.together(300, func(i int) url.Values { return credentials("ada@example.com", fmt.Sprint("wrong-", i), "") })
		if want := map[int]int{http.StatusForbidden: wrongPerAccount, http.StatusTooManyRequests: 300 - wrongPerAccount}; !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		r.signIn("ben@example.com", "demo-ben") // what was refused does not count for the address
	})
	t.Run("of one address", func(t *testing.T) {
		t.Parallel()
		r := start(t)
		got := r.together(300, func(i int) url.Values { return credentials(fmt.Sprint(i, "@example.com"), wrongPassword, "") })
		if want := map[int]int{http.StatusForbidden: wrongPerIP, http.StatusTooManyRequests: 300 - wrongPerIP}; !maps.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		post(t, browser(t), r.app+"/login", credentials("ben@example.com", "demo-ben", "")).want(t, http.StatusTooManyRequests)
	})
	t.Run("with the right password", func(t *testing.T) {
		t.Parallel()
		r := start(t)
		for range wrongPerAccount - 1 {
			post(t, browser(t), r.app+"/login", credentials("ben@example.com", wrongPassword, "")).want(t, http.StatusForbidden)
		}
		for range 3 {
			r.signIn("ada@example.com", "demo-ada")
			r.signIn("ben@example.com", "demo-ben") // one attempt is left, and is given back
		}
		if got := r.together(60, func(int) url.Values { return credentials("ada@example.com", "demo-ada", "") }); got[http.StatusSeeOther] != 60 {
			t.Errorf("%v, want 60 that are signed in", got)
		}
	})
}

func TestBusinesses(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := browser(t)
	a := post(t, b, r.app+"/login", credentials("ben@example.com", "demo-ben", "")).want(t, http.StatusSeeOther)
	if a.Header.Get("Location") != "/businesses" {
		t.Errorf("Location %q", a.Header.Get("Location"))
	}
	page := get(t, b, r.app+"/businesses?return_to=/device").want(t, http.StatusOK)
	if !strings.Contains(page.body, `value="biz_bakery" required checked`) || !strings.Contains(page.body, "Okafor Cycles") || strings.Contains(page.body, "Sandbox") {
		t.Error(page.body)
	}
	form := page.form()
	form.Set("business_id", "biz_cycles")
	if a := post(t, b, r.app+"/businesses", form).want(t, http.StatusSeeOther); a.Header.Get("Location") != "/device" {
		t.Errorf("Location %q", a.Header.Get("Location"))
	}
	if body := get(t, b, r.app+"/settings/apps").body; !strings.Contains(body, "Okafor Cycles") {
		t.Error(body)
	}
	post(t, b, r.app+"/businesses", url.Values{"business_id": {"biz_papertrail_sandbox"}}).want(t, http.StatusForbidden)
}

func TestSuspendedUserCannotSignIn(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.signIn("ada@example.com", "demo-ada")
	r.dev("users/usr_ada/status", `{"status": "SUSPENDED"}`).want(t, http.StatusOK)
	post(t, browser(t), r.app+"/login", credentials("ada@example.com", "demo-ada", "")).want(t, http.StatusForbidden)
	get(t, b, r.app+"/settings/apps").want(t, http.StatusForbidden)
	r.dev("users/usr_ada/status", `{"status": "ACTIVE"}`).want(t, http.StatusOK)
	get(t, b, r.app+"/settings/apps").want(t, http.StatusOK)
}

// AZ-01: the consent page leads to the sign-in page and back to the same request, which the
// other account then decides. The sign-in ends the first session.
func TestUseAnotherAccount_AZ01(t *testing.T) {
	t.Parallel()
	r := start(t)
	b := r.signIn("ada@example.com", "demo-ada")
	page := get(t, b, r.authorizeURL("invoices:read", "")).want(t, http.StatusOK)
	_, link, found := strings.Cut(page.body, `<a href="/login?`)
	link, _, _ = strings.Cut(link, `">Use another account</a>`)
	if !found {
		t.Fatal(page.body)
	}
	login := get(t, b, r.app+"/login?"+link).want(t, http.StatusOK)
	if !strings.Contains(login.body, "You are signed in as <strong>Ada Moreau</strong>") {
		t.Error(login.body)
	}
	form := login.form()
	form.Set("email", "ben@example.com")
	form.Set("password", "demo-ben")
	a := post(t, b, r.app+"/login", form).want(t, http.StatusSeeOther)
	page = get(t, b, r.app+a.Header.Get("Location")).want(t, http.StatusOK)
	if !strings.Contains(page.body, "Okafor Cycles") || !strings.Contains(page.body, "You are signed in as <strong>Ben") {
		t.Error(page.body)
	}
	if body := get(t, browser(t), r.app+"/login").want(t, http.StatusOK).body; strings.Contains(body, "You are signed in as") {
		t.Error("the sign-in page names a person without a session")
	}
}

// CON-15: the server's own pages show names as those of the platform do.
func TestNamesOnOwnPages_CON15(t *testing.T) {
	t.Parallel()
	named := strings.NewReplacer(`"Moreau Bakery"`, `"Moreau\u202e\u200b Bakery"`, `"Ada Moreau"`, `"Ada\u2066\n Moreau"`).Replace(demo)
	r := start(t, "-fixtures", file(t, "named.json", named))
	b := r.signIn("ada@example.com", "demo-ada")
	r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "profile:read")
	for path, want := range map[string]string{
		"/login": "You are signed in as <strong>Ada  Moreau</strong>", "/businesses": "Moreau Bakery", "/embedded/" + syncID: "Moreau Bakery",
	} {
		page := get(t, b, r.app+path).want(t, http.StatusOK).body
		if !strings.Contains(page, want) || strings.ContainsAny(page, "\u202e\u200b\u2066") {
			t.Errorf("%s: %q", path, page)
		}
	}
}

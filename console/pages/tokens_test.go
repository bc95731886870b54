package pages_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// CON-09: the page creates a token and shows it once, lists tokens with last use and
// expiry, and revokes them.
func TestTokensPage_CON09(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	o.get("/tokens").want(http.StatusOK).shows("There are no tokens.", "For One.")
	created := o.post("/tokens", "name", "nightly <i>", "expires_in_days", "30").want(http.StatusOK).shows("nightly <i>", "1 Oct 2026, 12:00:00 UTC")
	text := regexp.MustCompile(`pk_ct_[\w-]+`).FindString(created.Body)
	r := httptest.NewRequest(http.MethodGet, "https://api.example.com/developer/apps", nil)
	r.Header.Set("Authorization", "Bearer "+text)
	call := func() int {
		w := httptest.NewRecorder()
		o.console.ServeHTTP(w, r)
		return w.Code
	}
	o.get("/tokens").want(http.StatusOK).shows("nightly <i>", "never").lacks(text)
	o.clock.Advance(time.Hour)
	if got := call(); got != http.StatusOK {
		t.Errorf("the token: %d", got)
	}
	list := o.get("/tokens").shows("1 Sep 2026, 13:00:00 UTC").lacks("never", "Expired")
	revoke := regexp.MustCompile(`/tokens/ctk_\w+/revoke`).FindString(list.Body)
	o.post(revoke).wantTo("/tokens?done=token-revoked")
	if got := call(); got != http.StatusUnauthorized {
		t.Errorf("after it was revoked: %d", got)
	}
	o.post(revoke).want(http.StatusNotFound)
	o.get("/tokens").lacks("nightly &lt;")
	if log := o.get("/registration"); strings.Count(log.Body, "nightly &lt;i&gt;") != 2 { // created and revoked
		t.Errorf("the audit log of the organization does not name the token: %s", log.Body)
	}
	o.post("/tokens", "name", "short", "expires_in_days", "1")
	o.clock.Advance(25 * time.Hour)
	o.get("/tokens").shows("short", "Expired")
}

// An error of a form stands beside its field, in the words of the form. The first wrong
// field has the focus, and what was entered is kept.
func TestTokenFormProblems(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	page := o.post("/tokens", "name", " ", "expires_in_days", "400").want(http.StatusBadRequest).alerts("Please correct what is marked below.").
		shows("Name must have 1 to 100 characters", "Valid for must be a whole number from 1 to 365")
	for _, want := range []string{
		`name="name" value=" " required maxlength="100" placeholder="nightly build" aria-describedby="name-hint name-problem" aria-invalid="true" autofocus>`,
		`value="400" required aria-describedby="expires-hint expires_in_days-problem" aria-invalid="true">`,
	} {
		if !strings.Contains(page.Body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	o.send(ask{method: "POST", path: "/tokens", by: ben, form: url.Values{"name": {"ci"}, "expires_in_days": {"9"}, "organization_id": {"org_9"}}}).want(http.StatusBadRequest).
		shows("Organization must be an organization that you are a member of")
}

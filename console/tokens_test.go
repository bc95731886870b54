package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/storage"
)

// newToken creates a console token and returns its text and its id.
// maxTokens is how many valid console tokens an organization may have.
const maxTokens = 100

func (d *harness) newToken(by, body string) (text, tokenID string) {
	d.Helper()
	created := d.send(call{what: "POST /developer/tokens", by: by, body: body}).want(http.StatusCreated)
	return created.text("token"), created.text("id")
}

// with sends a request with a console token.
func (d *harness) with(token, what string, body ...string) response {
	d.Helper()
	return d.send(call{what: what, body: strings.Join(body, ""), set: http.Header{"Authorization": {"Bearer " + token}}})
}

func TestConsoleTokens(t *testing.T) {
	t.Parallel()
	t.Run("CON-09 created, listed, revoked", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		created := d.ann("POST /developer/tokens", `{"name": " ci ", "organizationId": "org_1", "expiresInDays": 365}`).want(http.StatusCreated)
		created.wantTime("expiresAt", 365*24*time.Hour)
		text := created.text("token")
		if created.text("name") != "ci" || !strings.HasPrefix(text, "pk_ct_") || len(created.body) != 4 {
			t.Errorf("created %v", created.body)
		}
		listed := d.ann("GET /developer/tokens?organizationId=org_1")
		if strings.Contains(listed.Body, text) || listed.data()[0]["lastUsedAt"] != nil || listed.data()[0]["userId"] != ann {
			t.Errorf("listed %s", listed.Body)
		}
		d.with(text, "GET /developer/apps").want(http.StatusOK)
		if used := d.ann("GET /developer/tokens").data()[0]["lastUsedAt"]; used == nil {
			t.Error("its use is not shown")
		}
		path := "DELETE /developer/tokens/" + created.text("id")
		d.send(call{what: path, by: eve}).want(http.StatusNotFound)
		d.send(call{what: path, by: ben}).want(http.StatusNoContent) // a colleague may
		d.ann(path).want(http.StatusNotFound)
		d.with(text, "GET /developer/apps").want(http.StatusUnauthorized)
		if left := d.ann("GET /developer/tokens").data(); len(left) != 0 {
			t.Errorf("left %v", left)
		}
	})
	t.Run("CON-09 only a digest is stored", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		text, _ := d.newToken(ann, `{"name": "ci"}`)
		var digest []byte
		d.must(storage.One(t.Context(), d.store, "SELECT digest FROM partnerkit_console_token", nil, &digest))
		if want := secret.DigestOf(text); string(digest) != string(want.Bytes()) {
			t.Error("the stored digest is not that of the token")
		}
	})
	t.Run("CON-09 bounds", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		for body, problem := range map[string]string{
			`{"name": ""}`: "name must have 1 to 100 characters",
			`{"name": "` + strings.Repeat("ä", 101) + `"}`: "name must have 1 to 100 characters",
			`{"name": "ci", "expiresInDays": 0}`:           "expiresInDays must be a whole number from 1 to 365",
			`{"name": "ci", "expiresInDays": 366}`:         "expiresInDays must be a whole number from 1 to 365",
			`{"name": "ci", "organizationId": "org_3"}`:    "organizationId must be an organization that you are a member of",
		} {
			d.ann("POST /developer/tokens", body).wantInvalid(problem)
		}
		d.ann("GET /developer/tokens?organizationId=org_3").wantInvalid("organizationId must be an organization that you are a member of")
		d.ann("POST /developer/tokens", `{"name": "ci"}`).wantTime("expiresAt", 90*24*time.Hour)
		for range maxTokens - 1 {
			d.newToken(ann, `{"name": "ci"}`)
		}
		d.ann("POST /developer/tokens", `{"name": "ci"}`).wantInvalid(fmt.Sprintf("an organization may have at most %d console tokens", maxTokens))
	})
	t.Run("CON-09 expires", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		text, _ := d.newToken(ann, `{"name": "ci", "expiresInDays": 1}`)
		d.clock.Advance(24*time.Hour - time.Minute)
		d.with(text, "GET /developer/apps").want(http.StatusOK)
		d.clock.Advance(time.Minute)
		d.with(text, "GET /developer/apps").want(http.StatusUnauthorized)
	})
	t.Run("CON-09 opens one organization", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		one, _ := d.newApp(confidentialApp)
		text, _ := d.newToken(ben, `{"name": "ci", "organizationId": "org_2"}`)
		d.with(text, "GET "+one).want(http.StatusNotFound)
		made := d.with(text, "POST /developer/apps", confidentialApp).want(http.StatusCreated)
		if made.text("organizationId") != "org_2" {
			t.Errorf("made for %s", made.text("organizationId"))
		}
	})
	t.Run("CON-09 stops when its creator leaves the organization", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		text, _ := d.newToken(ben, `{"name": "ci", "organizationId": "org_2"}`)
		d.with(text, "GET /developer/apps").want(http.StatusOK)
		d.people.RemoveOrganization(ben, "org_2")
		d.with(text, "GET /developer/apps").want(http.StatusUnauthorized)
	})
	t.Run("CON-09 stops while its creator is suspended", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		text, _ := d.newToken(ann, `{"name": "ci"}`)
		d.must(d.oauth.SetUserStatus(t.Context(), ann, identity.UserSuspended))
		d.with(text, "GET /developer/apps").want(http.StatusForbidden)
	})
	t.Run("CON-09 cannot create tokens", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		text, tokenID := d.newToken(ann, `{"name": "ci"}`)
		d.with(text, "POST /developer/tokens", `{"name": "more"}`).want(http.StatusForbidden)
		if tokens := d.with(text, "GET /developer/tokens").data(); len(tokens) != 1 {
			t.Errorf("tokens %v", tokens)
		}
		d.with(text, "DELETE /developer/tokens/"+tokenID).want(http.StatusNoContent)
	})
	t.Run("CON-09 what is no valid token", func(t *testing.T) {
		t.Parallel()
		d := newHarness(t)
		text, _ := d.newToken(ann, `{"name": "ci"}`)
		for _, wrong := range []string{"", "pk_ct_", text + "x", strings.ToUpper(text), secret.New(secret.ConsoleToken).Reveal(), secret.New(secret.RegistrationToken).Reveal()} {
			d.with(wrong, "GET /developer/apps").want(http.StatusUnauthorized)
		}
		twice := http.Header{"Authorization": {"Bearer " + text, "Bearer " + text}}
		d.send(call{what: "GET /developer/apps", set: twice}).want(http.StatusUnauthorized)
		d.send(call{what: "GET /developer/apps?access_token=" + text}).want(http.StatusUnauthorized)
		// Beside a session the token counts, and what is wrong with it.
		d.send(call{what: "GET /developer/apps", by: ann, set: http.Header{"Authorization": {"Bearer pk_ct_wrong"}}}).want(http.StatusUnauthorized)
	})
}

// CON-09: every call except creating tokens and reading events works with a token, even from a page of another
// origin; and the audit log has the name of the token.
func TestEveryCallWithConsoleToken_CON09(t *testing.T) {
	t.Parallel()
	eachCall(t, func(d *harness, pattern string, c call) {
		text, tokenID := d.newToken(ann, `{"name": "nightly build"}`)
		before := d.auditedBy("nightly build")
		c.set = http.Header{"Authorization": {"Bearer " + text}, "Origin": {"https://elsewhere.example"}, "Sec-Fetch-Site": {"cross-site"}}
		got := d.send(c)
		want := 0
		switch {
		case pattern == "POST /developer/tokens", pattern == "GET /developer/apps/{appId}/events":
			got.want(http.StatusForbidden)
		case got.Status >= 300:
			t.Errorf("%s: %d %s", pattern, got.Status, got.Body)
		case isWrite(pattern):
			want = 1
		}
		if entries := d.auditedBy("nightly build") - before; entries != want {
			t.Errorf("%s left %d entries with the name of the token", pattern, entries)
		}
		d.ann("DELETE /developer/tokens/" + tokenID).want(http.StatusNoContent) // an organization has no room for one a call
	})
}

func (d *harness) auditedBy(token string) int {
	d.Helper()
	var n int
	d.must(storage.One(d.Context(), d.store, "SELECT COUNT(*) FROM partnerkit_audit WHERE token = $1", []any{token}, &n))
	return n
}

// CON-09: the audit log names the token, and what was done with tokens.
func TestAuditOfConsoleTokens_CON09(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	text, tokenID := d.newToken(ann, `{"name": "ci"}`)
	d.with(text, "PATCH "+path, `{"name": "Renamed"}`).want(http.StatusOK)
	entry := d.ann("GET " + path + "/audit").data()[0]
	delete(entry, "id")
	delete(entry, "createdAt")
	want := map[string]any{"userId": ann, "action": "app.updated", "target": nil, "token": "ci", "detail": "name: Sync → Renamed"}
	if diff := cmp.Diff(want, entry); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	d.ann("DELETE /developer/tokens/" + tokenID).want(http.StatusNoContent)
	signedIn := httptest.NewRequest(http.MethodGet, apiOrigin, http.NoBody)
	signedIn.AddCookie(d.people.NewSession(ann, ""))
	by, err := d.console.Actor(signedIn)
	d.must(err)
	log, err := d.console.OrganizationAudit(t.Context(), by, console.Page{})
	d.must(err)
	var done []string
	for _, one := range log.Items {
		done = append(done, fmt.Sprint(one.Action, " ", one.Target, " ", one.Detail))
	}
	if diff := cmp.Diff([]string{"console_token.revoked org_1 ci", "console_token.created org_1 ci"}, done); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

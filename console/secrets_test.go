package console_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/testdb"
)

// CON-02, APP-02: a developer moves from one secret to the next.
func TestSecrets_APP02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	made := d.ann("POST /developer/apps", confidentialApp).want(http.StatusCreated)
	path := "/developer/apps/" + made.text("id")
	signIn := func(secret string) int {
		r, w := httptest.NewRequest(http.MethodPost, apiOrigin+"/oauth/device/authorize", nil), httptest.NewRecorder()
		r.SetBasicAuth(made.text("clientId"), secret)
		d.oauth.APIHandler().ServeHTTP(w, r)
		return w.Code
	}

	added := d.ann("POST " + path + "/secrets").want(http.StatusCreated)
	added.wantTime("createdAt", 0)
	added.wantBody(map[string]any{
		"id": added.text("id"), "secret": added.text("secret"), "prefix": added.text("secret")[:10], "createdAt": added.text("createdAt"),
	})
	if a, b := signIn(made.text("clientSecret")), signIn(added.text("secret")); a != http.StatusOK || b != http.StatusOK {
		t.Errorf("with two valid secrets: %d and %d", a, b)
	}
	d.ann("POST "+path+"/secrets", "{}").wantCode(http.StatusBadRequest, "SECRET_LIMIT_REACHED")

	secrets := d.ann("GET " + path + "/secrets")
	if got := secrets.data(); len(got) != 2 || got[1]["id"] != added.text("id") || len(got[0]) != 3 || strings.Contains(secrets.Body, added.text("secret")) {
		t.Errorf("listed %s", secrets.Body)
	}
	first := path + "/secrets/" + secrets.data()[0]["id"].(string)
	if gone := d.ann("DELETE " + first).want(http.StatusNoContent); gone.Body != "" {
		t.Errorf("the answer has a body: %s", gone.Body)
	}
	d.ann("DELETE " + first).want(http.StatusNotFound) // it has ended
	if a, b := signIn(made.text("clientSecret")), signIn(added.text("secret")); a != http.StatusUnauthorized || b != http.StatusOK {
		t.Errorf("after the first ended: %d and %d", a, b)
	}
	if got := d.ann("GET " + path + "/secrets").data(); got[0]["endedAt"] == nil || got[1]["endedAt"] != nil {
		t.Errorf("listed %v", got)
	}
	d.ann("DELETE "+path+"/secrets/"+added.text("id")).wantCode(http.StatusBadRequest, "LAST_SECRET")
	d.ann("DELETE " + path + "/secrets/sec_absent").want(http.StatusNotFound)
	d.ann("POST "+path+"/secrets", `{"secret": "mine"}`).wantInvalid("secret is not a known member")
}

// CON-02: a PUBLIC app has none, and says so.
func TestSecretsOfPublicApp_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(publicApp)
	d.ann("POST "+path+"/secrets").wantCode(http.StatusBadRequest, "PUBLIC_APP_HAS_NO_SECRETS")
	if got := d.ann("GET " + path + "/secrets").data(); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
	other, _ := d.newApp(confidentialApp)
	foreign := d.ann("GET " + other + "/secrets").data()[0]["id"].(string)
	d.ann("DELETE " + path + "/secrets/" + foreign).want(http.StatusNotFound) // another app's
}

// APP-02: of two sessions that add a secret at once, one does.
func TestRaceOfSecrets_APP02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	for range 10 {
		path, _ := d.newApp(confidentialApp)
		replies := make([]response, 4)
		testdb.Race(len(replies), func(i int) {
			replies[i] = d.send(call{what: "POST " + path + "/secrets", by: []string{ann, ben}[i%2]})
		})
		created := 0
		for _, got := range replies {
			if got.Status == http.StatusCreated {
				created++
				continue
			}
			got.wantCode(http.StatusBadRequest, "SECRET_LIMIT_REACHED")
		}
		if created != 1 {
			t.Fatalf("%d secrets were added to the first", created)
		}
	}
}

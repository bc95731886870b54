package console_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A call that takes nothing takes no body, {}, and a body of unannounced length that
// turns out to be empty; anything else is refused.
func TestCallsWithoutMembers(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	hook := d.ann("POST "+path+"/webhooks", `{"url": "https://partner.example/hook", "events": []}`).want(http.StatusCreated).text("id")
	for body, want := range map[string]int{"": http.StatusOK, "{}": http.StatusOK, `{"secret":"mine"}`: http.StatusBadRequest, " ": http.StatusBadRequest} {
		for name, reader := range map[string]io.Reader{"announced": strings.NewReader(body), "not announced": io.MultiReader(strings.NewReader(body))} {
			r := httptest.NewRequest(http.MethodPost, apiOrigin+path+"/webhooks/"+hook+"/rotate-secret", reader)
			r.AddCookie(d.people.NewSession(ann, ""))
			if body != "" {
				r.Header.Set("Content-Type", "application/json")
			}
			w := httptest.NewRecorder()
			d.console.ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("body %q, %s: %d, want %d: %s", body, name, w.Code, want, w.Body)
			}
		}
	}
}

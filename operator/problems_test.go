package operator_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// CON-15: developers see what operators write about an app, and operators the audit log.
func TestReasons_CON15(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.submitted("sync")
	for what, body := range map[string]string{
		"POST /operator/apps/" + app + "/status":  `{"status": "SUSPENDED", "reason": "one\n%two"}`,
		"POST /operator/users/usr_ada/status":     `{"status": "SUSPENDED", "reason": "one\n%two"}`,
		"POST /operator/trusted-documents":        `{"host": "agent.example", "reason": "one\n%two"}`,
		"POST /operator/apps/" + app + "/listing": `{"state": "in_review", "note": "one\n%two"}`,
	} {
		got := h.call("usr_olga", what, strings.Replace(body, "%", "\u202e", 1)).Want(http.StatusBadRequest)
		if !strings.Contains(got.Body, "must not have the character U+202E, which cannot be seen") {
			t.Errorf("%s: %s", what, got.Body)
		}
		if got := h.call("usr_olga", what, strings.Replace(body, "%", "", 1)); got.Status >= http.StatusBadRequest {
			t.Errorf("%s: a line break is refused: %s", what, got.Body)
		}
	}
}

// ERR-06: every body of the operator's side has its wrong types and what else is wrong with
// it named at once.
func TestEveryProblemAtOnce_ERR06(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	app := h.submitted("sync")
	for _, test := range []struct {
		what, body string
		problems   []string
	}{
		{"POST /operator/apps/" + app + "/status", `{"status": 1}`, []string{"status must be a string", "reason is required"}},
		{"POST /operator/apps/" + app + "/listing", `{"state": 1, "note": "\u0000"}`, []string{"state must be a string", "note has a NUL character"}},
		{"POST /operator/users/usr_ada/status", `{"reason": 1, "status": "GONE"}`, []string{"reason must be a string", "status must be ACTIVE, SUSPENDED or RESTRICTED"}},
		{"POST /operator/trusted-documents", `{"reason": 1}`, []string{"reason must be a string", "host must be a host such as agent.example, or the beginning of an https URL"}},
	} {
		got := h.call("usr_olga", test.what, test.body).Want(http.StatusBadRequest)
		var body struct{ Message []string }
		if err := json.Unmarshal([]byte(got.Body), &body); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.problems, body.Message); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.what, diff)
		}
	}
}

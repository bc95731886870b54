package operator_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

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

package partnerkit_test

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

// AN-01, IDEM-01: the assembly counts calls and repeats responses.
func TestCallsAreCountedAndRepeated(t *testing.T) {
	t.Parallel()
	var worked atomic.Int64
	h := partnertest.New(t, func(c *partnerkit.Config) {
		c.Versions = guard.Versions{Current: "2026-09-01", All: []guard.Version{{Name: "2026-01-15"}, {Name: "2026-09-01"}}}
		c.Routes = []guard.Route{{
			Pattern: "POST /invoices", Scope: "invoices:write",
			Handler: func(w http.ResponseWriter, _ *http.Request) error {
				return apierror.WriteJSON(w, http.StatusCreated, map[string]int64{"n": worked.Add(1)})
			},
		}}
	})
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"events:read", "invoices:write"}})
	var bodies []string
	for i := range 3 {
		headers := []string{"Idempotency-Key", "once"}
		if i == 2 { // a repeated response stays in the version of the first
			headers = append(headers, "Service-Version", "2026-01-15")
		}
		got := app.Do(http.MethodPost, "/invoices", struct{}{}, headers...).Want(http.StatusCreated)
		bodies = append(bodies, got.Body)
		if got.Header.Get("RateLimit-Limit") != "300" || got.Header.Get("Service-Version") != "2026-09-01" {
			t.Errorf("%s: %v", got, got.Header)
		}
	}
	t.Run("IDEM-01 the answer is repeated", func(t *testing.T) {
		if worked.Load() != 1 || bodies[0] != bodies[2] {
			t.Errorf("worked %d times, answers %q", worked.Load(), bodies)
		}
	})
	t.Run("AN-01 each call is counted", func(t *testing.T) {
		report, err := h.Analytics().Report(t.Context(), app.ID, 1)
		if err != nil || report.Totals.Calls != 3 || report.Totals.Errors != 0 {
			t.Errorf("report %+v, %v", report.Totals, err)
		}
	})
}

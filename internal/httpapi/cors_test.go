package httpapi_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/internal/httpapi"
)

// The name of the version header is valid in HTTP for every service name.
func TestVersionHeader(t *testing.T) {
	t.Parallel()
	for service, want := range map[string]string{"": "Service-Version", "Ledger": "Ledger-Version", "My Ledger: Ö": "My-Ledger----Version"} {
		if got := httpapi.VersionHeader(service); got != want {
			t.Errorf("VersionHeader(%q) = %q, want %q", service, got, want)
		}
	}
}

package storetest_test

import (
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// forwarding is a store that has the methods of partnerkit.Store and no others.
type forwarding struct{ partnerkit.Store }

func openForwarding(t testing.TB) partnerkit.Store {
	return forwarding{storetest.NewEnv(t, testdb.SQLite)}
}

// A store of another package passes, without a method beyond the interface. By hand
// storage/sqlite runs the suite on the same store.
func TestForwardingStore(t *testing.T) {
	t.Parallel()
	testenv.Long(t)
	if testenv.Proving() {
		t.Skip("storage/sqlite has the long form, on the same store")
	}
	storetest.Run(t, openForwarding)
}

package partnerkit_test

import (
	"reflect"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/operator"
)

// maxStoreMethods is how many methods a store may have to implement, without those of
// laterStores. It only goes down.
const maxStoreMethods = 79

// laterStores are the small interfaces of features that were added since. Each is named here
// deliberately.
var laterStores = []reflect.Type{
	reflect.TypeFor[analytics.GroupStore](),
	reflect.TypeFor[analytics.RequestStore](),
	reflect.TypeFor[console.InstallationStore](),
	reflect.TypeFor[console.LockStore](),
	reflect.TypeFor[console.ReviewStore](),
	reflect.TypeFor[console.TokenStore](),
	reflect.TypeFor[oauthserver.AssertionStore](),
	reflect.TypeFor[operator.StaffStore](),
}

// A method that another one can serve is not added: reads that differ in their filter share
// a query, and a feature that needs more declares a small interface of its own.
func TestStoreStaysSmall(t *testing.T) {
	t.Parallel()
	n := reflect.TypeFor[partnerkit.Store]().NumMethod()
	for _, later := range laterStores {
		n -= later.NumMethod()
	}
	if n > maxStoreMethods {
		t.Errorf("partnerkit.Store has %d methods, at most %d are allowed", n, maxStoreMethods)
	}
}

package identity_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
)

// META-02: the whole catalog is published, a superset of what apps may have.
func TestDefaultScopes(t *testing.T) {
	t.Parallel()
	c := identity.DefaultScopes()
	want := []string{"profile:read", "events:read"}
	for _, record := range []string{"invoices", "customers", "payments", "accounts", "journal", "suppliers"} {
		want = append(want, record+":read", record+":write")
	}
	if diff := cmp.Diff(want, c.Requestable().Names()); diff != "" {
		t.Errorf("requestable (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(want, "internal:admin"), c.Names().Names()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for _, entry := range c.All() {
		found, ok := c.Lookup(entry.Name)
		if !ok || found != entry || entry.Description == "" || strings.HasSuffix(entry.Description, ".") {
			t.Errorf("entry %+v, lookup %+v, %t", entry, found, ok)
		}
	}
}

func TestCatalogChecks(t *testing.T) {
	t.Parallel()
	c := identity.DefaultScopes()
	for name, row := range map[string]struct {
		scopes, unknown, notRequestable string
	}{
		"known":    {"invoices:read profile:read", "", ""},
		"unknown":  {"x invoices:read y", "unknown scope: x y", "unknown scope: x y"},
		"internal": {"invoices:read internal:admin", "", "unknown scope: internal:admin"},
		"case":     {"Invoices:read", "unknown scope: Invoices:read", "unknown scope: Invoices:read"},
	} {
		scopes, err := identity.ParseScopes(row.scopes)
		if err != nil {
			t.Fatal(err)
		}
		wantScopeError(t, name, c.Check(scopes), row.unknown)
		wantScopeError(t, name, c.CheckRequestable(scopes), row.notRequestable)
	}
	if err := c.Check(identity.Scopes{}); err != nil {
		t.Errorf("no scopes: %v", err)
	}
	var none identity.ScopeCatalog
	wantScopeError(t, "zero catalog", none.Check(identity.MustScopes("a")), "unknown scope: a")
	if _, ok := none.Lookup("a"); ok {
		t.Error("the zero catalog knows a scope")
	}
}

func TestNewScopeCatalogRefuses(t *testing.T) {
	t.Parallel()
	good := identity.Scope{Name: "a", Description: "See a"}
	many := make([]identity.Scope, 101)
	for i := range many {
		many[i] = identity.Scope{Name: strings.Repeat("a", i+1), Description: "See a"}
	}
	for want, entries := range map[string][]identity.Scope{
		"scope catalog: a is listed twice":                                 {good, good},
		"scope catalog: entry 2: name has a character that is not allowed": {good, {Name: "a b", Description: "x"}},
		"scope catalog: b has no description":                              {good, {Name: "b", Description: " "}},
		"scope catalog: more than 100 scopes":                              many,
		"scope catalog: entry 1: name is empty":                            {{}},
	} {
		if _, err := identity.NewScopeCatalog(entries...); err == nil || err.Error() != want {
			t.Errorf("NewScopeCatalog: %v, want %q", err, want)
		}
	}
}

func TestCatalogDoesNotChange(t *testing.T) {
	t.Parallel()
	entries := []identity.Scope{{Name: "a", Description: "See a"}}
	c, err := identity.NewScopeCatalog(entries...)
	if err != nil {
		t.Fatal(err)
	}
	entries[0].Internal = true
	c.All()[0].Internal = true
	if got := c.Requestable().String(); got != "a" {
		t.Errorf("requestable %q, want a", got)
	}
}

func wantScopeError(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return
	}
	if err == nil || err.Error() != want {
		t.Errorf("%s: %v, want %q", name, err, want)
	}
}

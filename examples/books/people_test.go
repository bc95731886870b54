package books_test

import (
	"errors"
	"testing"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/clock"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newBooks returns books in memory with three users in two businesses.
func newBooks(t *testing.T) *books.Books {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: ":memory:"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	b, err := books.Open(t.Context(), store, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	filled, err := b.Fill(t.Context(), "test", func(_ *sqlstore.Store, tx storage.Tx) error {
		for _, id := range []string{"usr_ada", "usr_ben", "usr_cleo"} {
			if err := books.AddUser(t.Context(), tx, books.User{ID: id, Email: id + "@example.com", Name: id}); err != nil {
				return err
			}
		}
		return errors.Join(
			books.AddBusiness(t.Context(), tx, books.Business{ID: "biz_bakery", Name: "Bakery", Plan: "FREE", Currency: "EUR", Members: []books.Member{
				{UserID: "usr_ada", Role: books.RoleOwner}, {UserID: "usr_ben", Role: books.RoleAdmin}, {UserID: "usr_cleo", Role: books.RoleMember},
			}}, 0),
			books.AddBusiness(t.Context(), tx, books.Business{ID: "biz_cycles", Name: "Cycles", Plan: "PAID", Currency: "EUR", Members: []books.Member{
				{UserID: "usr_cleo", Role: books.RoleMember, Permissions: []string{"apps.install"}},
			}}, 1),
		)
	})
	if err != nil || !filled {
		t.Fatalf("filled %t, %v", filled, err)
	}
	return b
}

// API-05: permissions are those of the books, a member's own before the role's.
func TestPermissions_API05(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	for _, test := range []struct {
		business, user string
		permission     guard.Permission
		want           bool
	}{
		{"biz_bakery", "usr_ada", "journal.post", true},      // owner
		{"biz_bakery", "usr_ben", "payments.delete", true},   // admin
		{"biz_bakery", "usr_cleo", "payments.delete", false}, // member
		{"biz_cycles", "usr_cleo", "apps.install", true},     // her own
		{"biz_cycles", "usr_cleo", "accounts.manage", false},
		{"biz_cycles", "usr_ada", "journal.post", false}, // not there
		{"biz_none", "usr_ada", "journal.post", false},
	} {
		if got, err := b.HasPermission(t.Context(), test.business, test.user, test.permission); err != nil || got != test.want {
			t.Errorf("%s of %s in %s: %v, %v", test.permission, test.user, test.business, got, err)
		}
	}
}

func TestSetPermissions(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	for _, test := range []struct {
		own  []string
		want bool
	}{{[]string{}, false}, {[]string{"journal.post"}, true}, {[]string{"apps.install"}, false}, {nil, true}} {
		if err := b.SetPermissions(t.Context(), "biz_bakery", "usr_ada", test.own); err != nil {
			t.Fatal(err)
		}
		if got, err := b.HasPermission(t.Context(), "biz_bakery", "usr_ada", "journal.post"); err != nil || got != test.want {
			t.Errorf("%v: %t, %v", test.own, got, err)
		}
	}
	if err := b.SetPermissions(t.Context(), "biz_cycles", "usr_ada", nil); !errors.Is(err, books.ErrAbsent) {
		t.Errorf("not a member: %v", err)
	}
}

// A database is filled once.
func TestFill(t *testing.T) {
	t.Parallel()
	b := newBooks(t)
	filled, err := b.Fill(t.Context(), "again", func(*sqlstore.Store, storage.Tx) error { return errors.New("called") })
	if filled || err != nil {
		t.Errorf("filled again: %t, %v", filled, err)
	}
	if origin, err := b.Origin(t.Context()); origin != "test" || err != nil {
		t.Errorf("origin %q, %v", origin, err)
	}
}

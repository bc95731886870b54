package identity_test

import (
	"context"
	"fmt"
	"log"

	"github.com/partnerkit/partnerkit/identity"
)

func Example() {
	scopes, err := identity.ParseScopes("invoices:read customers:read")
	if err != nil {
		log.Fatal(err)
	}
	ctx := identity.WithPrincipal(context.Background(), identity.Principal{
		ClientID: "cli_1", BusinessID: "biz_1", UserID: "usr_1", Scopes: scopes, SignIn: identity.SignInOAuth,
	})

	// Later, in a handler:
	p, ok := identity.PrincipalFrom(ctx)
	fmt.Println(ok, p.BusinessID, p.Scopes.Has("invoices:read"), p.Scopes.Has("invoices:write"))
	// Output: true biz_1 true false
}

func ExampleScopeCatalog() {
	catalog, err := identity.NewScopeCatalog(
		identity.Scope{Name: "invoices:read", Description: "See your invoices"},
		identity.Scope{Name: "internal:admin", Description: "Administer the service", Internal: true},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(catalog.Names())
	fmt.Println(catalog.CheckRequestable(identity.MustScopes("invoices:read", "internal:admin")))
	// Output:
	// invoices:read internal:admin
	// unknown scope: internal:admin
}

package partnerkit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// books is your backend: it knows who is signed in, and where they belong.
type books struct{}

func (books) Session(r *http.Request) (identity.Session, bool, error) {
	user := r.Header.Get("X-Gateway-User") // or your cookie
	return identity.Session{ID: user, UserID: user, BusinessID: "bakery"}, user != "", nil
}

func (books) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, "/login?"+url.Values{"return_to": {returnTo}}.Encode(), http.StatusSeeOther)
}

func (books) Businesses(_ context.Context, user string) ([]oauthserver.Business, error) {
	return []oauthserver.Business{{ID: "bakery", Name: "Moreau Bakery", MayConnect: user == "ada"}}, nil
}

func (books) IsMember(_ context.Context, business, user string) (bool, error) {
	return business == "bakery" && user == "ada", nil
}

func (books) invoices(w http.ResponseWriter, r *http.Request) error {
	caller, _ := identity.PrincipalFrom(r.Context()) // which app, for whom, in which business
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"invoicesOf": caller.BusinessID})
}

func open(store partnerkit.Store, ring *keyring.Keyring) (*partnerkit.Platform, error) {
	return partnerkit.New(partnerkit.Config{
		Store: store, Host: books{}, Keyring: ring,
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
		Routes: []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", Handler: books{}.invoices}},
	})
}

// A backend that opens its invoices to partner apps.
func Example() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory}) // or postgres.Open
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	ring, err := keyring.Parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") // yours is secret
	if err != nil {
		fmt.Println(err)
		return
	}
	platform, err := open(store, ring)
	if err != nil {
		fmt.Println(err)
		return
	}
	// platform.Serve(ctx, servers...) serves both hosts and works in the background.
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/invoices"} {
		response := httptest.NewRecorder()
		platform.API().ServeHTTP(response, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, response.Code)
	}
	// Output:
	// /.well-known/oauth-authorization-server 200
	// /invoices 401
}

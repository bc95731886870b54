package oauthserver_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// backend is what a host says about its people: one user in one business.
type backend struct{}

func (backend) Session(*http.Request) (identity.Session, bool, error) {
	return identity.Session{ID: "s1", UserID: "ann", BusinessID: "bakery"}, true, nil
}

func (backend) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, "/login", http.StatusSeeOther) // remember returnTo
}

func (backend) Businesses(context.Context, string) ([]oauthserver.Business, error) {
	return []oauthserver.Business{{ID: "bakery", Name: "Bakery", MayConnect: true}}, nil
}

func (backend) IsMember(_ context.Context, businessID, userID string) (bool, error) {
	return businessID == "bakery" && userID == "ann", nil
}

// A host mounts the two handlers, each on its own host name, and creates apps.
func Example() {
	ctx := context.Background()
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ring, err := keyring.Parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") // yours is secret
	if err != nil {
		log.Print(err)
		return
	}
	server, err := oauthserver.New(oauthserver.Config{
		Store: store, Host: backend{}, Keyring: ring, Pages: pages.New(),
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	if err != nil {
		log.Print(err)
		return
	}
	api, app := server.APIHandler(), server.AppHandler() // on https://api… and https://app…
	_ = app

	created, err := server.CreateApp(ctx, oauthserver.NewApp{
		Name: "Sync", Type: partner.Confidential, OrganizationID: "partner",
		RedirectURIs: []string{"https://partner.example/callback"}, Scopes: identity.MustScopes("invoices:read"),
	})
	if err != nil {
		log.Print(err)
		return
	}
	request := httptest.NewRequest(http.MethodPost, "/oauth/device/authorize", nil)
	request.SetBasicAuth(created.App.ClientID, created.Secret)
	response := httptest.NewRecorder()
	api.ServeHTTP(response, request)
	fmt.Println(response.Code)
	// Output: 200
}

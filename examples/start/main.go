// Command start is the smallest complete backend with partner apps: one user, one business
// and one route. docs/get-started.md explains it.
//
//	go run ./examples/start
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// backend implements oauthserver.Host. Ada is always signed in.
type backend struct{}

func (backend) Session(*http.Request) (identity.Session, bool, error) {
	return identity.Session{ID: "session_1", UserID: "ada", DisplayName: "Ada", BusinessID: "bakery"}, true, nil
}

func (backend) SignIn(w http.ResponseWriter, r *http.Request, returnTo string) {
	http.Redirect(w, r, returnTo, http.StatusSeeOther)
}

func (backend) Businesses(context.Context, string) ([]oauthserver.Business, error) {
	return []oauthserver.Business{{ID: "bakery", Name: "Moreau Bakery", MayConnect: true}}, nil
}

func (backend) IsMember(_ context.Context, business, user string) (bool, error) {
	return business == "bakery" && user == "ada", nil
}

func invoices(w http.ResponseWriter, r *http.Request) error {
	caller, _ := identity.PrincipalFrom(r.Context())
	return apierror.WriteJSON(w, http.StatusOK, map[string]string{"invoicesOf": caller.BusinessID})
}

// open creates the platform and one reviewed app.
func open(ctx context.Context, store partnerkit.Store) (*partnerkit.Platform, partner.App, error) {
	var key [keyring.KeySize]byte
	_, _ = rand.Read(key[:]) // in production: from your secret store
	ring, err := keyring.Parse(base64.StdEncoding.EncodeToString(key[:]))
	if err != nil {
		return nil, partner.App{}, err
	}
	platform, err := partnerkit.New(partnerkit.Config{
		Store: store, Host: backend{}, Keyring: ring,
		APIURL: "http://localhost:8090", AppURL: "http://localhost:8091",
		Routes: []guard.Route{{Pattern: "GET /invoices", Scope: "invoices:read", Handler: invoices}},
	})
	if err != nil {
		return nil, partner.App{}, err
	}
	app, err := platform.OAuth().CreateApp(ctx, oauthserver.NewApp{
		Name: "Sync", Type: partner.Public, OrganizationID: "org_1",
		RedirectURIs: []string{"http://localhost:9000/callback"}, Scopes: identity.MustScopes("invoices:read"),
	})
	if err != nil {
		return nil, partner.App{}, err
	}
	return platform, app.App, platform.OAuth().SetReviewed(ctx, app.App.ID, true)
}

func main() {
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt)
	store, err := sqlite.Open(ctx, sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	platform, app, err := open(ctx, store)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("client_id:", app.ClientID)
	// Serve also works in the background: webhooks, retention, key rotation.
	err = platform.Serve(ctx,
		&http.Server{Addr: "localhost:8090", Handler: platform.API()},
		&http.Server{Addr: "localhost:8091", Handler: platform.App()})
	if err != nil {
		log.Fatal(err)
	}
}

package console_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/webhooks"
)

// backend is what a host says about its people: Ann is signed in, and makes apps for
// an organization.
type backend struct{ oauthserver.Host }

func (backend) Session(*http.Request) (identity.Session, bool, error) {
	return identity.Session{ID: "s1", UserID: "ann"}, true, nil
}

func (backend) Organizations(context.Context, string) ([]console.Organization, error) {
	return []console.Organization{{ID: "acme", Name: "Acme"}}, nil
}

// A host mounts the console below /developer.
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
	oauth, err := oauthserver.New(oauthserver.Config{
		Store: store, Host: backend{}, Keyring: ring, Pages: pages.New(),
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	if err != nil {
		log.Print(err)
		return
	}
	hooks, err := webhooks.New(webhooks.Config{Store: store, Keyring: ring})
	if err != nil {
		log.Print(err)
		return
	}
	calls, err := analytics.New(analytics.Config{Store: store})
	if err != nil {
		log.Print(err)
		return
	}
	developers, err := console.New(console.Config{
		Store: store, Host: backend{}, OAuth: oauth, Webhooks: hooks, Analytics: calls,
		Origins: []string{"https://api.example.com", "https://app.example.com"},
	})
	if err != nil {
		log.Print(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/developer/", developers)

	for _, body := range []string{
		`{"name": "Sync", "type": "PUBLIC", "redirectUris": ["http://partner.example/"], "scopes": ["invoices:read"]}`,
		`{"name": "Sync", "type": "PUBLIC", "redirectUris": ["https://partner.example/"], "scopes": ["invoices:read"]}`,
	} {
		request := httptest.NewRequest(http.MethodPost, "/developer/apps", strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, request)
		fmt.Println(response.Code)
	}
	// The same, for a page.
	by, err := developers.Actor(httptest.NewRequest(http.MethodGet, "/", nil))
	if err != nil {
		log.Print(err)
		return
	}
	apps, err := developers.Apps(ctx, by, console.Page{})
	if err != nil {
		log.Print(err)
		return
	}
	for _, app := range apps.Items {
		fmt.Println(app.Name, "of", app.OrganizationID, app.Status)
	}
	// Output:
	// 400
	// 201
	// Sync of acme ACTIVE
}

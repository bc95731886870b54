package pages_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/oauthserver"
	consent "github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
	"github.com/partnerkit/partnerkit/webhooks"
)

// A host mounts the pages on its app host, at the prefix and below. The root package
// does all of this for a whole platform.
func Example() {
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	developers, err := newConsole(store)
	if err != nil {
		log.Print(err)
		return
	}
	developerPages, err := pages.New(pages.Config{
		Console: developers,
		SignIn: func(w http.ResponseWriter, r *http.Request, returnTo string) {
			http.Redirect(w, r, "/login?"+url.Values{"return_to": {returnTo}}.Encode(), http.StatusSeeOther)
		},
		Service: "Bookkeeper", Prefix: "/partners",
	})
	if err != nil {
		log.Print(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/partners", developerPages)
	mux.Handle("/partners/", developerPages)

	// No user is signed in yet.
	response := httptest.NewRecorder()
	mux.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/partners/apps/new", nil))
	fmt.Println(response.Code, response.Header().Get("Location"))
	// Output:
	// 303 /login?return_to=%2Fpartners%2Fapps%2Fnew
}

// newConsole puts a console together, over the features that it shows.
func newConsole(store *sqlstore.Store) (*console.Console, error) {
	ring, err := keyring.Parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") // yours is secret
	if err != nil {
		return nil, err
	}
	oauth, err := oauthserver.New(oauthserver.Config{
		Store: store, Host: partnertest.NewHost(), Keyring: ring, Pages: consent.New(), APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	if err != nil {
		return nil, err
	}
	hooks, err := webhooks.New(webhooks.Config{Store: store, Keyring: ring})
	if err != nil {
		return nil, err
	}
	calls, err := analytics.New(analytics.Config{Store: store})
	if err != nil {
		return nil, err
	}
	return console.New(console.Config{Store: store, Host: partnertest.NewHost(), OAuth: oauth, Webhooks: hooks, Analytics: calls})
}

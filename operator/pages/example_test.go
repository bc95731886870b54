package pages_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/operator/pages"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// A platform with Config.Operators serves the pages at /operator on its app host. This host
// serves them at a path of its own as well.
func Example() {
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ring, err := keyring.Parse("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=") // yours is secret
	if err != nil {
		log.Print(err)
		return
	}
	host := partnertest.NewHost() // yours knows sessions and users
	host.SetUser(operator.User{ID: "usr_olga", Name: "Olga", IsOperator: true})
	platform, err := partnerkit.New(partnerkit.Config{
		Store: store, Keyring: ring, Host: host, Developers: host, Operators: host,
		APIURL: "https://api.example.com", AppURL: "https://app.example.com",
	})
	if err != nil {
		log.Print(err)
		return
	}
	staff, err := pages.New(pages.Config{Operator: platform.Operator(), Service: "Bookkeeper", Prefix: "/staff"})
	if err != nil {
		log.Print(err)
		return
	}
	mux := http.NewServeMux()
	mux.Handle("/staff", staff)
	mux.Handle("/staff/", staff)

	for _, user := range []string{"usr_olga", "usr_ada"} {
		r := httptest.NewRequest(http.MethodGet, "/staff/reviews", nil)
		r.AddCookie(host.NewSession(user, ""))
		response := httptest.NewRecorder()
		mux.ServeHTTP(response, r)
		fmt.Println(user, response.Code)
	}
	// Output:
	// usr_olga 200
	// usr_ada 404
}

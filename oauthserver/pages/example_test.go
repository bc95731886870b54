package pages_test

import (
	"fmt"
	"net/http/httptest"
	"strings"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
)

func ExampleNew() {
	config := oauthserver.Config{Pages: pages.New()} // and the rest

	w := httptest.NewRecorder()
	err := config.Pages.Error(w, httptest.NewRequest("GET", "/oauth/authorize", nil), pages.ErrorView{Status: 400, Message: "Invalid client_id"})
	fmt.Println(err, strings.Contains(w.Body.String(), `role="alert" id="alert">Invalid client_id<`))
	// Output: <nil> true
}

package client_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/partnertest"
)

// forgiving is the library in a backend that gives a minute to repeat a refresh.
func forgiving(t *testing.T) (*partnertest.Harness, *client.App, *wire) {
	t.Helper()
	h := partnertest.New(t, func(c *partnerkit.Config) { c.OAuth.RefreshRetry = time.Minute })
	app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"profile:read"}})
	metadata, err := client.Discover(t.Context(), app.Client, h.APIURL)
	if err != nil {
		t.Fatal(err)
	}
	network := &wire{}
	return h, &client.App{
		Metadata: metadata, ClientID: app.ClientID, ClientSecret: app.ClientSecret,
		RedirectURL: app.RedirectURI, Scopes: app.Scopes, HTTP: &http.Client{Transport: client.TokenRetry(network)},
	}, network
}

// Package partnertest runs a complete platform inside a test of the host.
//
// [New] opens a database in memory, starts a [partnerkit.Platform] with a manual clock
// and serves its two hosts on loopback. [Harness.Connect] connects an app to a business
// and returns it with tokens and an authorized http.Client. [Harness.Receiver] receives
// and checks the app's webhooks. [Harness.Advance] moves the clock and waits until
// everything that is due has happened:
//
//	func TestInvoicesReachApps(t *testing.T) {
//		h := partnertest.New(t, func(c *partnerkit.Config) {
//			c.Routes = backend.Routes() // what you test
//		})
//		app := h.Connect(partnertest.ConnectOptions{Scopes: []string{"invoices:read"}})
//		app.Get("/invoices").Want(http.StatusOK)
//		h.Advance(time.Hour)
//		app.Get("/invoices").Want(http.StatusUnauthorized) // the token has expired
//	}
//
// Everything stops when the test ends, and no goroutine is left.
//
// # The host
//
// A platform asks its host who is signed in, and which businesses and organizations
// people belong to. [Host] is a host without a backend: it has one user, [User], who may
// connect apps to one business, [Business], and develops apps for one organization,
// [Organization]. Its methods add more. A test of a backend that implements
// oauthserver.Host itself sets Config.Host; Connect and Browser work with it too, since
// the harness recognizes its own sessions before it asks the backend.
//
// # Clock
//
// The clock stands still until the test moves it. Lifetimes, limits, retries of webhooks
// and retention follow this clock; timeouts of HTTP requests follow real time.
package partnertest

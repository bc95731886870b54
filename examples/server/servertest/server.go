package servertest

import "testing"

// Server is one that runs.
type Server struct {
	t              testing.TB
	API, App       string
	user, business string
}

// At returns a server that runs already, for a person who is a member of a business.
func At(t testing.TB, api, app, user, business string) *Server {
	return &Server{t, api, app, user, business}
}

// Start starts a server with the demo in a database of its own and waits until it is ready; it ends with the test. The
// demo's app ledgerlink-sync is at partnerURL, for its redirect and its webhook;
// "" leaves it where it is.
func Start(t testing.TB, partnerURL string) *Server {
	t.Helper()
	var args []string
	if partnerURL != "" {
		args = []string{"-fixtures", fixtures(t, partnerURL)}
	}
	p, err := Launch(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("the server: %v", err)
		}
	})
	return At(t, p.API, p.App, User, Business)
}

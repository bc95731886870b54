package servertest

import (
	"net/http"
	"net/url"
	"testing"
)

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

// SignIn returns a browser with a session, on both hosts.
func (s *Server) SignIn() *http.Client {
	s.t.Helper()
	return s.browser().Client
}

func (s *Server) browser() *Browser {
	s.t.Helper()
	b, err := SignIn(http.DefaultClient, s.API, s.App, s.user, s.business)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// Approve opens the consent page at the URL as a signed-in user, approves it for the
// user's business, and returns the query of the redirect back to the app.
func (s *Server) Approve(authorizeURL string) url.Values {
	s.t.Helper()
	back, err := s.browser().Approve(authorizeURL, s.business)
	if err != nil {
		s.t.Fatal(err)
	}
	return back
}

// DecideDevice enters a user code on the device page as the same person, and decides
// "allow" or "deny".
func (s *Server) DecideDevice(userCode, decision string) {
	s.t.Helper()
	if err := s.browser().DecideDevice(userCode, decision); err != nil {
		s.t.Fatal(err)
	}
}

// Dev makes a call of /dev and reads its response into out, which may be nil.
func (s *Server) Dev(path, body string, out any) {
	s.t.Helper()
	r, err := NewRequest(s.t.Context(), http.MethodPost, s.API+"/dev/"+path, body, "Content-Type", "application/json")
	if err != nil {
		s.t.Fatal(err)
	}
	got, err := Send(http.DefaultClient, r)
	if err != nil || got.Status != http.StatusOK {
		s.t.Fatalf("/dev/%s: %v, %v", path, got, err)
	}
	if out == nil {
		return
	}
	if err := got.Decode(out); err != nil {
		s.t.Fatal(err)
	}
}

package client_test

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// gate holds up the response to the first request for a token.
type gate struct {
	once            sync.Once
	responded, goOn chan struct{}
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := http.DefaultTransport.RoundTrip(r)
	if r.URL.Path == "/oauth/token" {
		g.once.Do(func() {
			close(g.responded)
			<-g.goOn
		})
	}
	return res, err
}

// A renewal that is overtaken, by a farewell or by a new consent, does not bring the
// old grant back.
func TestOvertakenRenewal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		overtake func(*testing.T, *harness, *client.Source) error
		want     error
	}{
		"by a farewell": {func(t *testing.T, _ *harness, s *client.Source) error { return s.Disconnect(t.Context()) }, client.ErrReauthorize},
		"by a consent": {func(t *testing.T, k *harness, s *client.Source) error {
			k.connect(t)
			return s.Put(k.first)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newHarness(t)
			old, g, app := k.first, &gate{responded: make(chan struct{}), goOn: make(chan struct{})}, *k.app
			app.HTTP = &http.Client{Transport: g}
			source, err := client.NewSource(&app, k.file)
			if err != nil {
				t.Fatal(err)
			}
			type outcome struct {
				token string
				err   error
			}
			ended := make(chan outcome, 1)
			go func() {
				token, err := source.Token(t.Context(), old.Access)
				ended <- outcome{token, err}
			}()
			<-g.responded
			if err := test.overtake(t, k, source); err != nil {
				t.Fatal(err)
			}
			close(g.goOn)
			got := <-ended
			held, _ := source.Tokens()
			if !errors.Is(got.err, test.want) || got.token != held.Access {
				t.Errorf("error %v, want %v", got.err, test.want)
			}
			stored, _, err := k.file.Load()
			if err != nil || stored.Refresh != held.Refresh || test.want == nil && held.Refresh != k.first.Refresh {
				t.Errorf("another grant is stored, or %v", err)
			}
		})
	}
}

package client_test

import (
	"path/filepath"
	"testing"

	"github.com/partnerkit/partnerkit/examples/partner/client"
	"github.com/partnerkit/partnerkit/partnertest"
)

// REF-08, CLI-01: with a retry window the repeated refresh gets the tokens of the
// lost response, and no user has to approve the app again.
func TestLostResponseInTheWindow(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *client.App, *wire, string){
		"on the way": func(_ *testing.T, _ *client.App, w *wire, _ string) { w.lose = loseOnce() },
		"in a crash": func(t *testing.T, app *client.App, _ *wire, refresh string) {
			if _, err := app.Refresh(t.Context(), refresh); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, app, network := forgiving(t)
			attempt := app.Begin()
			first, err := app.Finish(t.Context(), attempt, h.Approve(attempt.URL, partnertest.User, partnertest.Business))
			if err != nil {
				t.Fatal(err)
			}
			file := client.File{Path: filepath.Join(t.TempDir(), "tokens.json")}
			if err := file.Save(first); err != nil {
				t.Fatal(err)
			}
			lose(t, app, network, first.Refresh)
			source, err := client.NewSource(app, file)
			if err != nil {
				t.Fatal(err)
			}
			if token, err := source.Token(t.Context(), first.Access); err != nil || token == first.Access {
				t.Fatalf("the same token, or %v", err)
			}
			stored, _, err := file.Load()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := app.Refresh(t.Context(), stored.Refresh); err != nil {
				t.Errorf("the family is dead: %v", err)
			}
		})
	}
}

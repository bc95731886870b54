package client_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

var errLost = errors.New("connection reset")

// loseOnce loses the response to the next request for a token.
func loseOnce() func(*http.Request) error {
	lost := false
	return func(r *http.Request) error {
		if lost || r.URL.Path != "/oauth/token" {
			return nil
		}
		lost = true
		return errLost
	}
}

// REF-02, CLI-01: the response to a refresh is lost, on the way or by a crash before
// it was stored. The app presents the old token again; a strict server then ends
// the family, and the business is asked.
func TestLostResponseStrict(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*testing.T, *harness){
		"on the way": func(_ *testing.T, k *harness) { k.wire.lose = loseOnce() },
		"in a crash": func(t *testing.T, k *harness) {
			if _, err := k.app.Refresh(t.Context(), k.first.Refresh); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newHarness(t)
			lose(t, k)
			source, api := k.start(t, k.file)
			if _, err := source.Token(t.Context(), k.first.Access); !errors.Is(err, client.ErrReauthorize) {
				t.Errorf("error %v, want ErrReauthorize", err)
			}
			if _, ok, err := k.file.Load(); ok || err != nil {
				t.Errorf("the dead tokens are still stored, or %v", err)
			}
			k.connect(t)
			if err := source.Put(k.first); err != nil {
				t.Fatal(err)
			}
			if err := api.Do(t.Context(), profile); err != nil {
				t.Errorf("after asking again: %v", err)
			}
		})
	}
}

// fullDisk is a store that fails a few times.
type fullDisk struct {
	client.File
	failures int
}

var errFull = errors.New("no space left on device")

func (d *fullDisk) Save(t client.Tokens) error {
	if d.failures > 0 {
		d.failures--
		return errFull
	}
	return d.File.Save(t)
}

// CLI-01: both tokens are stored before either is used. What cannot be stored is
// not used, not lost, and not asked for again.
func TestStoredBeforeUsed(t *testing.T) {
	t.Parallel()
	k := newHarness(t)
	disk := &fullDisk{k.file, 2}
	source, api := k.start(t, disk)
	before := k.wire.requests("/oauth/token")
	for range 2 {
		if token, err := source.Token(t.Context(), k.first.Access); !errors.Is(err, errFull) || token != "" {
			t.Fatalf("with a full disk: a token %t, error %v", token != "", err)
		}
		if stored, _, err := k.file.Load(); err != nil || stored.Refresh != k.first.Refresh {
			t.Fatalf("the file changed: %v", err)
		}
	}
	if err := api.Do(t.Context(), profile); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if n := k.wire.requests("/oauth/token") - before; n != 1 {
		t.Errorf("%d refreshes, want 1", n)
	}
	stored, _, err := k.file.Load()
	if err != nil || stored.Refresh == k.first.Refresh {
		t.Errorf("not stored: %v", err)
	}
}

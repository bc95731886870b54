package webhooks_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/testdb"
	"github.com/partnerkit/partnerkit/keyring"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlite"
	"github.com/partnerkit/partnerkit/webhooks"
)

// signs returns what would sign now.
func (k *consoleHarness) signs(w partner.Webhook) []string {
	k.Helper()
	now, err := k.service.Get(k.Context(), w.AppID, w.ID)
	k.Must(err)
	texts, err := k.service.SigningSecrets(now, k.Clock.Now())
	k.Must(err)
	return texts
}

func (k *consoleHarness) wantSigns(w partner.Webhook, want ...string) {
	k.Helper()
	if diff := cmp.Diff(want, k.signs(w)); diff != "" {
		k.Errorf("what signs at %v (-want +got)\n%s", k.Clock.Now(), diff)
	}
}

// SIG-02: the new secret first and the old one second for 24 hours, then the new
// one alone; a second rotation within them drops the oldest.
func TestRotateSecret(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w, first, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL})
	k.Must(err)
	k.wantSigns(w, first)

	rotate := func() string {
		t.Helper()
		k.Clock.Advance(time.Minute)
		text, expires, err := k.service.RotateSecret(t.Context(), k.app.ID, w.ID)
		k.Must(err)
		if want := k.Clock.Now().Add(24 * time.Hour); expires != want || !strings.HasPrefix(text, "whsec_") {
			t.Errorf("%q, expires %v, want %v", text, expires, want)
		}
		return text
	}
	second := rotate()
	k.wantSigns(w, second, first)
	k.Clock.Advance(24*time.Hour - time.Millisecond)
	k.wantSigns(w, second, first)
	k.Clock.Advance(time.Millisecond) // exactly at its end it has ended
	k.wantSigns(w, second)

	third := rotate()
	k.wantSigns(w, third, second)
	fourth := rotate()
	k.wantSigns(w, fourth, third)
	k.Clock.Advance(23 * time.Hour)
	k.wantSigns(w, fourth, third) // the overlap restarted
	k.Clock.Advance(time.Hour)
	k.wantSigns(w, fourth)
	if all := map[string]bool{first: true, second: true, third: true, fourth: true}; len(all) != 4 {
		t.Errorf("a secret came twice: %d of 4", len(all))
	}

	// Changing something else leaves the secrets alone.
	rotated := rotate()
	k.off(w)
	k.wantSigns(w, rotated, fourth)
}

// SIG-02: every concurrent rotation returns a secret; the last two secrets sign.
func TestRotateAtOnce(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w := k.hook()
	var mu sync.Mutex
	made := map[string]bool{}
	testdb.Race(32, func(int) {
		text, _, err := k.service.RotateSecret(t.Context(), k.app.ID, w.ID)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		made[text] = true
	})
	signs := k.signs(w)
	if len(made) != 32 || len(signs) != 2 || signs[0] == signs[1] || !made[signs[0]] || !made[signs[1]] {
		t.Errorf("%d secrets were made, %d sign", len(made), len(signs))
	}
}

// SIG-04: the file of the database, as it lies there, holds no secret.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	k := newConsoleOn(t, func(t testing.TB) storage.DB {
		db, err := sqlite.OpenDB(t.Context(), sqlite.Config{Path: filepath.Join(directory, "hooks.db")})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	})
	w, first, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, ID: "whk_to_be_found"})
	k.Must(err)
	second, _, err := k.service.RotateSecret(t.Context(), k.app.ID, w.ID)
	k.Must(err)
	k.wantSigns(w, second, first)
	files, err := filepath.Glob(filepath.Join(directory, "hooks.db*"))
	k.Must(err)
	var stored []byte
	for _, file := range files {
		content, err := os.ReadFile(file)
		k.Must(err)
		stored = append(stored, content...)
	}
	if !bytes.Contains(stored, []byte(w.ID)) {
		t.Fatal("the webhook is not in the files")
	}
	for _, text := range []string{"whsec_", first[6:], second[6:]} {
		if bytes.Contains(stored, []byte(text)) {
			t.Errorf("the database shows %q", text[:6])
		}
	}
}

// SIG-04: sealed with the host's keys: a new one in front opens what the old one
// sealed, without the old one nothing opens, and neither does another row's.
func TestSecretsNeedTheKey(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	w, text, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL})
	k.Must(err)
	with := func(keys *keyring.Keyring) ([]string, error) {
		s, err := webhooks.New(webhooks.Config{Store: k.Store, Keyring: keys})
		k.Must(err)
		return s.SigningSecrets(w, k.Clock.Now())
	}
	if signs, err := with(fixture.Keyring(2, 1)); err != nil || !cmp.Equal(signs, []string{text}) {
		t.Errorf("with both keys: %v", err)
	}
	if _, err := with(fixture.Keyring(2)); !errors.Is(err, keyring.ErrUnknownKey) || strings.Contains(err.Error(), text[6:]) {
		t.Errorf("without the key: %v", err)
	}
	other := w
	other.ID = "whk_other"
	if _, err := k.service.SigningSecrets(other, k.Clock.Now()); !errors.Is(err, keyring.ErrCorrupted) {
		t.Errorf("in another row: %v", err)
	}
}

// No error and no log line contains a secret.
func TestSecretsNeverShow(t *testing.T) {
	t.Parallel()
	k := newConsole(t)
	given := "given-by-a-fixture"
	w, _, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, Secret: given})
	k.Must(err)
	var said strings.Builder
	for n := 1; n <= 4; n++ {
		k.Store.Tap.Arm(testdb.FaultError, n)
		_, _, err := k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: hookURL, Secret: given})
		fmt.Fprintln(&said, err)
		k.Store.Tap.Arm(testdb.FaultError, n)
		text, _, err := k.service.RotateSecret(t.Context(), k.app.ID, w.ID)
		fmt.Fprintln(&said, err)
		if n == 1 && (err == nil || text != "") {
			t.Errorf("a rotation that failed returned %q, %v", text, err)
		}
		k.Store.Tap.Reset()
	}
	_, _, err = k.service.Create(t.Context(), webhooks.NewWebhook{AppID: k.app.ID, URL: "x", Secret: given + " "})
	fmt.Fprintln(&said, err, k.log)
	fmt.Fprintf(&said, "%v %+v %#v", w, w, w)
	if shown := regexp.MustCompile(given + "|whsec_[A-Za-z0-9+/]{43}=").FindString(said.String()); shown != "" {
		t.Errorf("%q shows in\n%s", shown, said.String())
	}
}

package keyring_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/keyring"
)

var place = keyring.Place{Table: "partnerkit_webhook", Row: "whk_1", Column: "secret"}

// SIG-04: sealed at rest, and back.
func TestSealAndOpen(t *testing.T) {
	t.Parallel()
	ring := newRing(t, newKey(t, "a", 1))
	for _, plaintext := range [][]byte{[]byte("whsec_abc"), {0}, {}, bytes.Repeat([]byte("x"), 1<<16)} {
		sealed := seal(t, ring, place, plaintext)
		if len(plaintext) > 4 && bytes.Contains(sealed, plaintext[:4]) {
			t.Errorf("the plaintext shows in %x", sealed)
		}
		opened, err := ring.Open(place, sealed)
		if err != nil || !bytes.Equal(opened, plaintext) {
			t.Errorf("Open = %q, %v; want %q", opened, err, plaintext)
		}
	}
	if bytes.Equal(seal(t, ring, place, []byte("x")), seal(t, ring, place, []byte("x"))) {
		t.Error("sealing twice gives the same bytes")
	}
}

// SIG-04: a value opens in its own place only, so that rows cannot be swapped.
func TestOpenRefusesAnotherPlace(t *testing.T) {
	t.Parallel()
	ring := newRing(t, newKey(t, "a", 1))
	sealed := seal(t, ring, place, []byte("x"))
	for _, other := range []keyring.Place{
		{Table: "partnerkit_webhook", Row: "whk_2", Column: "secret"},
		{Table: "partnerkit_signing_key", Row: "whk_1", Column: "secret"},
		{Table: "partnerkit_webhook", Row: "whk_1", Column: "previous"},
		{Table: "partnerkit_webhook", Row: "whk_1"},
		{Table: "partnerkit_webhookw", Row: "hk_1", Column: "secret"},
		{Table: "partnerkit_webhook", Row: "whk_1s", Column: "ecret"},
	} {
		if _, err := ring.Open(other, sealed); !errors.Is(err, keyring.ErrCorrupted) {
			t.Errorf("Open at %+v: %v, want ErrCorrupted", other, err)
		}
	}
	for _, nowhere := range []keyring.Place{{}, {Table: "t"}, {Row: "r"}} {
		if _, err := ring.Seal(nowhere, nil); err == nil {
			t.Errorf("Seal takes %+v", nowhere)
		}
		if _, err := ring.Open(nowhere, sealed); err == nil {
			t.Errorf("Open takes %+v", nowhere)
		}
	}
}

func TestOpenRefusesChangedBytes(t *testing.T) {
	t.Parallel()
	ring := newRing(t, newKey(t, "a", 1))
	sealed := seal(t, ring, place, []byte("whsec_abc"))
	for i := range sealed {
		for _, bit := range []byte{1, 0x80} {
			changed := bytes.Clone(sealed)
			changed[i] ^= bit
			_, err := ring.Open(place, changed)
			if !errors.Is(err, keyring.ErrCorrupted) && !errors.Is(err, keyring.ErrUnknownKey) {
				t.Fatalf("byte %d changed: %v", i, err)
			}
		}
		if _, err := ring.Open(place, sealed[:i]); !errors.Is(err, keyring.ErrCorrupted) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	if _, err := ring.Open(place, append(bytes.Clone(sealed), 0)); !errors.Is(err, keyring.ErrCorrupted) {
		t.Errorf("one byte more: %v", err)
	}
}

// SIG-04: the new key in front seals, the old one still opens, until it is dropped.
func TestRotation(t *testing.T) {
	t.Parallel()
	old, fresh := newKey(t, "old", 1), newKey(t, "new", 2)
	before, during, after := newRing(t, old), newRing(t, fresh, old), newRing(t, fresh)
	sealed := seal(t, before, place, []byte("x"))

	opened, err := during.Open(place, sealed)
	if err != nil || string(opened) != "x" {
		t.Fatalf("Open with the old key = %q, %v", opened, err)
	}
	if before.NeedsReseal(sealed) || !during.NeedsReseal(sealed) {
		t.Error("NeedsReseal is wrong about the old key")
	}
	if _, err := after.Open(place, sealed); !errors.Is(err, keyring.ErrUnknownKey) || !strings.Contains(err.Error(), "old") {
		t.Errorf("Open without the old key: %v, want ErrUnknownKey that names it", err)
	}

	resealed := seal(t, during, place, opened)
	if during.NeedsReseal(resealed) {
		t.Error("NeedsReseal is wrong about the new key")
	}
	if _, err := after.Open(place, resealed); err != nil {
		t.Errorf("Open after rotation: %v", err)
	}
	if !during.NeedsReseal(nil) || !during.NeedsReseal([]byte{9, 9, 9}) {
		t.Error("NeedsReseal is content with what nobody sealed")
	}
	impostor := newRing(t, newKey(t, "old", 3))
	if _, err := impostor.Open(place, sealed); !errors.Is(err, keyring.ErrCorrupted) {
		t.Errorf("Open with other bytes under the same id: %v", err)
	}
}

func TestZeroKeyring(t *testing.T) {
	t.Parallel()
	var none *keyring.Keyring
	for _, ring := range []*keyring.Keyring{none, {}} {
		_, sealErr := ring.Seal(place, nil)
		_, openErr := ring.Open(place, []byte{1})
		_, deriveErr := ring.Derive("x")
		for _, err := range []error{sealErr, openErr, deriveErr} {
			if !errors.Is(err, keyring.ErrNoKeys) {
				t.Errorf("%v, want ErrNoKeys", err)
			}
		}
		if !ring.NeedsReseal([]byte{1}) || ring.String() != "keyring []" {
			t.Errorf("NeedsReseal or String of %v", ring)
		}
	}
	if _, err := keyring.New(); !errors.Is(err, keyring.ErrNoKeys) {
		t.Errorf("New(): %v", err)
	}
	if _, err := keyring.New(keyring.Key{}); err == nil {
		t.Error("New takes the zero Key")
	}
	if _, err := keyring.New(newKey(t, "a", 1), newKey(t, "a", 2)); err == nil {
		t.Error("New takes two keys with one id")
	}
}

func TestNewKey(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 16, 31, 33} {
		if _, err := keyring.NewKey("a", make([]byte, size)); err == nil {
			t.Errorf("NewKey takes %d bytes", size)
		}
	}
	for _, id := range []string{"a b", "a,b", "ü", "a\n", strings.Repeat("a", 65)} {
		if _, err := keyring.NewKey(id, make([]byte, 32)); err == nil {
			t.Errorf("NewKey takes the id %q", id)
		}
	}
	material := bytes.Repeat([]byte{7}, 32)
	key, err := keyring.NewKey("", material)
	if err != nil || len(key.ID()) != 16 {
		t.Fatalf("NewKey makes the id %q, %v", key.ID(), err)
	}
	sealed := seal(t, newRing(t, key), place, []byte("x"))
	clear(material) // the ring has its own copy
	if _, err := newRing(t, key).Open(place, sealed); err != nil {
		t.Errorf("Open after the caller's slice changed: %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	a, b := bytes.Repeat([]byte{0xfb}, 32), bytes.Repeat([]byte{0xff}, 32)
	std, raw := base64.StdEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	first, err := keyring.Parse(std(a))
	if err != nil {
		t.Fatal(err)
	}
	sealed := seal(t, first, place, []byte("x"))
	for _, text := range []string{std(a), raw(a), " " + std(a) + "\n", std(b) + "," + raw(a), std(b) + " , " + std(a)} {
		ring, err := keyring.Parse(text)
		if err != nil {
			t.Errorf("Parse: %v", err)
			continue
		}
		if _, err := ring.Open(place, sealed); err != nil {
			t.Errorf("Open with %v: %v", ring, err)
		}
	}
	for text, want := range map[string]string{
		"":                    "keyring: key 1: is empty; want base64 of 32 bytes",
		std(a) + ",":          "keyring: key 2: is empty; want base64 of 32 bytes",
		std(a) + ",SECRET!":   "keyring: key 2: is not base64",
		"U0VDUkVU":            "keyring: key 1: has 6 bytes, want 32",
		std(a) + "," + raw(a): "keyring: key 2 has the id " + idOf(t, a) + " of an earlier one",
	} {
		_, err := keyring.Parse(text)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("Parse: %q, want %q", got, want)
		}
	}
}

func TestDerive(t *testing.T) {
	t.Parallel()
	old, fresh := newKey(t, "old", 1), newKey(t, "new", 2)
	derive := func(ring *keyring.Keyring, purpose string) string {
		t.Helper()
		key, err := ring.Derive(purpose)
		if err != nil || len(key) != keyring.KeySize {
			t.Fatalf("Derive(%q) = %d bytes, %v", purpose, len(key), err)
		}
		return hex.EncodeToString(key)
	}
	before, during := newRing(t, old), newRing(t, fresh, old)
	if again := newRing(t, old); derive(before, "a") != derive(again, "a") {
		t.Error("Derive is not stable")
	}
	if derive(before, "a") == derive(before, "b") || derive(before, "a") == derive(during, "a") {
		t.Error("Derive gives one key for two purposes, or for two keys")
	}
	all, err := during.DeriveAll("a")
	if err != nil {
		t.Fatal(err)
	}
	got := []string{hex.EncodeToString(all[0]), hex.EncodeToString(all[1])}
	if diff := cmp.Diff([]string{derive(during, "a"), derive(before, "a")}, got); diff != "" {
		t.Errorf("DeriveAll (-want +got):\n%s", diff)
	}
	if _, err := before.Derive(""); err == nil {
		t.Error("Derive takes no purpose")
	}
}

// SIG-04: keys show in no print, log or diff.
func TestKeysNeverShow(t *testing.T) {
	t.Parallel()
	key := newKey(t, "shown", 'K')
	ring := newRing(t, key)
	type holder struct {
		ring *keyring.Keyring
		key  keyring.Key
	}
	values := map[string]any{
		"ring": ring, "ring by value": *ring, "key": key, "pointer": &key, "holder": holder{ring, key}, "slice": []keyring.Key{key},
	}
	for name, value := range values {
		var out strings.Builder
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%c", "%U"} {
			fmt.Fprintf(&out, verb+"\n", value)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("m", "k", value)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("m", "k", value)
		for _, leak := range []string{"KKKK", "4b4b", "4B4B", "75 75", "75, 75", "0x4b, 0x4b", "U+004B", "S0tL"} {
			if strings.Contains(out.String(), leak) {
				t.Errorf("%s shows it: %s", name, out.String())
			}
		}
	}
	if got := fmt.Sprintf("%v, %#v, %v", ring, ring, key); got != "keyring [key shown], keyring [key shown], key shown" {
		t.Errorf("prints %q", got)
	}
}

func newKey(t *testing.T, id string, fill byte) keyring.Key {
	t.Helper()
	key, err := keyring.NewKey(id, bytes.Repeat([]byte{fill}, keyring.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func idOf(t *testing.T, material []byte) string {
	t.Helper()
	key, err := keyring.NewKey("", material)
	if err != nil {
		t.Fatal(err)
	}
	return key.ID()
}

func newRing(t *testing.T, keys ...keyring.Key) *keyring.Keyring {
	t.Helper()
	ring, err := keyring.New(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func seal(t *testing.T, ring *keyring.Keyring, at keyring.Place, plaintext []byte) []byte {
	t.Helper()
	sealed, err := ring.Seal(at, plaintext)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

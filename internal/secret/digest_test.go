package secret_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/partnerkit/partnerkit/internal/secret"
)

// TOK-09: what is stored is the SHA-256 of the whole text.
func TestDigest(t *testing.T) {
	t.Parallel()
	const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2 B.1
	if got := hex.EncodeToString(secret.Wrap("abc").Digest().Bytes()); got != abc {
		t.Errorf("digest of abc = %s", got)
	}
	var zero secret.Digest
	if zero.Equal(zero) || secret.DigestOf("abc").Equal(zero) || secret.DigestOf("abc").Equal(secret.DigestOf("abd")) {
		t.Error("unequal digests are equal")
	}
	if !secret.DigestOf("abc").Equal(secret.DigestOf("abc")) {
		t.Error("equal digests are not")
	}
}

func TestDigestThroughDatabase(t *testing.T) {
	t.Parallel()
	d := secret.New(secret.RefreshToken).Digest()
	stored, err := d.Value()
	if err != nil || !bytes.Equal(stored.([]byte), d[:]) {
		t.Fatalf("Value() = %v, %v", stored, err)
	}
	var back secret.Digest
	if err := back.Scan(stored); err != nil || !back.Equal(d) {
		t.Errorf("Scan: %v", err)
	}
	for _, src := range []any{nil, "text", 1, []byte{}, make([]byte, 31), make([]byte, 33)} {
		if err := back.Scan(src); err == nil {
			t.Errorf("Scan takes %v", src)
		}
	}
}

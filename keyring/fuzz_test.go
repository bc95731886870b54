package keyring_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/keyring"
)

// FuzzParse checks that accepted keys seal and open, and that errors do not reveal keys.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", ",", strings.Repeat("A", 43), strings.Repeat("A", 43) + "=", strings.Repeat("_", 43), strings.Repeat("A", 42), strings.Repeat("A", 44),
		" " + strings.Repeat("b", 43) + " , " + strings.Repeat("c", 43) + "=", strings.Repeat("A", 43) + "," + strings.Repeat("A", 43),
		strings.Repeat("A", 20) + "\n" + strings.Repeat("A", 23), strings.Repeat("=", 50), strings.Repeat("A", 42) + "B",
	} {
		f.Add(seed)
	}
	place := keyring.Place{Table: "t", Row: "r"}
	f.Fuzz(func(t *testing.T, text string) {
		ring, err := keyring.Parse(text)
		if err != nil {
			for part := range strings.SplitSeq(text, ",") {
				if part = strings.TrimSpace(part); len(part) >= 40 && strings.Contains(err.Error(), part) {
					t.Fatalf("the error shows a key: %v", err)
				}
			}
			return
		}
		sealed, err := ring.Seal(place, []byte("text"))
		if err != nil {
			t.Fatalf("%q does not seal: %v", text, err)
		}
		if opened, err := ring.Open(place, sealed); err != nil || string(opened) != "text" {
			t.Fatalf("%q sealed it and opens %q: %v", text, opened, err)
		}
		again, err := keyring.Parse(strings.Join(strings.Fields(text), " "))
		if err != nil {
			return // a line break inside base64 is none of ours
		}
		if opened, err := again.Open(place, sealed); err != nil || string(opened) != "text" {
			t.Fatalf("%q read again opens %q: %v", text, opened, err)
		}
	})
}

// SIG-04: nothing opens but what was sealed, for its own place.
func FuzzOpen(f *testing.F) {
	ring, err := keyring.Parse(strings.Repeat("c", 43))
	if err != nil {
		f.Fatal(err)
	}
	place := keyring.Place{Table: "t", Row: "r", Column: "c"}
	sealed, err := ring.Seal(place, []byte("text"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sealed, "t", "r", "c")
	f.Add(sealed, "t", "rc", "")
	f.Add(sealed[:len(sealed)-1], "t", "r", "c")
	f.Add([]byte{1, 255}, "t", "r", "c")
	f.Add([]byte{1, 0}, "", "", "")
	f.Add(append([]byte{2}, sealed[1:]...), "t", "r", "c")
	f.Fuzz(func(t *testing.T, given []byte, table, row, column string) {
		place := keyring.Place{Table: table, Row: row, Column: column}
		opened, err := ring.Open(place, given)
		_ = ring.NeedsReseal(given)
		if err != nil {
			if table != "" && row != "" && !errors.Is(err, keyring.ErrCorrupted) && !errors.Is(err, keyring.ErrUnknownKey) || bytes.Equal(given, sealed) && table == "t" && row == "r" && column == "c" {
				t.Fatalf("%x in %s/%s/%s: %v", given, table, row, column, err)
			}
			return
		}
		// Other processes that fuzz have sealed the same, each in its own bytes.
		if string(opened) != "text" || table != "t" || row != "r" || column != "c" {
			t.Fatalf("%x in %s/%s/%s opened as %q", given, table, row, column, opened)
		}
		for i := range given {
			bent := bytes.Clone(given)
			bent[i] ^= 1
			if _, err := ring.Open(place, bent); err == nil {
				t.Fatalf("%x opens, and with another byte %d", given, i)
			}
		}
	})
}

package keyring_test

import (
	"encoding/base64"
	"fmt"
	"log"
	"strings"

	"github.com/partnerkit/partnerkit/keyring"
)

func Example() {
	// From a flag or the environment; in production made by: openssl rand -base64 32
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", keyring.KeySize)))
	ring, err := keyring.Parse(key)
	if err != nil {
		log.Fatal(err)
	}

	place := keyring.Place{Table: "webhook", Row: "whk_1"}
	sealed, err := ring.Seal(place, []byte("whsec_example"))
	if err != nil {
		log.Fatal(err)
	}
	opened, err := ring.Open(place, sealed)
	fmt.Println(string(opened), err)

	_, err = ring.Open(keyring.Place{Table: "webhook", Row: "whk_2"}, sealed)
	fmt.Println(err)
	// Output:
	// whsec_example <nil>
	// keyring: corrupted or not sealed for this place
}

// A new key goes in front; the old one stays until everything is sealed again.
func ExampleKeyring_NeedsReseal() {
	oldKey, newKey := strings.Repeat("o", keyring.KeySize), strings.Repeat("n", keyring.KeySize)
	encode := func(key string) string { return base64.StdEncoding.EncodeToString([]byte(key)) }
	before, err := keyring.Parse(encode(oldKey))
	if err != nil {
		log.Fatal(err)
	}
	during, err := keyring.Parse(encode(newKey) + "," + encode(oldKey))
	if err != nil {
		log.Fatal(err)
	}

	place := keyring.Place{Table: "webhook", Row: "whk_1"}
	sealed, err := before.Seal(place, []byte("whsec_example"))
	if err != nil {
		log.Fatal(err)
	}
	if during.NeedsReseal(sealed) {
		plaintext, err := during.Open(place, sealed)
		if err != nil {
			log.Fatal(err)
		}
		if sealed, err = during.Seal(place, plaintext); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(during.NeedsReseal(sealed))
	// Output: false
}

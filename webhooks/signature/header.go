package signature

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Header is the name of the header with the signature.
const Header = "X-Webhook-Signature"

// The limits for an untrusted header. A sender needs 149 bytes and two values.
const (
	maxHeader     = 1024 // bytes
	maxSignatures = 8    // v1 values
	maxDigits     = 12   // of t, which is enough for 30,000 years
)

// header is a parsed one.
type header struct {
	t          int64 // Unix seconds, not negative
	signatures [][sha256.Size]byte
}

// parseHeader reads elements name=value, separated by commas: t once, v1 at least
// once. Other names are left alone, so that a sender can add a scheme.
func parseHeader(text string) (header, error) {
	if text == "" {
		return header{}, ErrNoSignature
	}
	if len(text) > maxHeader {
		return header{}, malformed("too long")
	}
	h := header{t: -1}
	for element := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(element, "=")
		if !ok || name == "" {
			return header{}, malformed("an element is not name=value")
		}
		switch name {
		case "t":
			t, ok := parseTime(value)
			if !ok {
				return header{}, malformed("t is no time in seconds")
			}
			if h.t >= 0 {
				return header{}, malformed("t is given twice")
			}
			h.t = t
		case "v1":
			if len(h.signatures) == maxSignatures {
				return header{}, malformed("too many v1")
			}
			signature, ok := parseSignature(value)
			if !ok {
				return header{}, malformed("v1 is no SHA-256 in hex")
			}
			h.signatures = append(h.signatures, signature)
		}
	}
	if h.t < 0 || len(h.signatures) == 0 {
		return header{}, malformed("t or v1 is missing")
	}
	return h, nil
}

// parseTime takes one spelling of a number only: what was signed is its digits.
func parseTime(value string) (int64, bool) {
	t, err := strconv.ParseInt(value, 10, 64)
	return t, err == nil && t >= 0 && len(value) <= maxDigits && strconv.FormatInt(t, 10) == value
}

func parseSignature(value string) (signature [sha256.Size]byte, ok bool) {
	if len(value) != hex.EncodedLen(sha256.Size) {
		return signature, false
	}
	_, err := hex.Decode(signature[:], []byte(value))
	return signature, err == nil
}

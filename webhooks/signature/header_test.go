package signature_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

const (
	good  = "v1=" + bodyByNew
	wrong = "v1=0000000000000000000000000000000000000000000000000000000000000000"
	at    = "t=1767225600"
)

// SIG-01, SIG-03: what is not for us in a header is left alone.
func TestVerifyHeaders(t *testing.T) {
	t.Parallel()
	verifier := newVerifier(t, sentAt, newSecret)
	for _, header := range []string{
		at + "," + good,
		good + "," + at,
		wrong + "," + at + "," + good,
		at + "," + good + "," + wrong,
		at + "," + good + "," + good,
		at + "," + strings.Repeat(wrong+",", 7) + good,
		at + ",v1=" + strings.ToUpper(bodyByNew),
		"v0=abc," + at + "," + good + ",v2=a=b==,x=",
		"T=1," + at + "," + good,
		at + "," + good + ",pad=" + strings.Repeat("x", 1024-len(at+good)-6),
	} {
		if err := verifier.Verify(header, []byte(body)); err != nil {
			t.Errorf("%q: %v", header, err)
		}
	}
	if err := verifier.Verify("", []byte(body)); !errors.Is(err, signature.ErrNoSignature) {
		t.Errorf("no header: %v, want ErrNoSignature", err)
	}
}

// SIG-03: what no sender writes is refused, valid signature or not, and not quoted.
func TestVerifyMalformedHeaders(t *testing.T) {
	t.Parallel()
	verifier := newVerifier(t, sentAt, newSecret)
	for _, header := range []string{
		// t
		good,
		at + "," + at + "," + good,
		at + "," + good + ",t=1",
		"t=," + good,
		"t=0x1," + good,
		"t=+1767225600," + good,
		"t=-1767225600," + good,
		"t=-1," + at + "," + good,
		"t=-0," + good,
		"t=01767225600," + good,
		"t=1767225600.0," + good,
		"t=1767225600 ," + good,
		"t=1_767_225_600," + good,
		"t=1000000000000," + good, // 13 digits: milliseconds
		"t=9223372036854775807," + good,
		"t=9223372036854775808," + good,
		"t=١٧٦٧٢٢٥٦٠٠," + good,
		// v1
		at,
		at + ",v0=" + bodyByNew,
		at + ",V1=" + bodyByNew,
		at + ", " + good,
		at + ",v1=",
		at + "," + good + "00",
		at + "," + good[:len(good)-1],
		at + "," + good[:len(good)-2],
		at + "," + good + "=",
		at + "," + good + " ",
		at + "," + good + ",v1=" + strings.Repeat("g", 64),
		at + "," + strings.Repeat(wrong+",", 8) + good, // 9 of them
		// elements
		",",
		"=",
		"x",
		" ",
		"\x00",
		bodyByNew,
		at + "," + good + ",",
		"," + at + "," + good,
		at + ",," + good,
		at + "," + good + ",x",
		at + "," + good + ",=x",
		at + ";" + good,
		at + "," + good + ",pad=" + strings.Repeat("x", 1024-len(at+good)-5),
		strings.Repeat("v1=,", 1<<18),
	} {
		err := verifier.Verify(header, []byte(body))
		if !errors.Is(err, signature.ErrMalformed) || len(err.Error()) > 100 {
			t.Errorf("%.200q: %.200v, want a short ErrMalformed", header, err)
		}
	}
}

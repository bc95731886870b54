package signature_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

var (
	anElement   = regexp.MustCompile(`^[^=]+=`)
	aTime       = regexp.MustCompile(`^(0|[1-9][0-9]{0,11})$`)
	aSignature  = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	firstNumber = regexp.MustCompile(`t=([0-9]{1,12})`)
)

// expected checks a header against SIG-01 and SIG-03 with a second implementation.
func expected(header, body string) error {
	if header == "" {
		return signature.ErrNoSignature
	}
	var times, signatures []string
	for _, element := range strings.Split(header, ",") {
		if !anElement.MatchString(element) {
			return signature.ErrMalformed
		}
		if value, ok := strings.CutPrefix(element, "t="); ok {
			times = append(times, value)
		}
		if value, ok := strings.CutPrefix(element, "v1="); ok {
			if !aSignature.MatchString(value) {
				return signature.ErrMalformed
			}
			signatures = append(signatures, strings.ToLower(value))
		}
	}
	if len(header) > 1024 || len(times) != 1 || !aTime.MatchString(times[0]) || len(signatures) == 0 || len(signatures) > 8 {
		return signature.ErrMalformed
	}
	if !strings.Contains(strings.Join(signatures, " "), plainHMAC(times[0], body)) {
		return signature.ErrNoMatch
	}
	switch t, _ := strconv.ParseInt(times[0], 10, 64); {
	case t < sentAt.Unix()-300:
		return signature.ErrTooOld
	case t > sentAt.Unix()+300:
		return signature.ErrTooNew
	}
	return nil
}

func plainHMAC(t, body string) string {
	mac := hmac.New(sha256.New, []byte(newSecret))
	fmt.Fprint(mac, t, ".", body)
	return hex.EncodeToString(mac.Sum(nil))
}

// FuzzVerify holds Verify to a slower reading of the rules. A $ in the header
// becomes the right signature, which no fuzzer would find.
func FuzzVerify(f *testing.F) {
	for _, header := range []string{
		"", "t=1767225600,v1=$", "v1=$,t=1767225600", at + "," + wrong + ",v1=$", at + ",v1=$,v0=abc,x=y=z", at + "," + at + ",v1=$",
		"t=1767225300,v1=$", "t=1767225299,v1=$", "t=1767225900,v1=$", "t=1767225901,v1=$", "t=999999999999,v1=$", "t=1000000000000,v1=$",
		"t=0,v1=$", "t=00,v1=$", "t=-1,v1=$", "t=+1,v1=$", at + ", v1=$", at + ",v1=$,", at + ",,v1=$", at + ",v1=$$", at + ",v1=", at + ",=",
		"t=1767225600\n,v1=$", at + strings.Repeat(",v1=$", 8), at + strings.Repeat(",v1=$", 9), "\xff=," + at + ",v1=$",
	} {
		f.Add(header, body)
	}
	verifier := newVerifier(f, sentAt, newSecret)
	f.Fuzz(func(t *testing.T, header, body string) {
		if number := firstNumber.FindStringSubmatch(header); number != nil {
			header = strings.ReplaceAll(header, "$", plainHMAC(number[1], body))
		}
		got, want := verifier.Verify(header, []byte(body)), expected(header, body)
		if !errors.Is(got, want) {
			t.Errorf("Verify(%q, %q) = %v, want %v", header, body, got, want)
		}
	})
}

// FuzzSign: what is signed verifies, with either secret, and in no other body.
func FuzzSign(f *testing.F) {
	f.Add(uint32(1767225600), []byte(body))
	f.Add(uint32(0), []byte(nil))
	signer := newSigner(f, newSecret, oldSecret)
	f.Fuzz(func(t *testing.T, seconds uint32, body []byte) {
		sentAt := time.Unix(int64(seconds), 0)
		header := signer.Sign(sentAt, body)
		for _, known := range []string{newSecret, oldSecret} {
			verifier := newVerifier(t, sentAt, known)
			if err := verifier.Verify(header, body); err != nil {
				t.Errorf("Verify(%q, %q) = %v", header, body, err)
			}
			if err := verifier.Verify(header, append(body, 0)); !errors.Is(err, signature.ErrNoMatch) {
				t.Errorf("Verify(%q, %q and a byte) = %v", header, body, err)
			}
		}
	})
}

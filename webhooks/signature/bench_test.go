package signature_test

import (
	"bytes"
	"testing"
)

// Signing is on the way of every attempt: it allocates the header and nothing
// else.
func TestSignAllocatesTheHeaderOnly(t *testing.T) {
	signer, payload := newSigner(t, newSecret, oldSecret), []byte(body)
	if got := testing.AllocsPerRun(1000, func() { signer.Sign(sentAt, payload) }); got > 1 {
		t.Errorf("%v allocations, want 1", got)
	}
}

// BenchmarkSign is one attempt, with a signer that was kept and with one that was
// made for it; in the parallel one all send to the same webhook.
func BenchmarkSign(b *testing.B) {
	payload := bytes.Repeat([]byte("x"), 512)
	secrets := map[string][]string{"one secret": {newSecret}, "two": {newSecret, oldSecret}}
	for name, secrets := range secrets {
		b.Run(name+"/kept", func(b *testing.B) {
			signer := newSigner(b, secrets...)
			b.ReportAllocs()
			for b.Loop() {
				signer.Sign(sentAt, payload)
			}
		})
		b.Run(name+"/made", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newSigner(b, secrets...).Sign(sentAt, payload)
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		signer := newSigner(b, newSecret)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				signer.Sign(sentAt, payload)
			}
		})
	})
}

// BenchmarkVerify measures the cost of an unauthenticated request to a receiver.
func BenchmarkVerify(b *testing.B) {
	payload := []byte(body)
	for name, header := range map[string]string{
		"signed": sign(b, newSecret, oldSecret),
		"hostile": at + "," + wrong + "," + wrong + "," + wrong + "," + wrong + "," +
			wrong + "," + wrong + "," + wrong + "," + wrong,
		"malformed": at + "," + wrong + ",v1",
	} {
		b.Run(name, func(b *testing.B) {
			verifier := newVerifier(b, sentAt, newSecret, oldSecret)
			b.ReportAllocs()
			for b.Loop() {
				_ = verifier.Verify(header, payload)
			}
		})
	}
}

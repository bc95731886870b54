package console_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

func TestWebPSize(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file    string
		width, height int // 0: none
	}{
		{"lossy", webpLossy(1, 16383), 1, 16383},
		{"lossy, scaled", webpLossy(100|3<<14, 200|1<<14), 100, 200},
		{"lossless", webpLossless(1, 1), 1, 1},
		{"lossless, largest", webpLossless(16384, 16384), 16384, 16384},
		{"lossless, with alpha", webpOf("VP8L", "\x2f\x00\x00\x00\x10"), 1, 1},
		{"extended", webpExtended(1, 1<<24), 1, 1 << 24},
		{"with more behind it", webpExtended(3, 4) + "more", 3, 4},
		{"empty", "", 0, 0},
		{"container alone", webpLossy(1, 1)[:12], 0, 0},
		{"chunk alone", webpOf("VP8 ", ""), 0, 0},
		{"short lossy", webpOf("VP8 ", "\x10\x00\x00\x9d\x01\x2a\x01\x00\x01"), 0, 0},
		{"short lossless", webpOf("VP8L", "\x2f\x00\x00\x00"), 0, 0},
		{"short extended", webpOf("VP8X", "\x10\x00\x00\x00\x01\x00\x00\x01\x00"), 0, 0},
		{"no key frame", webpOf("VP8 ", "\x11\x00\x00\x9d\x01\x2a\x01\x00\x01\x00"), 0, 0},
		{"no start code", webpOf("VP8 ", "\x10\x00\x00\x9d\x01\x2b\x01\x00\x01\x00"), 0, 0},
		{"no width", webpLossy(0, 1), 0, 0},
		{"no height", webpLossy(1, 0), 0, 0},
		{"no signature", webpOf("VP8L", "\x2e\x00\x00\x00\x00"), 0, 0},
		{"another version", webpOf("VP8L", "\x2f\x00\x00\x00\x20"), 0, 0},
		{"another chunk", webpOf("ALPH", "\x2f\x00\x00\x00\x00"), 0, 0},
		{"lower case", webpOf("vp8l", "\x2f\x00\x00\x00\x00"), 0, 0},
		{"cut off", strings.TrimSuffix(webpLossy(1, 1), "\x00"), 0, 0},
		{"chunk beyond its container", strings.Replace(webpLossless(1, 1), "VP8L\x06", "VP8L\x07", 1), 0, 0},
		{"chunk of four gigabytes", strings.Replace(webpLossless(1, 1), "VP8L\x06\x00\x00\x00", "VP8L\xff\xff\xff\xff", 1), 0, 0},
		{"container of four gigabytes", strings.Replace(webpLossless(1, 1), "RIFF\x12\x00\x00\x00", "RIFF\xff\xff\xff\xff", 1), 0, 0},
	} {
		width, height, ok := console.WebPSize([]byte(test.file))
		if ok != (test.width > 0) || ok && (width != test.width || height != test.height) {
			t.Errorf("%s: %d by %d, %v", test.name, width, height, ok)
		}
	}
}

func FuzzWebPSize(f *testing.F) {
	for _, file := range []string{webpLossy(1, 2), webpLossless(3, 4), webpExtended(5, 6), webpOf("VP8 ", ""), "RIFF"} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		width, height, ok := console.WebPSize(file)
		if ok && (width < 1 || height < 1 || width > 1<<24 || height > 1<<24) {
			t.Fatalf("%d by %d", width, height)
		}
		if more, same, still := console.WebPSize(append(file, 0)); ok && (!still || more != width || same != height) {
			t.Fatal("a byte behind it changes an image")
		}
	})
}

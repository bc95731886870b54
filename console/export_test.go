package console

// What is tested by itself, or fuzzed.
var (
	WebPSize   = webpSize
	IsPageOf   = isPageOf
	CheckImage = func(n NewAsset) error { _, err := checkImage(n); return err }
)

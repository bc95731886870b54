package console

// What is tested by itself, or fuzzed.
var (
	WebPSize   = webpSize
	IsPageOf   = isPageOf
	TooDeep    = tooDeep
	CheckImage = func(n NewAsset) error { _, err := checkImage(n); return err }
)

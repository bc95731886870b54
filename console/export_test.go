package console

// What is tested by itself, or fuzzed.
var (
	WebPSize = webpSize
	IsPageOf = isPageOf
	TooDeep  = tooDeep
)

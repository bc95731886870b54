package console

// Patterns are the calls of all parts, as "POST /developer/apps".
func (c *Console) Patterns() []string {
	return convert(c.allRoutes(), func(r route) string { return r.pattern })
}

// What is tested by itself, or fuzzed.
var (
	WebPSize = webpSize
	IsPageOf = isPageOf
	TooDeep  = tooDeep
)

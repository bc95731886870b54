package books

import "net/http"

// What is tested by itself, or fuzzed.
var (
	IsOwnPath     = isOwnPath
	IsPassword    = isPassword
	SessionCookie = sessionCookie
)

// The form and cost of a hash.
const ArgonMemory = argonMemory

var PHCPrefix = phcPrefix

// CountSessions returns how many sessions would be looked up for a request.
func CountSessions(appURL string, r *http.Request) int {
	return len(newSessions(SiteConfig{AppURL: appURL}).digests(r))
}

package oauthserver

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// However a document is served, it is asked for again no sooner and no later.
const (
	minDocumentFreshness = 30 * time.Second
	maxDocumentFreshness = 24 * time.Hour
)

// documentFreshness is how long a document may be used without asking again, by
// the headers it came with (RFC 9111 section 4.2) and within our bounds. Without
// any headers it is the shortest time: nobody said that it may be kept.
func documentFreshness(h http.Header, now time.Time) time.Duration {
	return min(max(statedFreshness(h, now), minDocumentFreshness), maxDocumentFreshness)
}

// statedFreshness is what the headers say; zero or less when the answer is stale
// already or must not be kept.
func statedFreshness(h http.Header, now time.Time) time.Duration {
	control := cacheDirectives(h)
	for _, never := range []string{"no-store", "no-cache", "private"} {
		if _, found := control[never]; found {
			return 0
		}
	}
	age := time.Duration(deltaSeconds(h.Get("Age"))) * time.Second
	for _, name := range []string{"s-maxage", "max-age"} {
		if value, found := control[name]; found {
			return time.Duration(deltaSeconds(value))*time.Second - age
		}
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the clock that Expires was written by
	}
	return max(expires.Sub(now), 0) - age // a difference of centuries is as small as it gets, and must not turn over
}

// cacheDirectives reads Cache-Control. A directive that is given twice with
// different values counts as zero: the answer is then stale, as the RFC advises.
func cacheDirectives(h http.Header) map[string]string {
	directives := make(map[string]string)
	for part := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(part, "=")
		name = strings.ToLower(strings.TrimSpace(name))
		value = strings.Trim(strings.TrimSpace(value), `"`)
		if before, found := directives[name]; found && before != value {
			value = "0"
		}
		directives[name] = value
	}
	return directives
}

// deltaSeconds reads a number of seconds. One that is too large counts as very
// large, and what is no number as zero.
func deltaSeconds(text string) int64 {
	const large = 1 << 31
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > large {
		return large
	}
	return n
}

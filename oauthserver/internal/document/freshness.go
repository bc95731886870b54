package document

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The bounds of freshness, which headers cannot exceed.
const (
	minFreshness = 30 * time.Second
	maxFreshness = 24 * time.Hour
)

// Freshness returns how long a document may be used without fetching it again, by the
// headers of its response (RFC 9111 section 4.2) and within 30 seconds and 24 hours. Without
// headers it is the shortest time.
func Freshness(h http.Header, now time.Time) time.Duration {
	return min(max(statedFreshness(h, now), minFreshness), maxFreshness)
}

// statedFreshness is zero or less if the response is stale already or must not be stored.
func statedFreshness(h http.Header, now time.Time) time.Duration {
	control := cacheDirectives(h)
	for _, never := range []string{"no-store", "no-cache", "private"} {
		if _, found := control[never]; found {
			return 0
		}
	}
	age := seconds(h.Get("Age"))
	for _, name := range []string{"s-maxage", "max-age"} {
		if value, found := control[name]; found {
			return seconds(value) - age
		}
	}
	expires, err := http.ParseTime(h.Get("Expires"))
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the clock that Expires was written by
	}
	return max(expires.Sub(now), 0) - age // Sub saturates: without max, subtracting age could overflow
}

// cacheDirectives reads Cache-Control. The value of a directive that comes twice with
// different values is 0: the response is then stale, as the RFC advises.
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

// seconds reads a number of seconds, at most 2^31. Text that is not a number counts as zero.
func seconds(text string) time.Duration {
	const most = 1 << 31
	text = strings.TrimSpace(text)
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > most {
		n = most
	}
	return time.Duration(n) * time.Second
}

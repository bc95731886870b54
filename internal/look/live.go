package look

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"regexp"
)

// LiveHeader is the header of a request for what changes on a page, from its script.
const LiveHeader = "Partnerkit-Live"

// passing is what differs all the time: how long ago something was, and what is left.
var passing = regexp.MustCompile(`(<time[^>]*>|<span[^>]* data-countdown=)[^<]*<`)

// IsUnchanged reports whether the browser has the content already, by the tag that it knows. It
// sets the tag in the header of the response.
func IsUnchanged(h http.Header, known, content string) bool {
	sum := sha256.Sum256([]byte(passing.ReplaceAllString(content, "$1")))
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h.Set("ETag", tag)
	return known == tag
}

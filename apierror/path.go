package apierror

import (
	"net/http"

	"github.com/partnerkit/partnerkit/internal/text"
)

// IsValidPath reports whether a path is valid UTF-8 without NUL, and not the * of
// OPTIONS.
func IsValidPath(path string) bool { return text.IsStorable(path) && path != "*" }

// ValidPath refuses paths that are not: nothing has such a name, and a database may not
// even let one ask. It goes in front of a host.
func (c Writer) ValidPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !IsValidPath(r.URL.Path) {
			c.WriteStandard(w, r, Invalid("the path is not valid UTF-8 without NUL"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

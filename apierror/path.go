package apierror

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// ValidPath refuses paths that are not valid UTF-8 or have a NUL: nothing has such
// a name, and a database may not even let one ask. It goes in front of a host.
func (c Writer) ValidPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := r.URL.Path; !utf8.ValidString(path) || strings.Contains(path, "\x00") {
			c.WriteStandard(w, r, Invalid("the path is not valid UTF-8 without NUL"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

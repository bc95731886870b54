package apierror

import (
	"net/http"

	"github.com/partnerkit/partnerkit/internal/text"
)

// ValidPath refuses paths that are not valid UTF-8 without NUL, and the * of OPTIONS: nothing has
// such a name, and a database may reject a query for it. It goes in front of a host.
func (wr Writer) ValidPath(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !text.IsPath(r.URL.Path) {
			wr.WriteStandard(w, r, Invalid("the path is not valid UTF-8 without NUL"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

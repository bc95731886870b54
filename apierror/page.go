package apierror

import (
	"net/http"
	"strconv"
	"strings"
)

// A Failure is the content of an error page. Message holds no internals; Err is
// the error as the handler returned it, for pages that check it for their own
// causes.
type Failure struct {
	Status  int
	Message string
	Err     error
}

// A ShowFailure writes the body of a page about a failure. Header and status have
// been written. Its error goes to the log: there is nothing left to respond with.
type ShowFailure func(w http.ResponseWriter, r *http.Request, f Failure) error

// Page is Standard for what people see: failures of h become pages.
func (c Writer) Page(show ShowFailure, h Handler) http.Handler { return c.adapt(h, c.pageWriter(show)) }

// PageMux is StandardMux for what people see.
func (c Writer) PageMux(show ShowFailure, mux *http.ServeMux) http.Handler {
	return shapedMux(mux, c.pageWriter(show))
}

// pageWriter writes like WriteStandard, without challenges: a person who is not
// signed in gets a sign-in page, which is not a failure.
func (c Writer) pageWriter(show ShowFailure) errorWriter {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		err = c.responded(w, r, err)
		e := standardFrom(err)
		f := Failure{Status: e.status, Message: strings.Join(e.Messages(), "; "), Err: err}
		if e.status >= 500 {
			id := requestID(w, r)
			c.logFault(r, id, err)
			f.Message = interpolate(internalMessage, []string{id})
		}
		c.logMisuse(r, err)

		prepareHeader(w.Header(), e.allow)
		retryAfter := e.retryAfter
		if e.status == http.StatusTooManyRequests {
			retryAfter = max(1, retryAfter)
		}
		if retryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
		}
		w.WriteHeader(e.status)
		if err := show(w, r, f); err != nil {
			c.logFault(r, requestID(w, r), err)
		}
	}
}

package apierror

import (
	"io"
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
func (wr Writer) Page(show ShowFailure, h Handler) http.Handler {
	return wr.adapt(h, func(w http.ResponseWriter, r *http.Request, err error) { wr.WritePage(w, r, err, show) })
}

// WritePage writes err as a page. It is like WriteStandard, without challenges: a person who is
// not signed in gets a sign-in page, which is not a failure.
func (wr Writer) WritePage(w http.ResponseWriter, r *http.Request, err error, show ShowFailure) {
	err = wr.responded(w, r, err)
	e := standardFrom(err)
	f := Failure{Status: e.status, Message: strings.Join(e.Messages(), "; "), Err: err}
	if e.status >= 500 {
		id := requestID(w, r)
		wr.logFailure(r, id, err)
		f.Message = interpolate(internalMessage, []string{id})
	}
	wr.logMisuse(r, err)

	prepareHeader(w.Header(), e.allow)
	retryAfter := e.retryAfter
	if e.status == http.StatusTooManyRequests {
		retryAfter = max(1, retryAfter)
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.WriteHeader(e.status)
	defer func() { // a page of an error may need the function of the host that has just panicked
		if value := recover(); value != nil {
			wr.logFailure(r, requestID(w, r), Panicked(value))
			_, _ = io.WriteString(w, f.Message)
		}
	}()
	if err := show(w, r, f); err != nil {
		wr.logFailure(r, requestID(w, r), err)
	}
}

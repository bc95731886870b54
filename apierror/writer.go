package apierror

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// A Writer writes the responses to failures. The zero value works: it logs nothing and calls
// the service "partnerkit". It is safe for concurrent use as long as its fields
// stay as they are.
//
// A 5xx, in either shape, tells the client nothing but a request id. The id is in the
// X-Request-Id header, in the text, and in the log line with the cause. The log line names
// method and route pattern only: paths, queries, headers and bodies can hold credentials.
// The cause is logged as it is, so errors must not contain credentials.
//
// An error that wraps [context.Canceled] while the request's context is canceled says that
// the client has gone. It is a 400, not a 5xx, and is logged for debugging only.
type Writer struct {
	// Logger receives internal errors; nil discards them. Errors of the client
	// are not logged.
	Logger *slog.Logger
	// Service names the realm of challenges; empty means "partnerkit".
	Service string
	// ResourceMetadata returns the URL of the protected resource metadata (RFC 9728) of
	// the resource that a path belongs to. Bearer challenges point to it. Nil or an empty
	// URL leaves the attribute out.
	ResourceMetadata func(path string) string
	// Shape replaces the standard shape, such as by [ProblemDetails]; nil means
	// [StandardShape]. The OAuth shape stays: its RFCs define it.
	Shape ShapeFunc
	// OmitDeprecatedMessage drops the message member of OAuth errors.
	OmitDeprecatedMessage bool
}

type standardBody struct {
	StatusCode int               `json:"statusCode"`
	Message    any               `json:"message"` // string, or []string
	Error      string            `json:"error"`
	Code       Code              `json:"code,omitempty"`
	Params     map[string]string `json:"params,omitempty"`
	Details    any               `json:"details,omitempty"`
}

// WriteStandard writes err in the standard shape. It is for middleware that
// has no [Handler] to return from; nothing may have been written to w.
//
// A 401 carries a Bearer challenge (RFC 6750 section 3), with
// error="invalid_token" when, and only when, the request sent a bearer token. An
// [InsufficientScope] carries one with error="insufficient_scope" and the scope to ask for.
// A 429 always carries Retry-After.
func (wr Writer) WriteStandard(w http.ResponseWriter, r *http.Request, err error) {
	err = wr.responded(w, r, err)
	e := standardFrom(err)
	var id string
	if e.status >= 500 {
		id = requestID(w, r)
		wr.logFailure(r, id, err)
		shown := Entry{Code: e.code, Status: e.status, Message: internalMessage}.New(id)
		shown.retryAfter = e.retryAfter
		e = shown
	}
	wr.logMisuse(r, err)

	prepareHeader(w.Header(), e.allow)
	if e.status == http.StatusUnauthorized || e.code == InsufficientScope.Code {
		w.Header().Set("WWW-Authenticate", wr.bearerChallenge(r, e))
	}
	retryAfter := e.retryAfter
	if e.status == http.StatusTooManyRequests {
		retryAfter = max(1, retryAfter)
	}
	if retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	}
	wr.sendStandard(w, r, e.view(id))
}

type oauthBody struct {
	Error       oautherror.Code `json:"error"`
	Description string          `json:"error_description,omitempty"`
	Message     string          `json:"message,omitempty"`
}

// WriteOAuth writes err in the OAuth shape. It is for middleware that has no
// [Handler] to return from; nothing may have been written to w.
//
// An invalid_client carries a Basic challenge when, and only when, the request
// used HTTP Basic (RFC 6749 section 5.2). Every response is marked no-store.
func (wr Writer) WriteOAuth(w http.ResponseWriter, r *http.Request, err error) {
	err = wr.responded(w, r, err)
	e := oauthFrom(err)
	description := e.Description
	if e.Status >= 500 {
		id := requestID(w, r)
		wr.logFailure(r, id, err)
		description = interpolate(internalMessage, []string{id})
	}
	wr.logMisuse(r, err)

	prepareHeader(w.Header(), e.Allow)
	if _, basic := header.Authorization(r.Header, "Basic"); basic && e.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Basic realm="+quoted(wr.service()))
	}
	if e.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	body := oauthBody{Error: e.Code, Description: description}
	if !wr.OmitDeprecatedMessage {
		body.Message = description
		if description == "" {
			body.Message = string(e.Code)
		}
	}
	wr.send(w, r, e.Status, body)
}

// internalMessage is the only message that a client gets about an internal error.
const internalMessage = "something went wrong on our side; the request id is {p0}"

func (wr Writer) send(w http.ResponseWriter, r *http.Request, status int, body any) {
	if err := WriteJSON(w, status, body); err != nil {
		// Bodies hold strings and numbers only, so this cannot happen; if it
		// ever does, a bare status is better than a panic.
		wr.logger().ErrorContext(r.Context(), "encoding an error body failed", "err", err)
		w.WriteHeader(status)
	}
}

// prepareHeader drops what the handler set for the response that it did not give.
// Errors are never to be cached, in either shape.
func prepareHeader(h http.Header, allow []string) {
	for _, name := range []string{
		"Content-Length", "Content-Encoding", "Content-Disposition", "Content-Range", "Trailer", "Etag", "Last-Modified", "Expires", "Location",
		"Retry-After", "WWW-Authenticate",
	} {
		h.Del(name)
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	if len(allow) > 0 {
		h.Set("Allow", strings.Join(allow, ", "))
	}
}

func (wr Writer) service() string {
	if wr.Service == "" {
		return "partnerkit"
	}
	return wr.Service
}

// bearerChallenge returns the challenge of a 401 or of an InsufficientScope.
func (wr Writer) bearerChallenge(r *http.Request, e *Error) string {
	var attributes []string
	add := func(name, value string) {
		if value != "" {
			attributes = append(attributes, name+"="+quoted(value))
		}
	}
	scope := e.scope
	if _, sent := header.Authorization(r.Header, "Bearer"); e.code == InsufficientScope.Code {
		add("error", "insufficient_scope")
		if scope == "" && len(e.params) > 0 {
			scope = e.params[0]
		}
	} else if sent {
		add("error", "invalid_token")
		add("error_description", e.reason)
	}
	add("scope", scope)
	if wr.ResourceMetadata != nil {
		add("resource_metadata", wr.ResourceMetadata(r.URL.Path))
	}
	if len(attributes) == 0 {
		add("realm", wr.service()) // RFC 6750 section 3 asks for at least one attribute
	}
	return "Bearer " + strings.Join(attributes, ", ")
}

func statusName(status int) string {
	if name := http.StatusText(status); name != "" {
		return name
	}
	return "Error"
}

// Package httpapi holds what all endpoints of the API host share in HTTP.
package httpapi

import (
	"net/http"
	"slices"
	"strings"
)

// defaultService is the name of a service that was given none.
const defaultService = "Service"

// preflightAge is how long a browser may keep the response to a preflight, in seconds.
const preflightAge = "3600"

// CORS lets pages of any origin call next: it responds to preflights with 204 and marks every
// other response as readable. Credentials of the browser are never allowed, so a page can do
// no more than any other program. service names the version header.
func CORS(service string, next http.Handler) http.Handler {
	return CredentialedCORS(service, Credentials{}, next)
}

// Credentials is an exception of [CredentialedCORS]; the zero value is none.
type Credentials struct {
	// Origins whose pages may send the browser's credentials, spelled as browsers do.
	Origins []string
	// Allowed reports whether they may with this method and the path of the request. For
	// a preflight the method is the one that it asks for.
	Allowed func(method string, r *http.Request) bool
}

// CredentialedCORS is [CORS] with an exception: pages of some origins may send cookies to what
// the exception allows, and read the response. All other responses are those of CORS.
func CredentialedCORS(service string, except Credentials, next http.Handler) http.Handler {
	version := VersionHeader(service)
	allowed := strings.Join([]string{
		"Authorization", "Content-Type", "Idempotency-Key", "MCP-Protocol-Version", "Mcp-Session-Id", "Last-Event-ID", version,
	}, ", ")
	exposed := strings.Join([]string{
		"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "WWW-Authenticate",
		"Idempotency-Replayed", "X-Request-Id", "Mcp-Session-Id", version,
	}, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Access-Control-Allow-Origin", "*")
		except.write(header, r)
		if !isPreflight(r) {
			header.Set("Access-Control-Expose-Headers", exposed)
			next.ServeHTTP(w, r)
			return
		}
		header.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
		// By name: the wildcard does not cover Authorization.
		header.Set("Access-Control-Allow-Headers", allowed)
		header.Set("Access-Control-Max-Age", preflightAge)
		w.WriteHeader(http.StatusNoContent)
	})
}

// write replaces the origin in the header of a response where the exception holds. The Vary
// header tells caches that the response depends on the origin.
func (c Credentials) write(header http.Header, r *http.Request) {
	method := r.Method
	if isPreflight(r) {
		method = r.Header.Get("Access-Control-Request-Method")
	}
	if len(c.Origins) == 0 || !c.Allowed(method, r) {
		return
	}
	header.Add("Vary", "Origin")
	if origins := r.Header.Values("Origin"); len(origins) == 1 && slices.Contains(c.Origins, origins[0]) {
		header.Set("Access-Control-Allow-Origin", origins[0])
		header.Set("Access-Control-Allow-Credentials", "true")
	}
}

// VersionHeader returns the name of the header that selects a version of the API: the service's
// name and -Version. Characters that a header name cannot have become hyphens.
func VersionHeader(service string) string {
	if service == "" {
		service = defaultService
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			return r
		}
		return '-'
	}, service)
	return name + "-Version"
}

// isPreflight reports whether the request is a CORS preflight.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

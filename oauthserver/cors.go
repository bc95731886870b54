package oauthserver

import (
	"net/http"
	"strings"
)

// defaultService is the name of a service that was given none.
const defaultService = "Service"

// preflightAge is how long a browser may remember a preflight, in seconds.
const preflightAge = "3600"

// CORS lets pages of any origin call next: it answers preflights with 204 and
// marks every other answer as readable. Credentials of the browser are never
// allowed, so a page can do no more than a program of its own could. service is
// that of [Config]; it names the version header.
func CORS(service string, next http.Handler) http.Handler {
	version := VersionHeader(service)
	allowed := strings.Join([]string{"Authorization", "Content-Type", "Idempotency-Key", version}, ", ")
	exposed := strings.Join([]string{
		"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "WWW-Authenticate", version,
	}, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, values := w.Header(), []string{"*", exposed} // one allocation: every answer has them
		header["Access-Control-Allow-Origin"] = values[0:1:1]
		if !isPreflight(r) {
			header["Access-Control-Expose-Headers"] = values[1:2:2]
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

// VersionHeader is the name of the header that asks for a version of the API:
// the service's name and -Version. What a header name cannot have becomes a
// hyphen.
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

// isPreflight tells a browser's question from an OPTIONS request of anybody else.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != ""
}

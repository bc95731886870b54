package oauthserver

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
)

// credentials are what a request says about its client. Nobody has looked yet
// whether it is true.
type credentials struct {
	clientID string        // empty: none was named
	secret   secret.Secret // zero: none was presented
	// malformed: HTTP Basic was used, and cannot be read.
	malformed bool
	// problem is an invalid_request about the credentials.
	problem error
}

// isAbsent reports that the request says nothing about a client at all.
func (c credentials) isAbsent() bool {
	return c.clientID == "" && c.secret.IsZero() && !c.malformed
}

// readCredentials reads HTTP Basic and the form, of which at most one may hold a
// secret. Basic with an empty secret is the same as a client_id alone.
func readCredentials(r *http.Request, form apierror.Form) credentials {
	c := basicCredentials(r)
	if r.URL.RawQuery != "" {
		if query := r.URL.Query(); query.Has("client_id") || query.Has("client_secret") {
			c.problem = invalidRequest("client credentials must not be sent in the URL")
		}
	}
	if c.malformed {
		return c
	}
	id, text := form.Get("client_id"), form.Get("client_secret")
	switch {
	case c.problem != nil:
	case id != "" && c.clientID != "" && id != c.clientID:
		c.problem = invalidRequest("client_id differs from the client_id of the Authorization header")
	case text != "" && !c.secret.IsZero():
		c.problem = invalidRequest("the client secret was sent twice")
	}
	if c.clientID == "" {
		c.clientID = id
	}
	if c.secret.IsZero() {
		c.secret = secret.Wrap(text)
	}
	return c
}

// basicCredentials reads the Authorization header alone. Other schemes than
// Basic say nothing about a client.
func basicCredentials(r *http.Request) credentials {
	values := r.Header.Values("Authorization")
	for _, value := range values {
		scheme, encoded, _ := strings.Cut(strings.TrimSpace(value), " ")
		if !strings.EqualFold(scheme, "Basic") {
			continue
		}
		id, text, ok := decodeBasic(strings.TrimSpace(encoded))
		if !ok || len(values) > 1 {
			return credentials{malformed: true}
		}
		return credentials{clientID: id, secret: secret.Wrap(text)}
	}
	return credentials{}
}

// decodeBasic undoes RFC 6749 section 2.3.1: both parts are form-encoded before
// they are joined. Ids and secrets that we mint are the same in either form, so
// that clients which leave that out are understood too.
func decodeBasic(encoded string) (id, password string, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") { // which package base64 ignores
		return "", "", false
	}
	id, password, found := strings.Cut(string(raw), ":")
	if !found {
		return "", "", false
	}
	id, idErr := url.QueryUnescape(id)
	password, passwordErr := url.QueryUnescape(password)
	if idErr != nil || passwordErr != nil || id == "" || !text.IsStorable(id) || !text.IsStorable(password) {
		return "", "", false
	}
	return id, password, true
}

// Package credentials reads the credentials of a client from a request (RFC 6749 section 2.3).
package credentials

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/header"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/assertion"
)

// Credentials are the client credentials of a request, before they are checked.
type Credentials struct {
	ClientID string        // empty: none was named
	Secret   secret.Secret // zero: none was presented
	// Assertion is the client assertion, which is not verified; nil: none was presented.
	Assertion *assertion.Assertion
	// Malformed: the credentials of HTTP Basic or the client assertion cannot be read.
	Malformed bool
	// Problem is an invalid_request about the credentials.
	Problem *oautherror.Error
}

// IsAbsent reports whether the request names no client and has no credentials.
func (c Credentials) IsAbsent() bool {
	return c.ClientID == "" && c.Secret.IsZero() && c.Assertion == nil && !c.Malformed
}

// HasProof reports whether the request has a secret or an assertion, right or wrong.
func (c Credentials) HasProof() bool { return !c.Secret.IsZero() || c.Assertion != nil }

// Read reads HTTP Basic and the form, of which at most one may hold a
// secret. Basic with an empty secret is the same as a client_id alone.
func Read(r *http.Request, form bodies.Form) Credentials {
	c := ReadBasic(r)
	if r.URL.RawQuery != "" {
		if query := r.URL.Query(); query.Has("client_id") || query.Has("client_secret") {
			c.Problem = oautherror.New(oautherror.InvalidRequest, "client credentials must not be sent in the URL")
		}
	}
	if c.Malformed {
		return c
	}
	id, text := form.Get("client_id"), form.Get("client_secret")
	switch {
	case c.Problem != nil:
	case id != "" && c.ClientID != "" && id != c.ClientID:
		c.Problem = oautherror.New(oautherror.InvalidRequest, "client_id differs from the client_id of the Authorization header")
	case text != "" && !c.Secret.IsZero():
		c.Problem = oautherror.New(oautherror.InvalidRequest, "the client secret was sent twice")
	}
	if c.ClientID == "" {
		c.ClientID = id
	}
	if c.Secret.IsZero() {
		c.Secret = secret.Wrap(text)
	}
	return c
}

// WithAssertion adds the client assertion of a form (RFC 7523 section 2.2). Without a
// client_id, the assertion names the client.
func (c Credentials) WithAssertion(r *http.Request, form bodies.Form) Credentials {
	problem := func(text string) Credentials {
		c.Problem = oautherror.New(oautherror.InvalidRequest, text)
		return c
	}
	if r.URL.RawQuery != "" && r.URL.Query().Has(paramAssertion) {
		return problem("client credentials must not be sent in the URL")
	}
	if c.Problem != nil || c.Malformed || !form.Has(paramAssertion) && !form.Has(paramType) {
		return c
	}
	raw, kind := form.Get(paramAssertion), form.Get(paramType)
	switch {
	case raw == "":
		return problem(paramAssertion + " is missing")
	case kind == "":
		return problem(paramType + " is missing")
	case len(raw) > assertion.MaxLength || !text.IsPrintable(raw):
		return problem(paramAssertion + " is malformed")
	case !c.Secret.IsZero():
		return problem("a client secret and a client assertion were sent")
	}
	read, err := assertion.Parse(raw)
	if err != nil || kind != assertion.Type {
		c.Malformed = true
		return c
	}
	c.Assertion = read
	if c.ClientID == "" {
		c.ClientID = read.ClientID
	}
	return c
}

const (
	paramAssertion = "client_assertion"
	paramType      = "client_assertion_type"
)

// ReadBasic reads the Authorization header alone. Schemes other than Basic are
// ignored.
func ReadBasic(r *http.Request) Credentials {
	encoded, found := header.Authorization(r.Header, "Basic")
	if !found {
		return Credentials{}
	}
	id, text, ok := decodeBasic(encoded)
	if !ok {
		return Credentials{Malformed: true}
	}
	return Credentials{ClientID: id, Secret: secret.Wrap(text)}
}

// decodeBasic reverses RFC 6749 section 2.3.1: both parts are form-encoded before they are
// joined. The encoded form of issued ids and secrets equals the plain form, so clients that
// do not encode them are understood too.
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

package endpoint

import (
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/oauthserver/internal/credentials"
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// How long parameters may be, in bytes.
const (
	maxParameter    = 512
	maxSubjectToken = 8 << 10
)

// call is a request to an OAuth endpoint, read once: its parameters, its address, and the time
// that all checks use.
type call struct {
	endpoint    endpointName
	now         time.Time
	ip          netip.Addr
	form        bodies.Form
	credentials credentials.Credentials
	// The keys of counters and lockouts: of the address, and of the address with the
	// client_id, if there is one.
	address, client ratelimit.Key
}

// newCall returns a request whose body has not been read.
func (s *Server) newCall(r *http.Request, endpoint endpointName) call {
	ip := s.cfg.Proxies.ClientIP(r)
	return call{endpoint: endpoint, now: s.cfg.Clock.Now(), ip: ip, address: ratelimit.NewIPKey("oauth "+string(endpoint), ip)}
}

// reader reads the parameters and the client's credentials of a request. If the body cannot be
// read, it returns the credentials of the header with the error, so that the request counts
// for its client.
type reader func(r *http.Request) (bodies.Form, credentials.Credentials, error)

// begin reads a request and counts it. A request that cannot be read or is rejected counts too.
func (s *Server) begin(r *http.Request, endpoint endpointName, read reader) (call, error) {
	c := s.newCall(r, endpoint)
	var unreadable error
	c.form, c.credentials, unreadable = read(r)
	c.now = s.cfg.Clock.Now() // again: the client may have sent the body much later
	if s.cfg.PrivateKeyJWT {
		c.credentials = c.credentials.WithAssertion(r, c.form)
	}
	if id := c.credentials.ClientID; id != "" {
		c.client = ratelimit.NewIPKey("oauth "+string(endpoint), c.ip, id)
	}
	if err := s.limit(r.Context(), c); err != nil {
		return call{}, err
	}
	if unreadable != nil {
		return call{}, unreadable
	}
	return c, c.checkRepeated()
}

// readForm is the reader of endpoints that take a form.
func readForm(r *http.Request) (bodies.Form, credentials.Credentials, error) {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return nil, credentials.ReadBasic(r), err
	}
	return form, credentials.Read(r, form), nil
}

// checkRepeated rejects parameters that were sent twice, of which one could be checked and the
// other used (RFC 6749 section 3.2). resource has an error of its own.
func (c call) checkRepeated() error {
	names := slices.DeleteFunc(c.form.Repeated(), func(name string) bool { return name == "resource" })
	if len(names) > 0 {
		return invalidRequest(names[0] + " is given more than once")
	}
	return nil
}

// parameter returns a required parameter. Malformed means too long, or not
// printable ASCII.
func (c call) parameter(name string, limit int) (string, error) {
	value := c.form.Get(name)
	switch {
	case value == "":
		return "", invalidRequest(name + " is missing")
	case len(value) > limit || !text.IsPrintable(value):
		return "", invalidRequest(name + " is malformed")
	}
	return value, nil
}

// scopesWithin returns the scope parameter, which must not have more scopes than allowed;
// empty if it has none or was not sent. problem begins the error for the other scopes.
func (c call) scopesWithin(allowed identity.Scopes, problem string) (identity.Scopes, error) {
	asked, err := identity.ParseScopes(c.form.Get("scope"))
	if err != nil {
		return identity.Scopes{}, oautherror.New(oautherror.InvalidScope, err.Error())
	}
	if wider := asked.Minus(allowed); !wider.IsEmpty() {
		return identity.Scopes{}, oautherror.New(oautherror.InvalidScope, problem+wider.String())
	}
	return asked, nil
}

// checkTarget checks the resource parameter.
func (s *Server) checkTarget(c call) error {
	if err := uri.CheckResource(c.form["resource"], s.apiOrigin); err != nil {
		return oautherror.New(oautherror.InvalidTarget, err.Error())
	}
	return nil
}

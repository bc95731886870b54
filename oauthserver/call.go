package oauthserver

import (
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// How long parameters may be, in bytes.
const (
	maxParameter    = 512
	maxSubjectToken = 8 << 10
)

// call is a request to an OAuth endpoint, read once: what it says, from where,
// and the one time that everything about it is judged by.
type call struct {
	endpoint    endpointName
	now         time.Time
	ip          netip.Addr
	form        apierror.Form
	credentials credentials
	// The keys of counters and lockouts: of its address, and of its address and the
	// client that it names, if it names one.
	address, client ratelimit.Key
}

// newCall is a request of which nothing has been read yet.
func (s *Server) newCall(r *http.Request, endpoint endpointName) call {
	ip := s.cfg.Proxies.ClientIP(r)
	return call{endpoint: endpoint, now: s.cfg.Clock.Now(), ip: ip, address: ratelimit.NewIPKey("oauth "+string(endpoint), ip)}
}

// reader reads the parameters and the client's credentials of a request.
type reader func(r *http.Request) (apierror.Form, credentials, error)

// begin reads a request and counts it. What is wrong with the request is
// answered after that: refused and unreadable ones count too.
func (s *Server) begin(r *http.Request, endpoint endpointName, read reader) (call, error) {
	c := s.newCall(r, endpoint)
	var unreadable error
	c.form, c.credentials, unreadable = read(r)
	if id := c.credentials.clientID; id != "" {
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
func readForm(r *http.Request) (apierror.Form, credentials, error) {
	form, err := apierror.DecodeForm(r, apierror.FormLimits{})
	if err != nil {
		return nil, credentials{}, err
	}
	return form, readCredentials(r, form), nil
}

// checkRepeated refuses parameters that were sent twice, of which one could be
// judged and the other used (RFC 6749 section 3.2). resource has an error of its
// own.
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

// checkTarget judges the resource parameter.
func (s *Server) checkTarget(c call) error {
	if err := s.checkResource(c.form["resource"]); err != nil {
		return apierror.NewOAuth(apierror.InvalidTarget, err.Error())
	}
	return nil
}

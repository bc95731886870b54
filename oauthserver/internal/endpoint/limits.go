package endpoint

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// endpointName is part of the keys of counters and lockouts: each endpoint has its own.
type endpointName string

const (
	endpointToken      endpointName = "token"
	endpointRevoke     endpointName = "revoke"
	endpointIntrospect endpointName = "introspect"
	endpointDevice     endpointName = "device"
	endpointRegister   endpointName = "register"
)

// The variants of the keys of an address, and of an address and a client.
const (
	ofRequests byte = iota // without a secret
	ofSecrets
	ofFailures
)

// limit counts the request and checks counters and lockouts, with one call of the limiter
// and before the client is read. A request whose body cannot be read has no credentials and
// counts for its address alone.
func (s *Server) limit(ctx context.Context, c call) error {
	return s.check(ctx, c.now, ratelimit.Request{Counters: c.counters(&s.cfg.Limits), Lockouts: c.lockouts(&s.cfg.Limits)})
}

// limitClient counts the token requests of a client that proved its secret or key, from all
// addresses.
func (s *Server) limitClient(ctx context.Context, c call, client authenticatedClient) error {
	if !client.proved {
		return nil
	}
	var asked ratelimit.Request
	asked.Counters[0] = s.cfg.Limits.TokenRequests(client.ClientID)
	return s.check(ctx, c.now, asked)
}

func (s *Server) check(ctx context.Context, now time.Time, asked ratelimit.Request) error {
	result, err := s.cfg.Limiter.Check(ctx, now, asked)
	return apierror.Limited(result.Allowed, result.Wait, err)
}

// counters returns the counters of a request.
func (c call) counters(l *ratelimit.Limits) ratelimit.Counters {
	var counters ratelimit.Counters
	perIP := l.OAuthPerIP
	switch c.endpoint {
	case endpointDevice:
		perIP = l.DeviceAuthorize
	case endpointRegister:
		perIP = l.Register
	}
	counters[0] = ratelimit.Counter{Key: c.address.Variant(ofRequests), Limit: perIP}
	if c.credentials.ClientID == "" || c.endpoint == endpointDevice || c.endpoint == endpointRegister {
		return counters
	}
	kind, perPair := ofRequests, l.OAuthWithoutSecret
	if c.credentials.HasProof() {
		kind, perPair = ofSecrets, l.OAuthWithSecret
	}
	counters[1] = ratelimit.Counter{Key: c.client.Variant(kind), Limit: perPair}
	return counters
}

// lockouts returns the lockouts that a failed authentication of this request counts for, and
// that may reject it. Without a client_id it is that of the address alone.
func (c call) lockouts(l *ratelimit.Limits) ratelimit.Lockouts {
	var lockouts ratelimit.Lockouts
	if c.endpoint == endpointRegister {
		return lockouts
	}
	lockouts[0] = ratelimit.Lockout{Key: c.address.Variant(ofFailures), Rule: l.AuthFailuresPerIP}
	if c.credentials.ClientID != "" {
		lockouts[1] = ratelimit.Lockout{Key: c.client.Variant(ofFailures), Rule: l.AuthFailures}
	}
	return lockouts
}

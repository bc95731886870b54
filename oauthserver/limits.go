package oauthserver

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// endpointName keeps the counters and lockouts of the endpoints apart.
type endpointName string

const (
	endpointToken      endpointName = "token"
	endpointRevoke     endpointName = "revoke"
	endpointIntrospect endpointName = "introspect"
	endpointDevice     endpointName = "device"
	endpointRegister   endpointName = "register"
)

// What the keys of one address, or of one address and client, count.
const (
	ofRequests byte = iota // without a secret
	ofSecrets
	ofFailures
)

// limit counts the request and judges counters and lockouts, in one question to
// the limiter and before anybody looks for the client. A request whose body
// could not be read has no credentials and counts for its address alone.
func (s *Server) limit(ctx context.Context, c call) error {
	return s.check(ctx, c.now, ratelimit.Request{Counters: c.counters(), Lockouts: c.lockouts()})
}

// limitClient counts what a client that proved its secret does from everywhere.
func (s *Server) limitClient(ctx context.Context, c call, client authenticatedClient) error {
	if !client.proved {
		return nil
	}
	var asked ratelimit.Request
	asked.Counters[0] = ratelimit.Counter{
		Key:   ratelimit.NewKey("oauth "+string(c.endpoint)+" client", client.ClientID),
		Limit: ratelimit.PerMinute(ratelimit.OAuthPerClient),
	}
	return s.check(ctx, c.now, asked)
}

func (s *Server) check(ctx context.Context, now time.Time, asked ratelimit.Request) error {
	result, err := s.cfg.Limiter.Check(ctx, now, asked)
	return apierror.Limited(result.Allowed, result.Wait, err)
}

// counters are those of one request by its endpoint.
func (c call) counters() ratelimit.Counters {
	var counters ratelimit.Counters
	perIP := ratelimit.OAuthPerIP
	switch c.endpoint {
	case endpointDevice:
		perIP = ratelimit.DeviceAuthorize
	case endpointRegister:
		perIP = ratelimit.Register
	}
	counters[0] = ratelimit.Counter{Key: c.address.Variant(ofRequests), Limit: ratelimit.PerMinute(perIP)}
	if c.credentials.clientID == "" || c.endpoint == endpointDevice || c.endpoint == endpointRegister {
		return counters
	}
	kind, perPair := ofRequests, ratelimit.OAuthWithoutSecret
	if !c.credentials.secret.IsZero() {
		kind, perPair = ofSecrets, ratelimit.OAuthWithSecret
	}
	counters[1] = ratelimit.Counter{Key: c.client.Variant(kind), Limit: ratelimit.PerMinute(perPair)}
	return counters
}

// lockouts are those that a failed authentication of this request counts for,
// and that may refuse it. Without a client_id only the address can be at fault.
func (c call) lockouts() ratelimit.Lockouts {
	var lockouts ratelimit.Lockouts
	if c.endpoint == endpointRegister {
		return lockouts
	}
	lockouts[0] = ratelimit.Lockout{Key: c.address.Variant(ofFailures), Rule: ratelimit.IPLockout()}
	if c.credentials.clientID != "" {
		lockouts[1] = ratelimit.Lockout{Key: c.client.Variant(ofFailures), Rule: ratelimit.PairLockout()}
	}
	return lockouts
}

package ratelimit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"time"
)

// Limits holds the number of every limit. A zero field means the default that its comment
// names. A [Limit] without a Window is per minute; a [LockoutRule] without Within or For
// has the default's.
type Limits struct {
	// PerBusiness limits the calls of one app for one business; 300 a minute.
	PerBusiness Limit
	// PerApp limits the calls of one app for all businesses together; 10,000 a minute.
	PerApp Limit
	// LimitsFor returns exceptions for a call made with an access token, such as those of
	// a plan or of an expensive route. It is called for every call and must be fast. Nil
	// means that there are none. If it panics, the call has no exceptions.
	LimitsFor func(ctx context.Context, call Call) CallLimits

	// OAuthWithSecret limits the requests of one address and client that present a client
	// secret, at each of the token, introspection and revocation endpoints; 600 a minute.
	OAuthWithSecret Limit
	// OAuthWithoutSecret limits those without a secret; 300 a minute.
	OAuthWithoutSecret Limit
	// OAuthPerIP limits the requests of one address to each endpoint; 1,200 a minute.
	OAuthPerIP Limit
	// OAuthPerClient limits the token requests of one client that proved its secret, from
	// all addresses; 600 a minute.
	OAuthPerClient Limit
	// DeviceAuthorize limits the device authorization requests of one address; 30 a minute.
	DeviceAuthorize Limit
	// Register limits the registrations of one address; 30 a minute.
	Register Limit
	// DefaultPerIP limits the requests of one address that have no other limit, on each of
	// the two hosts; 600 a minute.
	DefaultPerIP Limit

	// AuthFailures locks one address out for one client after failed client
	// authentications: more than 30 within one minute, for one minute.
	AuthFailures LockoutRule
	// AuthFailuresPerIP locks one address out for all clients: more than 100 within one
	// minute, for one minute.
	AuthFailuresPerIP LockoutRule
	// UserCodes closes the device form after wrong user codes: more than 19 within ten
	// minutes, for ten minutes.
	UserCodes LockoutRule
}

// Call is a call made with an access token, as [Limits].LimitsFor sees it.
type Call struct {
	AppID, ClientID, BusinessID, UserID string
	// Pattern is the pattern of the route, such as "GET /invoices/{id}"; empty if no route serves
	// the call.
	Pattern string
}

// CallLimits are the exceptions for one call. The zero value of a field means that there
// is none.
type CallLimits struct {
	PerBusiness, PerApp Limit
	// PerRoute additionally limits the calls of the app for the business to this route.
	PerRoute Limit
}

// The bounds of what Limits may say about guessing.
const (
	mostAuthFailures = 10_000
	mostUserCodes    = 100
)

// DefaultLimits returns the defaults.
func DefaultLimits() Limits { return Limits{}.WithDefaults() }

// WithDefaults returns the limits with a default in every field that is zero.
func (l Limits) WithDefaults() Limits {
	for _, one := range []struct {
		limit *Limit
		count int
	}{
		{&l.PerBusiness, 300}, {&l.PerApp, 10_000}, {&l.OAuthWithSecret, 600}, {&l.OAuthWithoutSecret, 300}, {&l.OAuthPerIP, 1_200},
		{&l.OAuthPerClient, 600}, {&l.DeviceAuthorize, 30}, {&l.Register, 30}, {&l.DefaultPerIP, 600},
	} {
		*one.limit = one.limit.or(PerMinute(one.count))
	}
	l.AuthFailures = l.AuthFailures.or(LockoutRule{MoreThan: 30, Within: time.Minute, For: time.Minute})
	l.AuthFailuresPerIP = l.AuthFailuresPerIP.or(LockoutRule{MoreThan: 100, Within: time.Minute, For: time.Minute})
	l.UserCodes = l.UserCodes.or(LockoutRule{MoreThan: 19, Within: 10 * time.Minute, For: 10 * time.Minute})
	return l
}

func (l Limit) or(other Limit) Limit {
	if l == (Limit{}) {
		return other
	}
	l.Window = cmp.Or(l.Window, time.Minute)
	return l
}

func (r LockoutRule) or(other LockoutRule) LockoutRule {
	return LockoutRule{MoreThan: cmp.Or(r.MoreThan, other.MoreThan), Within: cmp.Or(r.Within, other.Within), For: cmp.Or(r.For, other.For)}
}

// Validate returns an error that names every field that makes no sense or is unsafe, with
// the reason. It returns nil for the zero value.
func (l Limits) Validate() error {
	l = l.WithDefaults()
	var errs []error
	add := func(field string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("Limits.%s: %w", field, err)) //nolint:staticcheck // the name of the field
		}
	}
	for _, one := range []struct {
		field string
		limit Limit
	}{
		{"PerBusiness", l.PerBusiness}, {"PerApp", l.PerApp}, {"OAuthWithSecret", l.OAuthWithSecret},
		{"OAuthWithoutSecret", l.OAuthWithoutSecret}, {"OAuthPerIP", l.OAuthPerIP}, {"OAuthPerClient", l.OAuthPerClient},
		{"DeviceAuthorize", l.DeviceAuthorize}, {"Register", l.Register}, {"DefaultPerIP", l.DefaultPerIP},
	} {
		add(one.field, one.limit.validate())
	}
	for _, one := range []struct {
		field string
		rule  LockoutRule
		most  int
	}{
		{"AuthFailures", l.AuthFailures, mostAuthFailures}, {"AuthFailuresPerIP", l.AuthFailuresPerIP, mostAuthFailures},
		{"UserCodes", l.UserCodes, mostUserCodes},
	} {
		add(one.field, one.rule.validate())
		if one.rule.MoreThan > one.most {
			add(one.field, fmt.Errorf("%w: MoreThan is %d; at most %d attempts may fail, or secrets could be guessed", ErrInvalid, one.rule.MoreThan, one.most))
		}
	}
	return errors.Join(errs...)
}

// For returns the limits of a call: its exceptions, and the limits themselves where there
// is none. An exception that makes no sense is left out and returned as an error.
func (l *Limits) For(ctx context.Context, call Call) (of CallLimits, err error) {
	of = CallLimits{PerBusiness: l.PerBusiness, PerApp: l.PerApp}
	if l.LimitsFor == nil {
		return of, nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("LimitsFor panicked with a value of type %T: %s", cause, debug.Stack())
		}
	}()
	exceptions := l.LimitsFor(ctx, call)
	var errs []error
	for _, one := range []struct{ to, from *Limit }{
		{&of.PerBusiness, &exceptions.PerBusiness}, {&of.PerApp, &exceptions.PerApp}, {&of.PerRoute, &exceptions.PerRoute},
	} {
		limit := one.from.or(*one.to)
		if limit == (Limit{}) {
			continue
		}
		if err := limit.validate(); err != nil {
			errs = append(errs, fmt.Errorf("LimitsFor: %w", err))
			continue
		}
		*one.to = limit
	}
	return of, errors.Join(errs...)
}

// Counters returns the counters of a call under these limits: one for the app at the
// business, one for the app, and, if the route has its own limit, one for the app at the
// business on the route.
func (l *CallLimits) Counters(call *Call) (counters Counters) {
	counters[0] = Counter{Key: NewKey("api business", call.AppID, call.BusinessID), Limit: l.PerBusiness}
	counters[1] = Counter{Key: NewKey("api app", call.AppID), Limit: l.PerApp}
	if l.PerRoute.Count > 0 && call.Pattern != "" {
		counters[2] = Counter{Key: NewKey("api route", call.AppID, call.BusinessID, call.Pattern), Limit: l.PerRoute}
	}
	return counters
}

// TokenRequests returns the counter of the token requests of one client that proved its secret.
func (l *Limits) TokenRequests(clientID string) Counter {
	return Counter{Key: NewKey("oauth token client", clientID), Limit: l.OAuthPerClient}
}

// DefaultAPI returns the counter of an address for all requests to the API host that have no
// limit of their own.
func (l *Limits) DefaultAPI(ip netip.Addr) Counter {
	return Counter{Key: NewIPKey("default ip", ip), Limit: l.DefaultPerIP}
}

// DefaultApp returns the counter of an address for all requests to the app host that have no
// limit of their own.
func (l *Limits) DefaultApp(ip netip.Addr) Counter {
	return Counter{Key: NewIPKey("app host pages", ip), Limit: l.DefaultPerIP}
}

// PerMinute returns a limit of count requests in each minute.
func PerMinute(count int) Limit {
	return Limit{Count: count, Window: time.Minute}
}

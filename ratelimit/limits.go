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
	// PerBusinessAlso and PerAppAlso are further windows of the two: all of them hold, such as
	// 5,000 a day besides 60 a minute. The RateLimit headers tell the window of PerBusiness and
	// PerBusinessAlso with the least left.
	PerBusinessAlso, PerAppAlso Windows
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
	// PerBusinessAlso, PerAppAlso and PerRouteAlso are further windows. An exception for a
	// limit is one for its further windows too: without any it has one window.
	PerBusinessAlso, PerAppAlso Windows
	PerRouteAlso                Limit
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
	add("PerBusinessAlso", l.PerBusinessAlso.validate(l.PerBusiness))
	add("PerAppAlso", l.PerAppAlso.validate(l.PerApp))
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
	of = CallLimits{PerBusiness: l.PerBusiness, PerApp: l.PerApp, PerBusinessAlso: l.PerBusinessAlso, PerAppAlso: l.PerAppAlso}
	if l.LimitsFor == nil {
		return of, nil
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("LimitsFor panicked with a value of type %T: %s", cause, debug.Stack())
		}
	}()
	exceptions := l.LimitsFor(ctx, call)
	var route, routeAlso = Windows{exceptions.PerRouteAlso}, Windows{}
	errs := [...]error{
		except(&of.PerBusiness, &of.PerBusinessAlso, exceptions.PerBusiness, exceptions.PerBusinessAlso),
		except(&of.PerApp, &of.PerAppAlso, exceptions.PerApp, exceptions.PerAppAlso),
		except(&of.PerRoute, &routeAlso, exceptions.PerRoute, route),
	}
	of.PerRouteAlso = routeAlso[0]
	return of, errors.Join(errs[:]...)
}

// except replaces a limit and its further windows by an exception, if there is one that makes
// sense.
func except(limit *Limit, also *Windows, by Limit, byAlso Windows) error {
	if by == (Limit{}) && byAlso == (Windows{}) {
		return nil
	}
	by = by.or(*limit)
	if err := by.validate(); err != nil {
		return fmt.Errorf("LimitsFor: %w", err)
	}
	if err := byAlso.validate(by); err != nil {
		return fmt.Errorf("LimitsFor: %w", err)
	}
	*limit, *also = by, byAlso
	return nil
}

// CallLimit is one of the [CallLimits].
type CallLimit int

// The limits of a call.
const (
	BusinessLimit CallLimit = iota // PerBusiness
	AppLimit                       // PerApp
	RouteLimit                     // PerRoute
)

// places are the limits to which the counters of a call belong, by their places.
var places = [MaxCounters]CallLimit{BusinessLimit, AppLimit, RouteLimit, BusinessLimit, BusinessLimit, AppLimit, AppLimit, RouteLimit}

// LimitAt returns the limit to which a counter of [CallLimits.Counters] belongs, by its place.
func LimitAt(place int) CallLimit { return places[place] }

// Counters returns the counters of a call under these limits: one for the app at the
// business, one for the app, and, if the route has its own limit, one for the app at the
// business on the route; behind them those of further windows. See [LimitAt].
func (l *CallLimits) Counters(call *Call) (counters Counters) {
	counters[0] = Counter{Key: NewKey("api business", call.AppID, call.BusinessID), Limit: l.PerBusiness}
	counters[1] = Counter{Key: NewKey("api app", call.AppID), Limit: l.PerApp}
	if l.PerRoute.Count > 0 && call.Pattern != "" {
		counters[2] = Counter{Key: NewKey("api route", call.AppID, call.BusinessID, call.Pattern), Limit: l.PerRoute}
		counters.also(7, 2, l.PerRouteAlso)
	}
	counters.also(3, 0, l.PerBusinessAlso[0])
	counters.also(4, 0, l.PerBusinessAlso[1])
	counters.also(5, 1, l.PerAppAlso[0])
	counters.also(6, 1, l.PerAppAlso[1])
	return counters
}

// also adds the counter of a further window, which has the key of the first.
func (c *Counters) also(place, first int, limit Limit) {
	if limit.Count > 0 {
		c[place] = Counter{Key: c[first].Key, Limit: limit}
	}
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

package ratelimit

import (
	"net/netip"
	"time"
)

// Calls made with an access token, in requests per minute.
const (
	APIPerBusiness = 300    // by one app for one business
	APIPerApp      = 10_000 // by one app for all businesses together
)

// OAuth endpoints, in requests per minute. Token, introspection and revocation
// count each for itself.
const (
	OAuthWithSecret    = 600   // by one address and client, with a client secret
	OAuthWithoutSecret = 300   // by one address and client, without one
	OAuthPerIP         = 1_200 // by one address, all clients
	OAuthPerClient     = 600   // by one client that proved its secret, all addresses
	DeviceAuthorize    = 30    // by one address
	Register           = 30    // by one address
)

// DefaultPerIP is for everything without a limit of its own, in requests per
// minute by one address.
const DefaultPerIP = 600

// DefaultAPI is the counter of an address for all requests to the API host that have no
// limit of their own.
func DefaultAPI(ip netip.Addr) Counter {
	return Counter{Key: NewIPKey("default ip", ip), Limit: PerMinute(DefaultPerIP)}
}

// DefaultApp is the counter of an address for all requests to the app host that have no
// limit of their own.
func DefaultApp(ip netip.Addr) Counter {
	return Counter{Key: NewIPKey("app host pages", ip), Limit: PerMinute(DefaultPerIP)}
}

// Failed client authentication: more failures than these within
// AuthFailuresWithin lock out for AuthLockedFor.
const (
	AuthFailuresPerPair = 30  // of one address with one client
	AuthFailuresPerIP   = 100 // of one address, all clients
	AuthFailuresWithin  = time.Minute
	AuthLockedFor       = time.Minute
)

// Guessing of user codes: this many wrong ones within UserCodesWithin close the
// form for UserCodesClosedFor.
const (
	WrongUserCodes     = 20
	UserCodesWithin    = 10 * time.Minute
	UserCodesClosedFor = 10 * time.Minute
)

// PerMinute is a limit of count requests in each minute.
func PerMinute(count int) Limit {
	return Limit{Count: count, Window: time.Minute}
}

// PairLockout is the rule for failed authentications of one address with one
// client.
func PairLockout() LockoutRule {
	return LockoutRule{MoreThan: AuthFailuresPerPair, Within: AuthFailuresWithin, For: AuthLockedFor}
}

// IPLockout is the rule for failed authentications of one address.
func IPLockout() LockoutRule {
	return LockoutRule{MoreThan: AuthFailuresPerIP, Within: AuthFailuresWithin, For: AuthLockedFor}
}

// UserCodeLockout is the rule for wrong user codes. The last of WrongUserCodes
// closes the form, so one fewer may pass.
func UserCodeLockout() LockoutRule {
	return LockoutRule{MoreThan: WrongUserCodes - 1, Within: UserCodesWithin, For: UserCodesClosedFor}
}

package storage

import "time"

// PurgeKind is a kind of records that are deleted once nothing needs them any more.
type PurgeKind string

// The kinds of records. The comments describe the records that a [Purge] of the kind
// deletes.
const (
	// PurgeOAuth: authorization requests 30 minutes after they expired; registration tokens,
	// access tokens and used client assertions one day after; codes, device codes and used session tokens 30
	// days after; refresh tokens 90 days after; console tokens 395 days after they were
	// created; signing keys that have retired; and apps that registered
	// themselves or have a metadata document and were not connected within 30 days. A
	// suspended or deactivated app with a document is kept. Limit counts for each of these.
	// Before is the present time.
	//
	// Of a used refresh token whose family lives, the store keeps enough to recognize the
	// token, however old it is. A family has ended when it was revoked, when its consent or
	// its installation has ended, when its app was deactivated, or when its newest refresh
	// token has expired.
	PurgeOAuth PurgeKind = "oauth"
	// PurgeAudit: audit entries from before a time, oldest first.
	PurgeAudit PurgeKind = "audit"
	// PurgeKeys: idempotency keys whose lifetime ended before a time, unless a request
	// still holds the key's lease.
	PurgeKeys PurgeKind = "idempotency keys"
	// PurgeCalls: call buckets whose hours begin before a time, and the record of writers
	// that added nothing since. Limit counts for each of the two.
	PurgeCalls PurgeKind = "calls"
	// PurgeCallGroups: groups of calls by route or by status whose days begin before a time.
	PurgeCallGroups PurgeKind = "call groups"
	// PurgeUsage: groups of calls by business whose days begin before a time.
	PurgeUsage PurgeKind = "usage"
	// PurgeRequests: entries of the request log of calls that came before a time.
	PurgeRequests PurgeKind = "requests"
	// PurgeEvents: events that were recorded before a time.
	PurgeEvents PurgeKind = "events"
	// PurgeDeliveries: deliveries that were created before a time, oldest first, with their
	// attempts and in any state; then webhooks that were deleted before that time and have
	// no deliveries left.
	PurgeDeliveries PurgeKind = "deliveries"
	// PurgeHealth: counts of the attempts of webhooks in minutes that begin before a time.
	PurgeHealth PurgeKind = "webhook health"
	// PurgeLimitWindows: windows of rate limits that ended before a time.
	PurgeLimitWindows PurgeKind = "limit windows"
	// PurgeAppData: values of deleted fields and of ended spaces. Before does not matter. A
	// batch may be smaller than Limit although more is left; 0 means that nothing is left.
	PurgeAppData PurgeKind = "app data"
)

// Purge selects the records that a store deletes in one batch.
type Purge struct {
	Kind   PurgeKind
	Before time.Time // on the platform's clock
	Real   time.Time // the present time on the machine's clock, for the leases of PurgeKeys
	// Lifetimes are the lifetimes of the records of PurgeOAuth.
	Lifetimes PurgeLifetimes
	Limit     int // of deleted records
}

// PurgeLifetimes are the lifetimes of records that are found by the time of their issue. A
// zero field means the default of oauthserver.Lifetimes.
type PurgeLifetimes struct {
	Request, Code, DeviceCode, AccessToken, RefreshToken, RegistrationToken time.Duration
}

// Package partner has the records that every feature and the host share: the apps of
// partners, the businesses' installations of them, what a review covers, and the events,
// webhooks and deliveries of the apps.
//
// They are neither one feature's own nor the store's: the consoles show them, guards
// and webhooks follow them, and every store keeps them. What only a store needs is in the
// contract packages, such as oauthserver/oauthstore and webhooks/webhookstore.
package partner

import (
	"encoding/hex"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/storage"
)

// ClientType says whether an app can keep a secret.
type ClientType string

// The client types.
const (
	Confidential ClientType = "CONFIDENTIAL"
	Public       ClientType = "PUBLIC"
)

// AppStatus determines whether an app may act. The comment of package oauthserver shows the
// transitions.
type AppStatus string

// The statuses of an app. Suspension can be lifted, deactivation is final.
const (
	AppActive      AppStatus = "ACTIVE"
	AppSuspended   AppStatus = "SUSPENDED"
	AppDeactivated AppStatus = "DEACTIVATED"
)

// AppOrigin is the way in which an app was created.
type AppOrigin string

// The origins of an app.
const (
	OriginConsole    AppOrigin = "console"    // a developer created it
	OriginRegistered AppOrigin = "registered" // dynamic client registration
	OriginDocument   AppOrigin = "document"   // its client_id is the URL of its metadata
)

// App is a partner's app: one client_id for all of its customers.
type App struct {
	ID       string
	ClientID string
	Type     ClientType
	Status   AppStatus
	Origin   AppOrigin
	Name     string
	// OrganizationID is the organization that owns the app; empty if the app has no owner.
	OrganizationID string
	// Reviewed is false until the app has completed review; until then it can
	// only connect to sandbox businesses of its organization.
	Reviewed bool
	// ReviewedAs is what the last completed review covered, also after Reviewed was taken back.
	// It is empty if none was completed.
	ReviewedAs    Profile
	RedirectURIs  []string
	Scopes        identity.Scopes // registered: all that it may ever ask for
	PinnedVersion string          // empty: the current version
	AppURL        string
	// CustomBusinessID is the business that the app's organization named for a custom
	// connection; empty: none. The id may be that of no business.
	CustomBusinessID string
	// Metadata holds the members of the registration or the metadata document beyond the
	// above, as a JSON object; empty for none.
	Metadata string
	// StatusReason is the operator's reason for the status, which developers see; empty for
	// none. A change of the status removes it.
	StatusReason string
	// DocumentFetchedAt and DocumentFreshUntil are for OriginDocument.
	DocumentFetchedAt, DocumentFreshUntil time.Time
	CreatedAt                             time.Time
	// Version grows with each change of the app. A new app has 1.
	Version int64
}

// IsUsable reports whether the app is neither suspended nor deactivated.
func (a App) IsUsable() bool { return a.Status == AppActive }

// ClientSecret is one of the secrets of a confidential app. Two may be valid
// while the developer moves from one to the other.
type ClientSecret struct {
	ID        string
	AppID     string
	Digest    storage.Digest
	Prefix    string // the first characters, to tell secrets apart
	CreatedAt time.Time
	EndedAt   time.Time // zero while it is valid
}

// UseID returns the name under which the last use of the secret is counted; see SecretUsed in the
// Config of package oauthserver. It is not the id, which client authentication does not read.
func (c ClientSecret) UseID() string { return "secret " + hex.EncodeToString(c.Digest[:]) }

// MaxClientSecrets is how many valid secrets an app may have: the one in use and the one that
// replaces it.
const MaxClientSecrets = 2

package oauthstore

import (
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// AuthorizationRequest is a valid request at the authorize page that waits for the user's
// decision. Its digest is that of a secret in the page's form.
type AuthorizationRequest struct {
	ID            string
	Digest        storage.Digest
	Purpose       RequestPurpose
	BusinessID    string         // that the request is about; empty in the request of an app
	Browser       storage.Digest // of the cookie of the browser that opened it
	Session       storage.Digest // of the session that it was stored for; zero: it does not count for MaxOpenRequests
	AppID         string
	RedirectURI   string
	Scopes        identity.Scopes
	State         []byte // for the app, byte for byte as it stood in the query; bytes that no URL can have are not percent-encoded; nil for none or once decided
	CodeChallenge string // empty without PKCE
	CreatedAt     time.Time
	ExpiresAt     time.Time
	UsedAt        time.Time // zero until it was decided
}

// RequestPurpose is what a person decides about with an authorization request.
type RequestPurpose string

// The purposes of requests. A request of an app asks whether it may connect.
const (
	PurposeConnect  RequestPurpose = ""
	PurposeCustom   RequestPurpose = "custom"    // the custom connection of an app
	PurposeTakeOver RequestPurpose = "take over" // the connection of people who have left
)

// Owners names everything that a code or token depends on.
type Owners struct {
	AppID          string
	InstallationID string
	BusinessID     string
	GrantID        string // empty for tokens from an exchange
	UserID         string // empty for installation tokens
	FamilyID       string // empty for tokens without a family, and codes that were not redeemed
}

// Standing is the state of everything that a code or token depends on. It is read together
// with the code or token.
type Standing struct {
	Owners
	ClientID           string
	AppStatus          partner.AppStatus
	AppScopes          identity.Scopes
	InstallationStatus partner.InstallationStatus
	InstallationScopes identity.Scopes
	GrantEnded         bool
	GrantLeft          bool // the Grant has a LeftAt
	UserStatus         identity.UserStatus
	FamilyEnded        bool
}

// IsForInstallation reports whether the token is an installation token: its grant is the
// approval of a custom connection, and it has no user.
func (s Standing) IsForInstallation() bool { return s.GrantID != "" && s.UserID == "" }

// IsConnected reports whether neither the installation nor the consent has ended. One that
// has ended never comes back.
func (s Standing) IsConnected() bool {
	return s.InstallationStatus == partner.InstallationActive && !s.GrantEnded
}

// IsAlive reports whether everything that the code or token depends on is valid.
func (s Standing) IsAlive() bool {
	return s.AppStatus == partner.AppActive && s.IsConnected() && s.UserStatus == identity.UserActive && !s.FamilyEnded
}

// Code is an authorization code. Whether what it depends on is valid is checked when it is
// redeemed.
type Code struct {
	Owners
	ID            string
	RedirectURI   string
	CodeChallenge string
	Scopes        identity.Scopes
	ExpiresAt     time.Time
	Used          bool
}

// RefreshToken is a refresh token of a family. If the row of a used token was purged, ID,
// ExpiresAt and Generation are zero.
type RefreshToken struct {
	Standing
	ID           string
	FamilyScopes identity.Scopes
	ExpiresAt    time.Time
	Generation   int64 // counts the rotations of its family, from 1
	Used         bool  // its family has gone on to a later generation
}

// AccessToken is a token that API calls are made with.
type AccessToken struct {
	Standing
	ID        string
	Scopes    identity.Scopes // as issued
	ExpiresAt time.Time
	Revoked   bool // by the app, or replaced by a refresh
	// PinnedVersion is the app's; empty: the current version.
	PinnedVersion string
	// Permissions are what a call with an installation token may do.
	Permissions []string
}

// IsLive reports whether a call may be made with the token now, as far as the store knows.
func (t AccessToken) IsLive(now time.Time) bool {
	return !t.Revoked && now.Before(t.ExpiresAt) && t.IsAlive()
}

// EffectiveScopes returns the scopes of the token that the installation and the app still have.
func (t AccessToken) EffectiveScopes() identity.Scopes {
	return t.Scopes.Intersect(t.InstallationScopes).Intersect(t.AppScopes)
}

// DeviceStatus is the status of a device code.
type DeviceStatus string

// The statuses of a device code.
const (
	DevicePending   DeviceStatus = "PENDING"
	DeviceApproved  DeviceStatus = "APPROVED"
	DeviceDenied    DeviceStatus = "DENIED"
	DeviceCollected DeviceStatus = "COLLECTED"
)

// DeviceCode is a device authorization. Its Standing has only the app until the code is
// approved.
type DeviceCode struct {
	Standing
	ID        string
	UserCode  string // normalized: XXXX-XXXX
	Scopes    identity.Scopes
	Status    DeviceStatus
	ExpiresAt time.Time
	CreatedAt time.Time
}

// RegistrationToken lets its bearer register one app for an organization.
type RegistrationToken struct {
	ID             string
	Digest         storage.Digest
	OrganizationID string
	ExpiresAt      time.Time
	CreatedAt      time.Time
}

// Client holds the part of an app that client authentication needs, and no more: it is
// read for every request of one.
type Client struct {
	ID       string // of the app
	ClientID string
	Type     partner.ClientType
	Status   partner.AppStatus
	Origin   partner.AppOrigin
	// DocumentFetchedAt and DocumentFreshUntil are for OriginDocument.
	DocumentFetchedAt, DocumentFreshUntil time.Time
	Secrets                               []storage.Digest // those that are valid
}

// IsUsable reports whether the app is neither suspended nor deactivated.
func (c Client) IsUsable() bool { return c.Status == partner.AppActive }

// Grant is one user's consent to one installation. Codes and token families belong to it. A
// user has at most one valid grant for each installation.
//
// The approval of a custom connection is a grant without a user, of which an installation has
// at most one valid one too. Installation tokens belong to it.
type Grant struct {
	ID             string
	InstallationID string
	UserID         string          // empty: of a custom connection
	Scopes         identity.Scopes // the union of what the user approved; of a custom connection what was approved last
	Permissions    []string        // of a custom connection: what its calls may do
	CreatedAt      time.Time
	EndedAt        time.Time // zero while it is alive
	// LeftAt is when it was noticed that the user is no longer a member of the business; zero
	// for a member.
	LeftAt time.Time
}

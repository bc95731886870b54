package oauthserver

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
)

// Errors of a Store that are answers, not faults; match with errors.Is.
var (
	// ErrNotFound: there is no such row, or none that the caller may act on.
	ErrNotFound = errors.New("not found")
	// ErrTaken: the client_id is in use.
	ErrTaken = errors.New("client_id is taken")
	// ErrDeactivated: a deactivated app stays deactivated.
	ErrDeactivated = errors.New("app is deactivated")
	// ErrTooManyApps: the organization has as many apps as it may have.
	ErrTooManyApps = errors.New("too many apps")
	// ErrTooManySecrets: the app has as many valid secrets as it may have.
	ErrTooManySecrets = errors.New("too many valid secrets")
	// ErrLastSecret: the app has no other valid secret.
	ErrLastSecret = errors.New("app has no other valid secret")
)

// Store is all that the server keeps. Every method that changes something is one
// act: one transaction with a closed result, decided by the database under any
// number of contenders. A fault is an error that is none of the above.
type Store interface {
	AppStore
	SecretStore
	ConnectionStore
	RequestStore
	CodeStore
	TokenStore
	DeviceStore
	SessionTokenStore
	RegistrationStore
	KeyStore
	JanitorStore
}

// AppStore keeps apps.
type AppStore interface {
	// CreateApp adds an app with its secrets, however many its organization has;
	// [ErrTaken].
	CreateApp(ctx context.Context, app App, secrets []ClientSecret) error
	// App and AppByClientID return one app; [ErrNotFound].
	App(ctx context.Context, id string) (App, error)
	AppByClientID(ctx context.Context, clientID string) (App, error)
	// UpdateApp changes an app in one transaction: change gets the app as it
	// stands, locked, and returns it as it should be; its error is returned and
	// nothing is changed. ID, ClientID, Type, Status and Origin stay.
	UpdateApp(ctx context.Context, id string, change func(App) (App, error)) (App, error)
	// SetAppStatus; [ErrNotFound], [ErrDeactivated].
	SetAppStatus(ctx context.Context, id string, status AppStatus) error
	// SaveDocumentApp adds the app of a metadata document, or brings the one
	// with its client_id up to date; an app of another origin stays as it is, and
	// so does one whose document was fetched later.
	// Status, Reviewed, OrganizationID and ID of one that exists stay.
	SaveDocumentApp(ctx context.Context, app App) (App, error)
}

// SecretStore keeps client secrets.
type SecretStore interface {
	// Client returns what a client_id stands for, with its valid secrets, of which
	// there are at most [MaxClientSecrets], with one statement; [ErrNotFound].
	Client(ctx context.Context, clientID string) (Client, error)
	// AddClientSecret adds one, unless the app has limit that are valid, at most
	// [MaxClientSecrets]. Of several at once no more than fit are added.
	// [ErrNotFound] when there is no such app, [ErrTooManySecrets].
	AddClientSecret(ctx context.Context, s ClientSecret, limit int) error
	// ClientSecrets lists them, ended ones too, oldest first.
	ClientSecrets(ctx context.Context, appID string) ([]ClientSecret, error)
	// EndClientSecret ends one; [ErrNotFound] when it is not the app's or has
	// ended already, [ErrLastSecret] when it is the only valid one. Of several at
	// once one stays.
	EndClientSecret(ctx context.Context, appID, secretID string, now time.Time) error
}

// ConnectionStore keeps installations, consents and the state of users.
type ConnectionStore interface {
	// ActiveInstallation returns the one of an app in a business; [ErrNotFound].
	ActiveInstallation(ctx context.Context, appID, businessID string) (Installation, error)
	// BusinessInstallations lists the ACTIVE ones of a business, oldest first.
	BusinessInstallations(ctx context.Context, businessID string) ([]Installation, error)
	// EndInstallation ends the ACTIVE one with that status, records the events
	// and sets the timer of business.redact; [ErrNotFound].
	EndInstallation(ctx context.Context, end EndInstallation) (Installation, error)
	// SetInstallationScopes narrows or widens what was granted; [ErrNotFound].
	// record is called with what it was and what it is.
	SetInstallationScopes(ctx context.Context, appID, businessID string, scopes identity.Scopes, record func(before, after Installation) []events.Event) (Installation, error)
	// EndGrant ends a user's consent; [ErrNotFound].
	EndGrant(ctx context.Context, end EndGrant) error
	// SetUserStatus suspends or restricts a user, or lifts that.
	SetUserStatus(ctx context.Context, userID string, status UserStatus, now time.Time) error
	// UserStatus is ACTIVE for a user that nothing was said about.
	UserStatus(ctx context.Context, userID string) (UserStatus, error)
}

// EndInstallation is how an installation ends.
type EndInstallation struct {
	AppID, BusinessID string
	Status            InstallationStatus // Removed or Revoked
	Now               time.Time
	RedactAt          time.Time // when business.redact is due
	Record            func(Installation) []events.Event
	Audit             audit.Entry // recorded with it; the zero Entry: none
}

// EndGrant is how a user's consent ends.
type EndGrant struct {
	AppID, BusinessID, UserID string
	Now                       time.Time
	Audit                     audit.Entry // recorded with it; the zero Entry: none
}

// RequestStore keeps authorization requests.
type RequestStore interface {
	HoldRequest(ctx context.Context, r AuthorizationRequest) error
	// Request returns one; [ErrNotFound]. Used and expired ones are returned.
	Request(ctx context.Context, digest Digest) (AuthorizationRequest, error)
	// DenyRequest uses up an open request; [ErrNotFound] when it is not open.
	DenyRequest(ctx context.Context, d Denial) error
	// ApproveRequest uses up an open request, records consent and installation,
	// and adds the code. All of it happens, or nothing.
	ApproveRequest(ctx context.Context, a Approval, code NewCode) (Approved, error)
}

// Approval is a user's yes, in a business, to what an app asks for. The act
// judges it once more, under its locks.
type Approval struct {
	RequestID      string // the authorization request or the device code
	UserID         string
	BusinessID     string
	InstallationID string // for a new one
	GrantID        string // for a new one
	Now            time.Time
	// Check looks at the app as it stands under the lock and returns
	// ApprovalDone, or why not: status, redirect URI, scopes, review.
	Check func(App) ApprovalOutcome
	// Record returns the events of what happened.
	Record func(Approved) []events.Event
	// Audit is recorded in the same transaction, if the approval is done; the zero
	// Entry: none.
	Audit audit.Entry
}

// Denial is a user's no to what an app asks for.
type Denial struct {
	RequestID string // the authorization request or the device code
	Now       time.Time
	// Audit is recorded in the same transaction; the zero Entry: none.
	Audit audit.Entry
}

// NewCode is an authorization code about to be made.
type NewCode struct {
	ID        string
	Digest    Digest
	ExpiresAt time.Time
}

// ApprovalOutcome is how an approval ended.
type ApprovalOutcome string

// The outcomes of an approval. Only after Done has anything happened.
const (
	ApprovalDone        ApprovalOutcome = "done"
	ApprovalNotOpen     ApprovalOutcome = "not open"     // decided, expired or absent
	ApprovalAppDead     ApprovalOutcome = "app dead"     // suspended or deactivated
	ApprovalUnreviewed  ApprovalOutcome = "unreviewed"   // and the business is not its sandbox
	ApprovalUserDead    ApprovalOutcome = "user dead"    // suspended or restricted
	ApprovalBadRedirect ApprovalOutcome = "bad redirect" // no longer registered
	ApprovalBadScopes   ApprovalOutcome = "bad scopes"   // no longer registered
)

// Approved is what an approval did.
type Approved struct {
	Outcome      ApprovalOutcome
	App          App
	Installation Installation
	Installed    bool // the installation is new
	Widened      bool // it was there, and has more scopes now
	Grant        Grant
}

// Outcome is how a mint ended.
type Outcome string

// The outcomes of a mint. Only after Issued is there a token.
const (
	Issued     Outcome = "issued"
	Lost       Outcome = "lost"        // somebody else used the artifact first
	Dead       Outcome = "dead"        // something above it has ended, or no scope is left
	Revoked    Outcome = "revoked"     // the family has ended, or the business revoked access
	ClientDead Outcome = "client dead" // the app was suspended or deactivated meanwhile
	Repeated   Outcome = "repeated"    // a retry of a rotation that is allowed one
)

// NewTokens is the tokens to be made, before anybody knows whether they will be.
// Random values are made outside of the act, which may run more than once.
type NewTokens struct {
	Now            time.Time
	FamilyID       string
	AccessID       string
	AccessDigest   Digest
	AccessExpires  time.Time
	RefreshID      string
	RefreshDigest  Digest
	RefreshExpires time.Time
}

// IssueResult is how it ended and, after Issued and Repeated, with which scopes.
type IssueResult struct {
	Outcome Outcome
	Scopes  identity.Scopes
	Answer  []byte // after Repeated: what was kept
}

// Rotation is the use of a refresh token.
type Rotation struct {
	Token  RefreshToken    // as it was looked up: it is used if its family is still of its Generation
	Narrow identity.Scopes // cuts down the access token, unless empty
	// Answer is kept for Retry, when that is not zero, or until the next rotation: who
	// presents the token again within it, while its successor is unused, gets
	// the answer back with the outcome Repeated, and nothing ends.
	Answer []byte
	Retry  time.Duration
}

// CodeStore redeems authorization codes.
type CodeStore interface {
	// Code returns a code, used and expired ones too, with one statement; [ErrNotFound].
	// Of its Standing only names are set: RedeemCode checks the rest under its locks.
	Code(ctx context.Context, digest Digest) (Code, error)
	// RedeemCode marks an unused code used and makes a family with its first
	// tokens. When somebody else was first it ends what they got, and says Lost.
	// Of the code, as it was looked up, only what never changes counts.
	RedeemCode(ctx context.Context, code Code, m NewTokens) (IssueResult, error)
	// SpendCode marks an unused code used without making anything, and reports whether
	// it did: false when the code was used before. It is for a redemption that fails
	// for good. Of a redemption at the same time exactly one of the two succeeds.
	SpendCode(ctx context.Context, codeID string, now time.Time) (bool, error)
	// ReplayCode ends the family that a used code gave, if it gave one.
	ReplayCode(ctx context.Context, codeID string, now time.Time) error
}

// TokenStore keeps token families and their tokens. A presented token carries the id of
// its record, which has the token's digest.
type TokenStore interface {
	// AccessToken returns one with its standing, with one statement; [ErrNotFound].
	AccessToken(ctx context.Context, tokenID string, digest Digest) (AccessToken, error)
	// RefreshToken returns one with its standing; [ErrNotFound]. It costs one statement,
	// or two for a token whose row was purged. Such a token was used, and its ID,
	// ExpiresAt and Generation are zero.
	RefreshToken(ctx context.Context, tokenID string, digest Digest) (RefreshToken, error)
	// RotateRefresh marks an unused token used and makes its successors, which
	// also ends the access tokens before. When somebody else was first it ends
	// the family and says Lost, unless a retry is allowed.
	RotateRefresh(ctx context.Context, r Rotation, m NewTokens) (IssueResult, error)
	// EndFamily ends a family; one that has ended stays as it is.
	EndFamily(ctx context.Context, familyID string, now time.Time) error
	// RevokeAccessToken ends one token.
	RevokeAccessToken(ctx context.Context, tokenID string, now time.Time) error
}

// DeviceStore keeps device codes.
type DeviceStore interface {
	// CreateDevice adds one; [ErrTaken] when its user code is in use.
	CreateDevice(ctx context.Context, d DeviceCode, digest Digest) error
	// DeviceByDigest and DeviceByUserCode return one; [ErrNotFound].
	DeviceByDigest(ctx context.Context, digest Digest) (DeviceCode, error)
	DeviceByUserCode(ctx context.Context, userCode string) (DeviceCode, error)
	// PollDevice notes a poll of a pending code. It reports false when the last
	// one that counted was less than the interval ago.
	PollDevice(ctx context.Context, deviceID string, now time.Time, interval time.Duration) (bool, error)
	// ApproveDevice and DenyDevice decide a pending code that has not expired;
	// [ErrNotFound] (deny), ApprovalNotOpen (approve) when it is not.
	ApproveDevice(ctx context.Context, a Approval) (Approved, error)
	DenyDevice(ctx context.Context, d Denial) error
	// CollectDevice gives the tokens of an approved code, as it was looked up,
	// once.
	CollectDevice(ctx context.Context, device DeviceCode, m NewTokens) (IssueResult, error)
}

// SessionTokenStore exchanges session tokens.
type SessionTokenStore interface {
	// ExchangeSession uses up a session token and makes an access token, and a
	// family with a refresh token if the mint has one. The installation must be
	// ACTIVE, and the one named when one is named.
	ExchangeSession(ctx context.Context, x Exchange, m NewTokens) (IssueResult, error)
}

// Exchange is a session token that was verified.
type Exchange struct {
	TokenID        string // its jti: used once
	ExpiresAt      time.Time
	AppID          string
	BusinessID     string
	UserID         string
	InstallationID string // that it was issued under; empty: whatever is ACTIVE
}

// RegistrationStore keeps registration tokens.
type RegistrationStore interface {
	CreateRegistrationToken(ctx context.Context, t RegistrationToken) error
	// RegisterApp adds an app with its secrets and returns it. With a token it uses
	// the token up first and takes the organization from it; [ErrNotFound] when the
	// token is used, expired or unknown, [ErrTaken], [ErrTooManyApps]. Of several at
	// once no more than fit are added.
	RegisterApp(ctx context.Context, r Registration) (App, error)
}

// Registration is an app about to be added for its developer.
type Registration struct {
	App     App
	Secrets []ClientSecret
	Token   *Digest // names the organization; nil: App does
	Now     time.Time
	// MaxApps is how many apps the organization may have that are not deactivated; 0
	// means any number. It does not count for an app without an organization.
	MaxApps int
}

// SigningKey is a key pair that signs session tokens. It is published from its
// creation until it retires, and signs from ActiveAt until a younger one does.
type SigningKey struct {
	ID        string
	Sealed    []byte // the private key, sealed by the host's keyring
	CreatedAt time.Time
	ActiveAt  time.Time
	RetireAt  time.Time // zero while it may sign
}

// KeyStore keeps signing keys.
type KeyStore interface {
	// SigningKeys lists those that have not retired, oldest first.
	SigningKeys(ctx context.Context, now time.Time) ([]SigningKey, error)
	// AddSigningKey adds a key, and has all older ones retire at the given time.
	// after is the youngest key that the caller knew, empty for none: when
	// there is a younger one it does nothing and returns ErrNotFound, so that
	// of several nodes one rotates.
	AddSigningKey(ctx context.Context, key SigningKey, after string, retireOlder time.Time) error
	// ResealSigningKey replaces what is sealed, unless it is no longer what it was.
	ResealSigningKey(ctx context.Context, keyID string, was, sealed []byte) error
}

// JanitorStore cleans up, in small batches.
type JanitorStore interface {
	// Purge deletes at most limit rows of each kind that has expired long enough ago
	// and returns how many it deleted in all: authorization requests, registration
	// tokens and access tokens after a day; codes, device codes and used session
	// tokens after 30 days; refresh tokens after 90 days; and apps that registered
	// themselves or have a document and that were not connected within 30 days.
	//
	// Of a used refresh token whose family lives, enough is kept for TokenStore to
	// recognize it, however old it is. A family has ended when it was revoked, when its
	// consent or its installation has ended, when its app was deactivated, or when its
	// newest refresh token has expired.
	Purge(ctx context.Context, now time.Time, limit int) (int, error)
	// RecordRedactions records business.redact for at most limit installations
	// that ended and whose timer is due, unless the app was connected again, and
	// returns how many timers it settled. What the library keeps for the app in
	// the business, its app data, ends in the same transaction.
	RecordRedactions(ctx context.Context, now time.Time, limit int, record func(Installation) []events.Event) (int, error)
	// PurgeAudit deletes entries of the audit log from before a time, oldest first
	// and at most limit, and returns how many.
	PurgeAudit(ctx context.Context, before time.Time, limit int) (int, error)
}

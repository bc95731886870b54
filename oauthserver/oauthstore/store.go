// Package oauthstore is what package oauthserver asks of a store: the records of the OAuth
// protocol and the operations on them. Authors of stores implement [Store]; a host needs no
// name of it. It lies below package oauthserver, which calls it, and knows neither requests
// nor pages.
package oauthstore

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/audit"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Errors of a Store that are not internal errors; match them with errors.Is.
var (
	// ErrTaken: the client_id is in use.
	ErrTaken = errors.New("client_id is taken")
	// ErrDeactivated: a deactivated app stays deactivated.
	ErrDeactivated = errors.New("app is deactivated")
	// ErrConnectionExists: the business that an app names has approved a custom connection.
	ErrConnectionExists = errors.New("another business has approved a custom connection")
	// ErrTooManyApps: the organization has as many apps as it may have.
	ErrTooManyApps = errors.New("too many apps")
	// ErrExists: a record that is imported exists.
	ErrExists = errors.New("exists already")
	// ErrEnded: a record that is imported existed and has ended. An import does not revive it.
	ErrEnded = errors.New("has ended")
	// ErrTooManySecrets: the app has as many valid secrets as it may have.
	ErrTooManySecrets = errors.New("too many valid secrets")
)

// Store keeps the records of the server. Every method that changes something is one
// operation in one transaction: all of it happens or nothing does, and exactly one of
// several concurrent callers wins. An error that is none of the above is an internal error.
type Store interface {
	// Apps.

	// App returns one app; [partner.ErrNotFound].
	App(ctx context.Context, id string) (partner.App, error)
	// Apps lists the apps that a query asks for, by id from the last to the first.
	Apps(ctx context.Context, q partner.AppQuery) ([]partner.App, error)
	// UpdateApp changes an app in one transaction: change gets the app as it
	// stands, locked, and returns it as it should be; its error is returned and
	// nothing is changed. ID, ClientID, Type, Origin, CustomBusinessID and CreatedAt stay, and
	// Version grows by one. An app that is Reviewed and has no ReviewedAs is reviewed as it is.
	// [partner.ErrNotFound], [ErrDeactivated] when a deactivated app would get another status.
	UpdateApp(ctx context.Context, id string, change func(partner.App) (partner.App, error)) (partner.App, error)
	// SaveDocumentApp adds the app of a metadata document, or updates the app with the same
	// client_id. An app of another origin is not changed, nor is an app whose document was
	// fetched later. Status, Reviewed, ReviewedAs, OrganizationID, ID of an existing app
	// and CustomBusinessID are kept, and its Version grows by one.
	SaveDocumentApp(ctx context.Context, app partner.App) (partner.App, error)

	// Client secrets.

	// Client returns what a client_id stands for, with its valid secrets, of which
	// there are at most [partner.MaxClientSecrets], with one statement; [partner.ErrNotFound].
	Client(ctx context.Context, clientID string) (Client, error)
	// ClientSecrets lists them, ended ones too, oldest first.
	ClientSecrets(ctx context.Context, appID string) ([]partner.ClientSecret, error)
	// ChangeClientSecrets changes the secrets of an app in one transaction: change gets them
	// as they stand, ended ones too, locked, and returns them as they should be; its error
	// is returned and nothing is changed. It may be called more than once. A secret with a
	// new id is added, and of one that was there only EndedAt changes. None is deleted.
	// [partner.ErrNotFound] when there is no such app, [ErrTooManySecrets] when more than
	// [partner.MaxClientSecrets] would be valid.
	ChangeClientSecrets(ctx context.Context, appID string, change func([]partner.ClientSecret) ([]partner.ClientSecret, error)) error

	// Registration tokens.

	// CreateRegistrationToken adds one.
	CreateRegistrationToken(ctx context.Context, t RegistrationToken) error
	// RegisterApp adds an app with its secrets and returns it; [ErrTaken] when an app has its
	// id or client_id. With a token it uses the token up first and takes the organization
	// from it; [partner.ErrNotFound] when the token is used, expired or unknown. [ErrTooManyApps];
	// of several at once no more than fit are added. What UpdateApp says of reviewed apps
	// holds here too.
	RegisterApp(ctx context.Context, r Registration) (partner.App, error)

	// Authorization requests.

	// HoldRequest adds a request, unless one with its digest is there. If its session then has
	// more than MaxOpenRequests that were not decided, it deletes the oldest of them, in the
	// same transaction. A request with the zero Session does not count.
	HoldRequest(ctx context.Context, r AuthorizationRequest) error
	// Request returns one; [partner.ErrNotFound]. Used and expired ones are returned.
	Request(ctx context.Context, digest storage.Digest) (AuthorizationRequest, error)
	// DecideRequest uses up an open request with what the user decided. An approval also
	// records consent and installation, and adds the code. All of it happens, or nothing:
	// ApprovalNotOpen when the request is not open.
	DecideRequest(ctx context.Context, d Decision) (Approved, error)

	// Authorization codes.

	// Code returns a code, used and expired ones too, with one statement; [partner.ErrNotFound].
	Code(ctx context.Context, digest storage.Digest) (Code, error)
	// RedeemCode marks an unused code as used and creates a family with its first tokens.
	// After UserBarred and NoScopes the code is used too, without a family.
	// For a code that was used before, it ends the family that the code gave and returns
	// Lost. Only fields of the code that never change are read.
	RedeemCode(ctx context.Context, code Code, m NewTokens) (IssueResult, error)
	// SpendCode marks an unused code as used, without giving tokens. It reports whether it did:
	// of a redemption and SpendCode at the same time exactly one succeeds.
	SpendCode(ctx context.Context, codeID string, now time.Time) (bool, error)

	// Device codes.

	// CreateDevice adds one; [ErrTaken] when its user code is in use.
	CreateDevice(ctx context.Context, d DeviceCode, digest storage.Digest) error
	// Device returns the code that a device holds; [partner.ErrNotFound].
	Device(ctx context.Context, digest storage.Digest) (DeviceCode, error)
	// DeviceByUserCode returns the code that a person typed; [partner.ErrNotFound].
	DeviceByUserCode(ctx context.Context, userCode string) (DeviceCode, error)
	// PollDevice notes a poll of a pending code. It reports false when the last
	// one that counted was less than the interval ago.
	PollDevice(ctx context.Context, deviceID string, now time.Time, interval time.Duration) (bool, error)
	// DecideDevice decides a pending code that has not expired, as DecideRequest does
	// with a request; ApprovalNotOpen when it is not pending.
	DecideDevice(ctx context.Context, d Decision) (Approved, error)
	// CollectDevice gives the tokens of an approved code, as it was looked up,
	// once. After UserBarred and NoScopes the code is DeviceDenied.
	CollectDevice(ctx context.Context, device DeviceCode, m NewTokens) (IssueResult, error)

	// Token families and their tokens. A presented token carries the id of its record, which
	// has the token's digest.

	// AccessToken returns one with its standing, with one statement; [partner.ErrNotFound].
	AccessToken(ctx context.Context, tokenID string, digest storage.Digest) (AccessToken, error)
	// RefreshToken returns one with its standing; [partner.ErrNotFound]. It costs one statement,
	// or two for a token whose row was purged. Such a token was used, and its ID,
	// ExpiresAt and Generation are zero.
	RefreshToken(ctx context.Context, tokenID string, digest storage.Digest) (RefreshToken, error)
	// RotateRefresh marks an unused token as used and creates its successors, which also
	// ends the earlier access tokens. For a token that was used before, it ends the family
	// and returns Lost, unless a retry is allowed. A retry ends no family, whatever its
	// outcome is.
	RotateRefresh(ctx context.Context, r Rotation, m NewTokens) (IssueResult, error)
	// IssueForInstallation issues an access token of the custom connection of an app, and
	// neither a family nor a refresh token. It has the scopes of narrow, or all that were approved if narrow
	// is empty; TooWide if narrow has others. Dead if the business that the app names has
	// no ACTIVE installation with a valid approval.
	IssueForInstallation(ctx context.Context, appID string, narrow identity.Scopes, m NewTokens) (IssueResult, error)
	// EndFamily ends a token family with all its tokens. It reports whether it did: false when
	// there is no such family, or when it had ended.
	EndFamily(ctx context.Context, familyID string, now time.Time) (bool, error)
	// RevokeAccessToken revokes one access token. It reports whether it did.
	RevokeAccessToken(ctx context.Context, tokenID string, now time.Time) (bool, error)

	// Session tokens.

	// ExchangeSession uses up a session token and issues an access token, and a token family
	// with a refresh token if m has one. The installation must be ACTIVE and, if x names one,
	// must be the named one.
	ExchangeSession(ctx context.Context, x Exchange, m NewTokens) (IssueResult, error)

	// Clients that authenticate with private_key_jwt.

	// UseAssertion records an assertion and reports whether it had not been recorded
	// before. It returns true to exactly one of several concurrent callers.
	UseAssertion(ctx context.Context, a UsedAssertion) (bool, error)
	// ClientKeys returns the keys of an app that were saved last; [partner.ErrNotFound].
	ClientKeys(ctx context.Context, appID string) (ClientKeys, error)
	// SaveClientKeys replaces the keys of an app, unless the saved ones were fetched later.
	// It does nothing for an app that does not exist.
	SaveClientKeys(ctx context.Context, k ClientKeys) error

	// Installations, consents and the state of users.

	// Installations lists the ACTIVE ones that a query asks for, by id from the first to the
	// last.
	Installations(ctx context.Context, q partner.InstallationQuery) ([]partner.Installation, error)
	// NameCustomBusiness is UpdateApp for a change of CustomBusinessID, which ends the custom
	// connection that the business named before has approved, if it has: always if the app
	// names none any more. If it names another one, the error is [ErrConnectionExists] and
	// nothing is changed. With the connection ends its installation, unless the consent of a
	// user to it is valid.
	NameCustomBusiness(ctx context.Context, n NameCustomBusiness) (NamedCustomBusiness, error)
	// EndInstallation ends the ACTIVE one with that status, records the events
	// and sets the timer of business.redact; [partner.ErrNotFound].
	EndInstallation(ctx context.Context, end EndInstallation) (partner.Installation, error)
	// SetInstallationScopes narrows or widens what was granted; [partner.ErrNotFound].
	// record is called with what it was and what it is.
	SetInstallationScopes(ctx context.Context, appID, businessID string, scopes identity.Scopes, record func(before, after partner.Installation) []partner.Event) (partner.Installation, error)
	// CustomConnections returns the valid approvals of custom connections of installations.
	CustomConnections(ctx context.Context, installationIDs ...string) ([]Grant, error)
	// EndGrant ends a user's consent; [partner.ErrNotFound].
	EndGrant(ctx context.Context, end EndGrant) error
	// SetUserStatus suspends or restricts a user, or lifts that.
	SetUserStatus(ctx context.Context, userID string, status identity.UserStatus, now time.Time) error
	// UserStatus returns the status of a user; ACTIVE if none was set.
	UserStatus(ctx context.Context, userID string) (identity.UserStatus, error)
	// Grants lists the consents of users in a business to an app, or to any app if appID is
	// empty, by id from the first to the last: those that have not ended, of ACTIVE
	// installations.
	Grants(ctx context.Context, businessID, appID string) ([]Grant, error)
	// SetMembership notes in the consents of a user in a business whether the user is a member
	// there. It returns the ids of the apps of the consents in which it noted that the user has
	// left and which did not say so before: of several calls at the same time, one returns an
	// app. PUBLIC and deactivated apps are left out.
	SetMembership(ctx context.Context, m Membership) (appIDs []string, err error)
	// TakeOver makes a connection that people who left had made that of another person. It
	// ends the consents of these people and moves the token families that depend on them, but
	// for those that have ended, to the consent of the other person, which it adds or widens.
	// The tokens that these people got by token exchange end. All of it happens, or nothing.
	// Of several operations at the same time, one finds each consent. [partner.ErrNotFound] when the
	// app is not installed.
	TakeOver(ctx context.Context, t TakeOver) (ApprovalOutcome, error)
	// EraseUser does one part of erasing a user, in one transaction. The caller repeats it
	// with the Next of the part before until Next is empty.
	//
	// When the first part returns, no token of the user is valid. From then on until the
	// last part, nothing is issued to the user and no consent is recorded; an operation
	// that was under way is complete before a later part looks for its records. Afterwards
	// the user's consents and token families have ended, the user's access tokens are
	// revoked, and no record has the id: [partner.ErasedUser] replaces it in consents, families,
	// tokens, codes, device codes and audit entries, where it may also be the target. The
	// idempotency keys that the user claimed by a session and the user's status are
	// deleted.
	//
	// An erasure that stopped early can begin again at any time. Erasing a user who was
	// erased does nothing.
	EraseUser(ctx context.Context, part EraseUser) (Erased, error)
	// EraseBusiness does one part of erasing a business in which nothing is ACTIVE, in one
	// transaction. The caller repeats it with the Next of the part before until Next is empty.
	//
	// App data and idempotency keys are deleted, and [partner.ErasedBusiness] replaces the id in audit
	// entries, usage and the request log. If an installation still waits for business.redact,
	// an event is not planned, or a delivery of app.uninstalled or business.redact is queued,
	// the erasure ends there and reports how many. Otherwise events and deliveries are deleted,
	// and the ended installations lose the id. It can begin again at any time.
	EraseBusiness(ctx context.Context, part EraseBusiness) (ErasedBusinessPart, error)

	// Records of another OAuth server.

	// ImportApp adds an app with its secrets, of which some have foreign digests; [ErrTaken] if
	// its client_id is taken, also by an app that was deactivated.
	ImportApp(ctx context.Context, app partner.App, secrets []partner.ClientSecret, foreign []ForeignSecret) error
	// ImportInstallation adds an installation of an app, without an event. The error is
	// [partner.ErrNotFound] if there is no such app, or if it is deactivated, [ErrExists] if the app is
	// installed in the business, and [ErrEnded] if it was.
	ImportInstallation(ctx context.Context, clientID string, i partner.Installation) error
	// ImportConsent adds a user's consent. The error is [partner.ErrNotFound] if the app is not
	// installed in the business, [ErrExists] if the user has a consent, and [ErrEnded] if the
	// user had one.
	ImportConsent(ctx context.Context, clientID, businessID string, g Grant) error
	// ForeignSecrets lists the valid secrets of an app of which only a foreign digest is known.
	ForeignSecrets(ctx context.Context, appID string) ([]ForeignSecret, error)
	// ReplaceForeignSecret gives a secret its digest. If it has one already nothing is changed.
	ReplaceForeignSecret(ctx context.Context, appID, secretID string, digest storage.Digest) error
	// EndForeignFamily ends the family that an app started with a foreign refresh token. The
	// error is [partner.ErrNotFound] if the app has not used the token.
	EndForeignFamily(ctx context.Context, use ForeignUse, now time.Time) (ForeignFamily, error)
	// RedeemForeign uses a foreign refresh token and starts a family with m. Of several calls
	// with the token one is Issued; the others are Lost and end the family. If nothing is
	// issued for another reason, the token stays as it was.
	RedeemForeign(ctx context.Context, use ForeignUse, m NewTokens) (IssueResult, error)

	// Signing keys.

	// SigningKeys lists those that have not retired, oldest first.
	SigningKeys(ctx context.Context, now time.Time) ([]SigningKey, error)
	// AddSigningKey adds a key and retires all older keys at the given time. after is the
	// newest key known to the caller, empty for none. If the store has a newer one,
	// AddSigningKey does nothing and returns ErrNotFound, so that exactly one node rotates the
	// key.
	AddSigningKey(ctx context.Context, key SigningKey, after string, retireOlder time.Time) error
	// ResealSigningKey replaces the sealed key if it still equals was.
	ResealSigningKey(ctx context.Context, keyID string, was, sealed []byte) error

	// Periodic work, in small batches.

	// Purge deletes a batch of records of the kind [storage.PurgeOAuth] or
	// [storage.PurgeAudit], and returns how many it deleted.
	Purge(ctx context.Context, p storage.Purge) (int, error)
	// RecordRedactions records business.redact for at most limit installations
	// that ended and whose timer is due, unless the app was connected again, and
	// returns how many timers it settled. What the library keeps for the app in
	// the business, its app data, ends in the same transaction.
	RecordRedactions(ctx context.Context, now time.Time, limit int, record func(partner.Installation) []partner.Event) (int, error)
	// HastenRedactions makes the timers of a business due now.
	HastenRedactions(ctx context.Context, businessID string, now time.Time) error
}

// ForeignUse is the use of a refresh token of another server.
type ForeignUse struct {
	Digest             storage.Digest
	AppID              string
	BusinessID, UserID string
	Scopes             identity.Scopes
	Narrow             identity.Scopes // of the access token; empty: all of Scopes
}

// ForeignFamily is the token family that a foreign refresh token started.
type ForeignFamily struct {
	BusinessID, UserID string // empty when the family is no longer kept
	HadEnded           bool   // before
}

// ForeignSecret is a client secret of another server's, which knows it by a digest that is not
// ours.
type ForeignSecret struct {
	SecretID string // the ClientSecret that it will be
	Digest   string // as it was imported
}

// EraseBusiness is one part of erasing a business.
type EraseBusiness struct {
	BusinessID string
	Now        time.Time
	After      string // the Next of the part before; empty: the first part
	Limit      int    // of records that the part reads or deletes, at least 1
}

// ErasedBusinessPart is the result of one part of erasing a business.
type ErasedBusinessPart struct {
	partner.BusinessErasure
	Next string // where the next part continues; empty: there is none
}

// Membership says whether a user is a member of a business.
type Membership struct {
	BusinessID, UserID string
	HasLeft            bool
	Now                time.Time
}

// TakeOver is a person's decision to take a connection over.
type TakeOver struct {
	RequestID         string // the request that asked for the decision, which is used up; empty: none
	AppID, BusinessID string
	UserID            string   // the person who takes it over
	From              []string // the users who have left the business
	GrantID           string   // for a new consent
	Now               time.Time
	Audit             audit.Entry // recorded with it
	// Check checks the locked app, and the scopes that the moved tokens have now. It returns
	// ApprovalDone, or the reason for a rejection.
	Check func(app partner.App, scopes identity.Scopes) ApprovalOutcome
}

// EraseUser is one part of erasing a user.
type EraseUser struct {
	UserID string
	Now    time.Time
	After  string // the Next of the part before; empty: the first part
	Limit  int    // of records that the part reads, at least 1
}

// Erased is the result of one part of erasing a user.
type Erased struct {
	partner.Erasure
	Next string // where the next part continues; empty: the user is erased
}

// EndInstallation is how an installation ends.
type EndInstallation struct {
	AppID, BusinessID string
	Status            partner.InstallationStatus // Removed or Revoked
	Now               time.Time
	RedactAt          time.Time // when business.redact is due
	Record            func(partner.Installation) []partner.Event
	Audit             audit.Entry // recorded with it; the zero Entry: none
}

// NameCustomBusiness is how an app names the business for its custom connection.
type NameCustomBusiness struct {
	AppID string
	// Change is that of UpdateApp.
	Change func(partner.App) (partner.App, error)
	// End is how a custom connection ends: its Now, RedactAt and Record count, and its Audit,
	// which is recorded with the business as the target.
	End EndInstallation
}

// NamedCustomBusiness is the result of naming a business.
type NamedCustomBusiness struct {
	App         partner.App
	Uninstalled bool // with the connection ended the installation
}

// EndGrant is how a user's consent ends.
type EndGrant struct {
	AppID, BusinessID, UserID string
	Now                       time.Time
	Audit                     audit.Entry // recorded with it; the zero Entry: none
}

// MaxOpenRequests is how many open authorization requests a session may have.
const MaxOpenRequests = 100

// Decision is a user's decision about the request of an app: approved it in a business,
// or denied it. The operation checks an approval once more, under its locks.
type Decision struct {
	RequestID string // the authorization request or the device code
	Now       time.Time
	// Audit is recorded in the same transaction, if the decision is done; the zero
	// Entry: none.
	Audit audit.Entry
	// IsDenied reports that the user denied the request. The fields below are for
	// approvals.
	IsDenied bool

	UserID         string
	BusinessID     string
	InstallationID string // for a new one
	GrantID        string // for a new one
	// MaxConnections is to how many businesses the app may be connected; 0: to any number. A
	// business that is connected already may approve again. Installations with OwnSandbox do
	// not count.
	MaxConnections int
	OwnSandbox     bool    // the business is a sandbox of the app's organization
	Code           NewCode // of an authorization request
	// ForInstallation approves a custom connection instead: no user's consent is recorded and
	// no code added. UserID is the person who decided it.
	ForInstallation bool
	Permissions     []string // of the calls of a custom connection
	// Check checks the locked app and returns ApprovalDone, or the reason for a
	// rejection: status, redirect URI, scopes, review.
	Check func(partner.App) ApprovalOutcome
	// Record returns the events of what happened.
	Record func(Approved) []partner.Event
}

// NewCode is an authorization code about to be made.
type NewCode struct {
	ID        string
	Digest    storage.Digest
	ExpiresAt time.Time
}

// ApprovalOutcome is how a decision ended.
type ApprovalOutcome string

// The outcomes of a decision. Only after Done has anything happened; a denial ends with Done
// or NotOpen. The last two are outcomes of [TakeOver] only.
const (
	ApprovalDone        ApprovalOutcome = "done"
	ApprovalNotOpen     ApprovalOutcome = "not open"     // decided, expired or absent
	ApprovalAppDead     ApprovalOutcome = "app dead"     // suspended or deactivated
	ApprovalUnreviewed  ApprovalOutcome = "unreviewed"   // and the business is not its sandbox
	ApprovalUserDead    ApprovalOutcome = "user dead"    // suspended or restricted
	ApprovalFull        ApprovalOutcome = "full"         // MaxConnections is reached
	ApprovalBadRedirect ApprovalOutcome = "bad redirect" // no longer registered
	ApprovalBadScopes   ApprovalOutcome = "bad scopes"   // no longer registered
	ApprovalNotNamed    ApprovalOutcome = "not named"    // the app names another business for its custom connection
	ApprovalNobodyLeft  ApprovalOutcome = "nobody left"  // no consent of somebody who has left
	ApprovalWider       ApprovalOutcome = "wider"        // the tokens have more scopes than the person saw
)

// Approved is the result of a decision. After a denial only Outcome is set.
type Approved struct {
	Outcome      ApprovalOutcome
	App          partner.App
	Installation partner.Installation
	Installed    bool // the installation is new
	Widened      bool // it was there, and has more scopes now
	Grant        Grant
}

// Outcome is the result of issuing tokens.
type Outcome string

// The outcomes of issuing tokens. A token exists only after Issued.
const (
	Issued     Outcome = "issued"
	Lost       Outcome = "lost"        // another request used the artifact first
	Dead       Outcome = "dead"        // the installation or the consent has ended, or does not exist
	Revoked    Outcome = "revoked"     // the family has ended, or the business revoked access
	ClientDead Outcome = "client dead" // the app was suspended or deactivated meanwhile
	TooWide    Outcome = "too wide"    // the token has scopes left, but not those that the client asks for
	Repeated   Outcome = "repeated"    // a retry of a rotation that is allowed one
	Moved      Outcome = "moved"       // another person took the connection over since the token was looked up; nothing happened

	// The causes of these two may pass. They use up a code and a device code, and leave a
	// refresh token and a session token as they were.
	UserBarred Outcome = "user barred" // the user is suspended or restricted, or NewTokens.NotMember
	NoScopes   Outcome = "no scopes"   // app and installation together hold none of the scopes now
)

// NewTokens are ids and digests of tokens to issue. Random values are created before the
// operation, which may run more than once.
type NewTokens struct {
	Now time.Time
	// NotMember reports that, as the host says, the user is not a member of the business.
	// Nothing is issued then: the outcome is UserBarred, unless the artifact was used or
	// something that it depends on has ended.
	NotMember      bool
	FamilyID       string
	AccessID       string
	AccessDigest   storage.Digest
	AccessExpires  time.Time
	RefreshID      string
	RefreshDigest  storage.Digest
	RefreshExpires time.Time
}

// IssueResult is how it ended and, after Issued and Repeated, with which scopes.
type IssueResult struct {
	Outcome  Outcome
	Scopes   identity.Scopes
	Response []byte    // after Repeated: what was kept
	IssuedAt time.Time // after Repeated: the NewTokens.Now of the rotation
}

// Rotation is the use of a refresh token.
type Rotation struct {
	Token  RefreshToken    // as it was looked up: it is used if its family is still of its Generation
	Narrow identity.Scopes // cuts down the access token, unless empty
	// Response is kept for Retry, if that is not zero, or until the next rotation. A client
	// that presents the token again within that time, while its successor is unused, gets
	// the response again with the outcome Repeated, and nothing ends.
	Response []byte
	Retry    time.Duration
}

// Exchange is a session token that was verified.
type Exchange struct {
	TokenID        string // its jti: used once
	ExpiresAt      time.Time
	AppID          string
	BusinessID     string
	UserID         string
	InstallationID string // under which it was issued; empty: the ACTIVE one
}

// Registration is an app about to be added for its developer.
type Registration struct {
	App     partner.App
	Secrets []partner.ClientSecret
	Token   *storage.Digest // names the organization; nil: App does
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

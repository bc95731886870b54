package consolestore

import (
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/storage"
)

// EventQuery asks for events of some businesses: those of Types that have no app, and those of
// AppTypes that have the app AppID.
type EventQuery struct {
	BusinessIDs []string
	Types       []string
	AppID       string
	AppTypes    []string
	Since       time.Time // recorded then or later
	Before      string    // only smaller ids; empty: from the last on
	Limit       int
}

// Extension is a page of an app that the service shows with records of a type. It was
// checked when it was saved: the App URL and the scopes of the app may have changed.
type Extension struct {
	ID           string // ext_…
	AppID        string
	ResourceType string // such as invoice
	// Path leads from the App URL to the page, as a browser resolves it. A service that links to
	// the page resolves it against the App URL of oauthserver.ShownIn, which is the one that was reviewed.
	Path      string
	Label     string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Owner is what a record belongs to.
type Owner struct{ AppID, WebhookID, BusinessID string }

// Function is source code that a developer uploaded for an app. The console stores it;
// running it is up to the host.
type Function struct {
	ID        string // fnc_…
	AppID     string
	Name      string
	Source    string // accepted by the console's FunctionChecker
	CreatedAt time.Time
}

// MaxTokenLifetime is how long a console token is valid at most.
const MaxTokenLifetime = 365 * 24 * time.Hour

// ErrTooManyTokens says that an organization has as many valid console tokens as it may have.
var ErrTooManyTokens = errors.New("console: too many console tokens")

// Token is a console token: a script presents it to call the console's JSON for one
// organization, in the name of the user who created it.
type Token struct {
	ID             string // ctk_…
	Digest         storage.Digest
	OrganizationID string
	UserID         string // who created it
	Name           string
	CreatedAt      time.Time
	ExpiresAt      time.Time
	RevokedAt      time.Time // zero: it is not revoked
	LastUsedAt     time.Time // zero: never; not kept by the Store
}

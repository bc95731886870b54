package oauthserver

import (
	"time"

	"github.com/partnerkit/partnerkit/identity"
)

// InstallationStatus determines whether an app is connected to a business.
type InstallationStatus string

// The statuses of an installation. An installation that has ended never becomes ACTIVE again:
// connecting the app again creates a new installation.
const (
	InstallationActive  InstallationStatus = "ACTIVE"
	InstallationRemoved InstallationStatus = "UNINSTALLED"
	InstallationRevoked InstallationStatus = "ACCESS_REVOKED"
)

// Installation is an app in a business. A business has at most one ACTIVE installation of each
// app.
type Installation struct {
	ID         string
	AppID      string
	BusinessID string
	Status     InstallationStatus
	Scopes     identity.Scopes // granted: the union of what was approved
	CreatedAt  time.Time
	EndedAt    time.Time // zero while it is ACTIVE
}

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

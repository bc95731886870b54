package oauthserver

import (
	"time"

	"github.com/partnerkit/partnerkit/identity"
)

// InstallationStatus is whether a business has an app connected.
type InstallationStatus string

// The statuses of an installation. Only the first one is alive, and none of the
// others ever becomes it again: connecting anew is a new installation.
const (
	InstallationActive  InstallationStatus = "ACTIVE"
	InstallationRemoved InstallationStatus = "UNINSTALLED"
	InstallationRevoked InstallationStatus = "ACCESS_REVOKED"
)

// Installation is an app in a business. A business has one that is ACTIVE for
// each app at most.
type Installation struct {
	ID         string
	AppID      string
	BusinessID string
	Status     InstallationStatus
	Scopes     identity.Scopes // granted: the union of what was approved
	CreatedAt  time.Time
	EndedAt    time.Time // zero while it is ACTIVE
}

// Grant is one user's consent to one installation: what codes and token families
// hang on. A user has one that is alive for each installation at most.
type Grant struct {
	ID             string
	InstallationID string
	UserID         string
	Scopes         identity.Scopes // the union of what the user approved
	CreatedAt      time.Time
	EndedAt        time.Time // zero while it is alive
}

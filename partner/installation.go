package partner

import (
	"errors"
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

// ErrNotFound means that there is no such record, or none that the caller may act on.
var ErrNotFound = errors.New("not found")

package oauthserver

import "time"

// How long things live. The moment itself is too late: a code of ten minutes has
// expired ten minutes after its issue.
const (
	RequestLifetime           = 5 * time.Minute // from the valid GET, sign-in included
	CodeLifetime              = 10 * time.Minute
	AccessTokenLifetime       = 3600 * time.Second
	RefreshTokenLifetime      = 30 * 24 * time.Hour // from each token's own issue
	DeviceCodeLifetime        = 600 * time.Second
	DeviceInterval            = 5 * time.Second
	SessionTokenLifetime      = 60 * time.Second
	RegistrationTokenLifetime = 24 * time.Hour
	// RedactDelay is how long after an uninstall business.redact is recorded.
	RedactDelay = 48 * time.Hour
)

// MaxResource is how long the resource of an authorization request may be. The token and
// device endpoints take any length that fits into a request.
const MaxResource = 512

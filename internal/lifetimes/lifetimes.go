// Package lifetimes has the default lifetimes of the OAuth server, for the server and for stores.
package lifetimes

import "time"

// The defaults of oauthserver.Lifetimes.
const (
	Request           = 5 * time.Minute
	Code              = 10 * time.Minute
	AccessToken       = time.Hour
	RefreshToken      = 30 * 24 * time.Hour
	DeviceCode        = 10 * time.Minute
	DeviceInterval    = 5 * time.Second
	SessionToken      = time.Minute
	RegistrationToken = 24 * time.Hour
	RedactDelay       = 48 * time.Hour
)

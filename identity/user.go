package identity

import "errors"

// UserStatus determines whether a user may act.
type UserStatus string

// The statuses of a user. Restricted is a restriction of processing.
const (
	UserActive     UserStatus = "ACTIVE"
	UserSuspended  UserStatus = "SUSPENDED"
	UserRestricted UserStatus = "RESTRICTED"
)

// ErrInvalidToken means that no call may be made with the token. A token that is not unknown
// has an [InvalidTokenError], which is an ErrInvalidToken too.
var ErrInvalidToken = errors.New("invalid access token")

// InvalidTokenError says why no call may be made with a token that was issued.
type InvalidTokenError struct {
	// Reason is for the developer of the app: the error_description of the challenge
	// (RFC 6750 section 3).
	Reason string
}

// Error implements error.
func (e *InvalidTokenError) Error() string { return ErrInvalidToken.Error() + ": " + e.Reason }

// Is reports whether target is [ErrInvalidToken].
func (e *InvalidTokenError) Is(target error) bool { return target == ErrInvalidToken }

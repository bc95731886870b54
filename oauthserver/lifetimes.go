package oauthserver

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/storage"
)

// Lifetimes are the lifetimes of tokens, codes and requests. The zero value of a field
// means its default. All are whole seconds. A code with a lifetime of ten minutes has
// expired exactly ten minutes after its issue.
type Lifetimes struct {
	// Request is the time from a valid authorization request to the decision, sign-in
	// included; 0 means 5 minutes, at most one hour.
	Request time.Duration
	// Code is the lifetime of authorization codes; 0 means 10 minutes, which is the maximum.
	Code time.Duration
	// AccessToken; 0 means one hour, at most 24 hours.
	AccessToken time.Duration
	// RefreshToken is counted from the issue of each token; 0 means 30 days, at most one
	// year. Shortening it ends tokens that were issued before, at the latest 90 days after
	// the shorter lifetime.
	RefreshToken time.Duration
	// DeviceCode; 0 means 10 minutes, at most 30 minutes.
	DeviceCode time.Duration
	// DeviceInterval is how long a device waits between two polls; 0 means 5 seconds, at
	// most one minute.
	DeviceInterval time.Duration
	// SessionToken; 0 means one minute, at most 5 minutes.
	SessionToken time.Duration
	// RegistrationToken; 0 means 24 hours, at most 30 days.
	RegistrationToken time.Duration
	// RedactDelay is the time from the end of an installation to its business.redact; 0
	// means 48 hours, at most 30 days.
	RedactDelay time.Duration
}

const day = 24 * time.Hour

// WithDefaults returns the lifetimes with a default in every field that is zero.
func (l Lifetimes) WithDefaults() Lifetimes {
	return Lifetimes{
		Request: cmp.Or(l.Request, lifetimes.Request), Code: cmp.Or(l.Code, lifetimes.Code),
		AccessToken: cmp.Or(l.AccessToken, lifetimes.AccessToken), RefreshToken: cmp.Or(l.RefreshToken, lifetimes.RefreshToken),
		DeviceCode: cmp.Or(l.DeviceCode, lifetimes.DeviceCode), DeviceInterval: cmp.Or(l.DeviceInterval, lifetimes.DeviceInterval),
		SessionToken: cmp.Or(l.SessionToken, lifetimes.SessionToken), RegistrationToken: cmp.Or(l.RegistrationToken, lifetimes.RegistrationToken),
		RedactDelay: cmp.Or(l.RedactDelay, lifetimes.RedactDelay),
	}
}

// ofPurge returns the lifetimes that the store needs to find old records.
func (l Lifetimes) ofPurge() storage.PurgeLifetimes {
	return storage.PurgeLifetimes{
		Request: l.Request, Code: l.Code, DeviceCode: l.DeviceCode,
		AccessToken: l.AccessToken, RefreshToken: l.RefreshToken, RegistrationToken: l.RegistrationToken,
	}
}

// Validate returns an error that names every field that is out of its bounds, with the
// reason. It returns nil for the zero value.
func (l Lifetimes) Validate() error {
	l = l.WithDefaults()
	const guessed = "a longer one could be stolen and used"
	var errs []error
	for _, one := range []struct {
		field string
		value time.Duration
		most  time.Duration
		why   string
	}{
		{"Request", l.Request, time.Hour, "a page that stays open longer may be seen by another person"},
		{"Code", l.Code, 10 * time.Minute, guessed},
		{"AccessToken", l.AccessToken, day, guessed},
		{"RefreshToken", l.RefreshToken, 365 * day, guessed},
		{"DeviceCode", l.DeviceCode, 30 * time.Minute, "a user code is short and could be guessed"},
		{"DeviceInterval", l.DeviceInterval, time.Minute, "devices would seem to hang"},
		{"SessionToken", l.SessionToken, 5 * time.Minute, guessed},
		{"RegistrationToken", l.RegistrationToken, 30 * day, guessed},
		{"RedactDelay", l.RedactDelay, 30 * day, "data must be deleted in time"},
	} {
		switch {
		case one.value < time.Second || one.value%time.Second != 0:
			errs = append(errs, fmt.Errorf("Lifetimes.%s is %v; it must be whole seconds, at least one", one.field, one.value)) //nolint:staticcheck // the name of the field
		case one.value > one.most:
			errs = append(errs, fmt.Errorf("Lifetimes.%s is %v; it must be at most %v: %s", one.field, one.value, one.most, one.why)) //nolint:staticcheck // the name of the field
		}
	}
	if l.DeviceInterval >= l.DeviceCode {
		errs = append(errs, fmt.Errorf("Lifetimes.DeviceInterval is %v; it must be less than DeviceCode, which is %v", l.DeviceInterval, l.DeviceCode))
	}
	return errors.Join(errs...)
}

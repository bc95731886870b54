package secret

import (
	"slices"
	"strings"
)

// Kind is the kind of a secret, which is its prefix with the underscore. No kind's
// prefix begins with another's.
type Kind string

// The kinds. A prefix never changes, because partners and secret scanners know it.
const (
	AccessToken       Kind = "pk_at_"
	RefreshToken      Kind = "pk_rt_"
	AuthorizationCode Kind = "pk_ac_"
	DeviceCode        Kind = "pk_dc_"
	ClientSecret      Kind = "pk_cs_"
	RegistrationToken Kind = "pk_reg_"
	ConsoleToken      Kind = "pk_ct_"
	Session           Kind = "pk_ses_"
	ConsentRequest    Kind = "pk_req_" // names one consent page to the browser that opened it
	Browser           Kind = "pk_brw_" // tells the browser that opened a page from others
	WebhookSecret     Kind = "whsec_"
)

var kinds = []Kind{
	AccessToken, RefreshToken, AuthorizationCode, DeviceCode, ClientSecret,
	RegistrationToken, ConsoleToken, Session, ConsentRequest, Browser, WebhookSecret,
}

// IsOurs reports whether a presented text begins with the prefix of a kind. The rest may
// be malformed.
func IsOurs(presented string) bool {
	return slices.ContainsFunc(kinds, func(kind Kind) bool { return strings.HasPrefix(presented, string(kind)) })
}

// located are the kinds whose secrets carry the id of their record.
var located = []Kind{AccessToken, RefreshToken}

// KindOf tells the kind of a presented text by its prefix. It is false for a text
// that New cannot have made; true says nothing about whether the secret exists.
func KindOf(presented string) (Kind, bool) {
	for _, kind := range kinds {
		if body, ok := strings.CutPrefix(presented, string(kind)); ok && wellFormed(kind, body) {
			return kind, true
		}
	}
	return "", false
}

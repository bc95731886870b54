package clientmetadata

import (
	"encoding/json"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/partner"
)

// Registered is the metadata of an app whose registered scopes are a default.
type Registered struct {
	Details
	Scope string `json:"scope"`
}

// appMetadata is the part of [partner.App.Metadata] that decides something.
type appMetadata struct {
	Scope string `json:"scope"` // the default of a registered app
	// The keys of an app that authenticates with private_key_jwt, and of no other.
	Keys
}

// Document is the metadata of an app with a metadata document.
type Document struct {
	Keys
	Notes
}

// metadataOf decodes what the server itself has encoded. Metadata that a host wrote in another
// form decides nothing.
func metadataOf(a partner.App) appMetadata {
	var m appMetadata
	if a.Origin == partner.OriginConsole || json.Unmarshal([]byte(a.Metadata), &m) != nil {
		return appMetadata{}
	}
	return m
}

// DefaultScopes returns the scopes of a request without scopes: the scopes of the registration if
// they are a default, and otherwise all scopes of the app.
func DefaultScopes(a partner.App) identity.Scopes {
	registered, err := identity.ParseScopes(metadataOf(a).Scope)
	if within := registered.Intersect(a.Scopes); err == nil && !within.IsEmpty() {
		return within
	}
	return a.Scopes
}

// Encode returns the form in which an app keeps metadata.
func Encode(metadata any) string {
	encoded, err := json.Marshal(metadata)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(encoded)
}

// KeysOf returns the keys of an app; the zero value if it does not authenticate with
// private_key_jwt.
func KeysOf(a partner.App) Keys { return metadataOf(a).Keys }

// HasKeys reports whether the app authenticates with private_key_jwt.
func HasKeys(a partner.App) bool {
	keys := KeysOf(a)
	return len(keys.Set) > 0 || keys.URI != ""
}

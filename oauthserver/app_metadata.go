package oauthserver

import (
	"encoding/json"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/internal/clientmetadata"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// registeredMetadata is the metadata of an app whose registered scopes are a default.
type registeredMetadata struct {
	clientmetadata.Details
	Scope string `json:"scope"`
}

// appMetadata is the part of [partner.App.Metadata] that decides something.
type appMetadata struct {
	Scope string `json:"scope"` // the default of a registered app
	// The keys of an app that authenticates with private_key_jwt, and of no other.
	clientmetadata.Keys
}

// hasKeys reports whether the app authenticates with private_key_jwt.
func (m appMetadata) hasKeys() bool { return len(m.Set) > 0 || m.URI != "" }

// documentMetadata is the metadata of an app with a metadata document.
type documentMetadata struct {
	clientmetadata.Keys
	clientmetadata.Notes
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

// defaultScopes returns the scopes of a request without scopes: the scopes of the registration if
// they are a default, and otherwise all scopes of the app.
func defaultScopes(a partner.App) identity.Scopes {
	registered, err := identity.ParseScopes(metadataOf(a).Scope)
	if within := registered.Intersect(a.Scopes); err == nil && !within.IsEmpty() {
		return within
	}
	return a.Scopes
}

// encodeMetadata returns the form in which an app keeps metadata.
func encodeMetadata(metadata any) string {
	encoded, err := json.Marshal(metadata)
	if err != nil {
		panic(err) // strings always encode
	}
	return string(encoded)
}

// HasKeys reports whether the app authenticates with private_key_jwt. It has no client
// secret then.
func HasKeys(a partner.App) bool { return metadataOf(a).hasKeys() }

// clientOf returns the app as one that has no secrets.
func clientOf(a partner.App) oauthstore.Client {
	return oauthstore.Client{
		ID: a.ID, ClientID: a.ClientID, Type: a.Type, Status: a.Status, Origin: a.Origin,
		DocumentFetchedAt: a.DocumentFetchedAt, DocumentFreshUntil: a.DocumentFreshUntil,
	}
}

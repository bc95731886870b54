package oauthserver

import (
	"github.com/partnerkit/partnerkit/oauthserver/internal/uri"
	"github.com/partnerkit/partnerkit/partner"
)

// LoopbackPorts selects the apps for which the port of a loopback redirect URI may
// differ from the registered one (RFC 8252 section 7.3).
type LoopbackPorts string

// The selections. The zero value selects the apps with a metadata document, which publish
// loopback URIs without a port, since they cannot know the port.
const (
	LoopbackPortsOff LoopbackPorts = "off"
	LoopbackPortsAll LoopbackPorts = "all"
)

func (p LoopbackPorts) isKnown() bool {
	return p == "" || p == LoopbackPortsOff || p == LoopbackPortsAll
}

// allow reports whether the port of a loopback redirect URI of the app may differ.
func (p LoopbackPorts) allow(app partner.App) bool {
	return p == LoopbackPortsAll || p == "" && app.Origin == partner.OriginDocument
}

// RedirectRules are the rules for redirect URIs that depend on how an app is registered.
type RedirectRules struct {
	AllowQuery         bool
	AllowPrivateScheme bool // com.example.app:/… (RFC 8252 section 7.1)
}

// Problem returns what is wrong with a redirect URI, such as "is not https"; empty if it may be
// registered.
func (rules RedirectRules) Problem(raw string) string {
	return uri.Rules{AllowQuery: rules.AllowQuery, AllowPrivateScheme: rules.AllowPrivateScheme}.Problem(raw)
}

// WebOrigin returns the origin of an http or https URL as a browser writes it: in lower
// case and without the default port. It reports false for any other URL, and for one with
// user info, an invalid port or a host of other than host characters: an origin that it
// returns can be put into a header.
func WebOrigin(raw string) (origin string, ok bool) { return uri.WebOrigin(raw) }

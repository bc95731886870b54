package oauthserver

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/internal/core"
)

// Resource is a part of the API host that has protected resource metadata (RFC 9728) of its
// own, such as an MCP endpoint.
type Resource struct {
	// Path on the API host, such as /mcp, without a slash at its end. Everything below it
	// belongs to the resource. Its metadata is at
	// /.well-known/oauth-protected-resource/mcp.
	Path string
	// Name of the resource, which clients can show; empty: none.
	Name string
	// Scopes that the metadata names. Clients request them when no challenge names others.
	// Empty: every scope that apps may request.
	Scopes []string
}

// resourcePath matches paths that are spelled the same in every URL.
var resourcePath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)+$`)

func checkResources(all []Resource, catalog identity.ScopeCatalog) error {
	requestable := catalog.Requestable()
	var wrong []error
	for i, r := range all {
		for _, scope := range r.Scopes {
			if !requestable.Has(scope) {
				wrong = append(wrong, fmt.Errorf("%s: apps may not request the scope %q", r.Path, scope))
			}
		}
		switch {
		case !resourcePath.MatchString(r.Path), path.Clean(r.Path) != r.Path:
			wrong = append(wrong, fmt.Errorf("%q is not a path such as /mcp, of letters, digits and . _ ~ - between slashes", r.Path))
		case isPartOf(r.Path, "/oauth"), isPartOf(r.Path, "/.well-known"):
			wrong = append(wrong, fmt.Errorf("%s belongs to the OAuth server", r.Path))
		case slices.ContainsFunc(all[:i], func(other Resource) bool { return other.Path == r.Path }):
			wrong = append(wrong, fmt.Errorf("%s is declared twice", r.Path))
		}
	}
	return errors.Join(wrong...)
}

// isPartOf reports whether a path is that of a resource, or below it.
func isPartOf(called, resource string) bool {
	return called == resource || strings.HasPrefix(called, resource+"/")
}

// ResourceMetadataURL returns the URL of the metadata of the resource that a path of the API
// host belongs to: the longest of [Config.Resources], or the API host as a whole. A path that
// is a resource's with a slash at its end has metadata with that slash, since clients compare
// the metadata's resource with the URL that they called.
func (s *Server) ResourceMetadataURL(called string) string {
	var found string
	for _, r := range s.cfg.Resources {
		if isPartOf(called, r.Path) && len(r.Path) > len(found) {
			found = r.Path
		}
	}
	if found != "" && called == found+"/" {
		found = called
	}
	return s.core.APIOrigin + core.ResourceMetadataPath + found
}

package guard

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// DeprecationNotice is how long before its sunset a version is announced as deprecated.
const DeprecationNotice = 90 * 24 * time.Hour

// Versions are the versions of the API. The zero value means that the API has no versions.
type Versions struct {
	// Current serves apps that ask for no version and have none pinned.
	Current string
	// All are the versions that exist, the current one among them, in any order.
	All []Version
}

// OfApp returns the version of what an app gets without asking for one, such as the
// bodies of its webhooks: the one that it has pinned, or the current one.
func (v Versions) OfApp(pinned string) string {
	if pinned != "" {
		return pinned
	}
	return v.Current
}

// Serves reports whether calls can be made in a version at a time: it exists, and is
// not past its sunset.
func (v Versions) Serves(name string, at time.Time) bool {
	return slices.ContainsFunc(v.All, func(one Version) bool { return one.Name == name && one.isServed(at) })
}

// Version of the API.
type Version struct {
	// Name is a date, such as 2026-09-01.
	Name string
	// Sunset is the time from which the version is no longer served; zero: not decided. For
	// [DeprecationNotice] before it, responses carry the headers Deprecation
	// (RFC 9745) and Sunset (RFC 8594).
	Sunset time.Time
}

func (v Version) isServed(now time.Time) bool { return v.Sunset.IsZero() || now.Before(v.Sunset) }

// writeHeader says when the version goes, if that is near.
func (v Version) writeHeader(h http.Header, now time.Time) {
	deprecated := v.Sunset.Add(-DeprecationNotice)
	if v.Sunset.IsZero() || now.Before(deprecated) {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(deprecated.Unix(), 10))
	h.Set("Sunset", v.Sunset.UTC().Format(http.TimeFormat))
}

func (v Versions) index() (map[string]Version, error) {
	known := make(map[string]Version, len(v.All))
	for _, version := range v.All {
		if _, err := time.Parse(time.DateOnly, version.Name); err != nil {
			return nil, fmt.Errorf("guard: version %q is not a date such as 2026-09-01", version.Name)
		}
		if _, twice := known[version.Name]; twice {
			return nil, fmt.Errorf("guard: version %s is listed twice", version.Name)
		}
		known[version.Name] = version
	}
	if _, ok := known[v.Current]; !ok && (v.Current != "" || len(known) > 0) {
		return nil, fmt.Errorf("guard: the current version %q is not among all of them", v.Current)
	}
	return known, nil
}

// resolveVersion decides in which version the call is served: the one that the
// header asks for, else the app's pin, else the current one.
func (s *Surface) resolveVersion(c *call, r *http.Request) error {
	name := s.cfg.Versions.OfApp(c.principal.Version)
	// Two values are never a valid version, even if they are equal.
	if asked := r.Header[s.versionHeader]; len(asked) > 1 || len(asked) == 1 && asked[0] != "" {
		name = strings.Join(asked, ", ")
	}
	if name == "" {
		return nil // an API without versions
	}
	version, ok := s.versions[name]
	if !ok || !version.isServed(c.now) {
		return codes.UnsupportedAPIVersion.New(name)
	}
	c.principal.Version = name
	c.version, c.versions, c.versionHeader = version, s.versions, s.versionHeader
	return nil
}

// Since returns the value of the newest version that is not after the given one, from values
// by the version that introduced them. It reports false if there is none.
func Since[T any](version string, introduced map[string]T) (picked T, ok bool) {
	newest := ""
	for name, choice := range introduced {
		if name <= version && name >= newest { // dates sort as text
			newest, picked, ok = name, choice, true
		}
	}
	return picked, ok
}

// ByVersion makes a handler of several, each from the version on that it was
// introduced with. In versions before the first of them there is nothing: 404.
func ByVersion(introduced map[string]apierror.Handler) apierror.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		principal, _ := identity.PrincipalFrom(r.Context())
		handler, ok := Since(principal.Version, introduced)
		if !ok {
			return apierror.NotFound("")
		}
		return handler(w, r)
	}
}

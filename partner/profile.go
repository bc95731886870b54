package partner

import (
	"slices"

	"github.com/partnerkit/partnerkit/identity"
)

// Profile is what people see of an app and where it sends them. A review covers it.
type Profile struct {
	Name         string
	RedirectURIs []string
	Scopes       identity.Scopes
	AppURL       string
}

// IsEmpty reports whether the profile says nothing.
func (p Profile) IsEmpty() bool {
	return p.Name == "" && len(p.RedirectURIs) == 0 && p.Scopes.IsEmpty() && p.AppURL == ""
}

// Profile returns the profile of the app as it is now.
func (a App) Profile() Profile {
	return Profile{Name: a.Name, RedirectURIs: slices.Clone(a.RedirectURIs), Scopes: a.Scopes, AppURL: a.AppURL}
}

// Unreviewed returns what no review covers yet: all of an app that has not completed review,
// and of another one the name and App URL if they changed, and the added redirect URIs and
// scopes. What was removed needs no review.
func (a App) Unreviewed() Profile {
	if !a.Reviewed {
		return a.Profile()
	}
	p := Profile{Scopes: a.Scopes.Minus(a.ReviewedAs.Scopes)}
	if a.Name != a.ReviewedAs.Name {
		p.Name = a.Name
	}
	for _, uri := range a.RedirectURIs {
		if !slices.Contains(a.ReviewedAs.RedirectURIs, uri) {
			p.RedirectURIs = append(p.RedirectURIs, uri)
		}
	}
	if a.AppURL != a.ReviewedAs.AppURL {
		p.AppURL = a.AppURL
	}
	return p
}

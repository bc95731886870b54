package pages

import (
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/locale"
)

// manyBusinesses is from how many on there is a field to find one.
const manyBusinesses = 7

// findField is the parameter with the text that the shown businesses contain.
const findField = "find"

// consentPage is a consent with a search among many businesses.
type consentPage struct {
	ConsentView
	IsLong bool   // there are many businesses
	Find   string // the text that their names contain
	Path   string // of the page, and its other parameters
	Query  []HiddenField
	isNew  map[string]bool // scopes; nil unless there is one business, which has connected the app
}

// IsNew reports whether a scope is marked as new. With several businesses each says what is new
// there.
func (p consentPage) IsNew(scope string) bool { return p.isNew[scope] }

// newConsentPage keeps the businesses that the person looks for. The search repeats the
// request, so it works without script.
func newConsentPage(r *http.Request, view ConsentView) consentPage {
	p := consentPage{ConsentView: view}
	if len(view.Businesses) == 1 && view.Businesses[0].IsConnected {
		p.isNew = map[string]bool{}
		for _, scope := range view.Businesses[0].New {
			p.isNew[scope.Name] = true
		}
	}
	if r.Method != http.MethodGet || view.FixedTo != "" || len(view.Businesses) < manyBusinesses {
		return p
	}
	query := r.URL.Query()
	p.IsLong, p.Find, p.Path = true, strings.TrimSpace(query.Get(findField)), r.URL.Path
	for name, values := range query {
		for _, value := range values {
			if name != findField {
				p.Query = append(p.Query, HiddenField{Name: name, Value: value})
			}
		}
	}
	slices.SortStableFunc(p.Query, func(a, b HiddenField) int { return strings.Compare(a.Name, b.Name) })
	if p.Find != "" {
		p.Businesses = slices.DeleteFunc(slices.Clone(view.Businesses), func(b BusinessView) bool {
			return !strings.Contains(strings.ToLower(b.Name), strings.ToLower(p.Find)) && b.ID != p.Find
		})
	}
	return p
}

// refused are businesses that cannot be chosen for the same reason.
type refused struct {
	Names  string
	Reason ErrorCode
}

// byReason says each reason once.
func byReason(missing []MissingBusiness) []refused {
	var all []refused
	for _, one := range missing {
		i := slices.IndexFunc(all, func(r refused) bool { return r.Reason == one.Reason })
		if i < 0 {
			all = append(all, refused{one.Name, one.Reason})
			continue
		}
		all[i].Names += ", " + one.Name
	}
	return all
}

// power is the class of what a scope lets an app do beyond reading: write or delete; empty:
// nothing, as far as its name says.
func power(scope string) string {
	_, verb, _ := strings.Cut(scope, ":")
	if verb == "write" || verb == "delete" {
		return verb
	}
	return ""
}

// held says what is new in a business that has connected the app already; empty: it has not.
func held(l locale.Language, b BusinessView) string {
	if !b.IsConnected {
		return ""
	}
	if len(b.New) == 0 {
		return l.Text("consent.connected")
	}
	all := make([]string, 0, len(b.New))
	for _, one := range b.New {
		all = append(all, one.Description)
	}
	return l.Text("consent.connected_new", "scopes", strings.Join(all, ", "))
}

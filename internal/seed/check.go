package seed

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// problems collects what is wrong with fixtures.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// Check returns an error with everything that is wrong with the fixtures, by the path of the
// member, for a platform with these scopes and events.
func (d Data) Check(scopes identity.ScopeCatalog, catalog events.Catalog) error {
	var wrong problems
	users, emails := make(map[string]bool), make(map[string]bool)
	for i, u := range d.Users {
		at := fmt.Sprintf("users[%d]", i)
		wrong.checkID(at+".id", u.ID, users)
		email := strings.ToLower(strings.TrimSpace(u.Email))
		switch {
		case !strings.Contains(email, "@"):
			wrong.add("%s.email %q is not an address", at, u.Email)
		case emails[email]:
			wrong.add("%s.email %q is another user's", at, u.Email)
		}
		emails[email] = true
	}
	organizations := make(map[string]bool)
	for i, o := range d.Organizations {
		at := fmt.Sprintf("organizations[%d]", i)
		wrong.checkID(at+".id", o.ID, organizations)
		seen := make(map[string]bool)
		for j, id := range o.Members {
			wrong.checkMember(fmt.Sprintf("%s.members[%d]", at, j), id, users, seen)
		}
	}
	businesses := make(map[string]bool)
	for i, b := range d.Businesses {
		at := fmt.Sprintf("businesses[%d]", i)
		wrong.checkID(at+".id", b.ID, businesses)
		wrong.checkBusiness(at, b, organizations, users)
	}
	apps, clients := make(map[string]bool), make(map[string]bool)
	for i, a := range d.Apps {
		at := fmt.Sprintf("apps[%d]", i)
		wrong.checkID(at+".id", a.ID, apps)
		wrong.checkID(at+".clientId", a.ClientID, clients)
		wrong.checkApp(at, a, organizations, scopes, catalog)
	}
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	return nil
}

// checkID takes ids as they are, as long as they can stand in a URL and a form.
func (p *problems) checkID(at, id string, seen map[string]bool) {
	switch {
	case id == "":
		p.add("%s is missing", at)
	case len(id) > 256 || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		p.add("%s %q is not an id of 1 to 256 visible ASCII characters", at, id)
	case seen[id]:
		p.add("%s %q comes twice", at, id)
	}
	seen[id] = true
}

func (p *problems) checkMember(at, userID string, users, seen map[string]bool) {
	switch {
	case !users[userID]:
		p.add("%s %q is no user", at, userID)
	case seen[userID]:
		p.add("%s %q comes twice", at, userID)
	}
	seen[userID] = true
}

func (p *problems) checkBusiness(at string, b Business, organizations, users map[string]bool) {
	if b.OrganizationID != "" && !organizations[string(b.OrganizationID)] {
		p.add("%s.organizationId %q is no organization", at, b.OrganizationID)
	}
	if b.Sandbox != nil && *b.Sandbox && b.OrganizationID == "" {
		p.add("%s.sandbox needs organizationId, which says whose sandbox it is", at)
	}
	if b.Plan != "" && b.Plan != "FREE" && b.Plan != "PAID" {
		p.add("%s.plan %q is neither FREE nor PAID", at, b.Plan)
	}
	if b.InvoiceLimit != nil && *b.InvoiceLimit < 0 || b.TurnoverLimit != nil && *b.TurnoverLimit < 0 {
		p.add("%s has a limit below 0", at)
	}
	seen := make(map[string]bool)
	for j, m := range b.Members {
		at := fmt.Sprintf("%s.members[%d]", at, j)
		p.checkMember(at+".userId", m.UserID, users, seen)
		if !slices.Contains(roles, m.Role) {
			p.add("%s.role %q is none of %s", at, m.Role, strings.Join(roles, ", "))
		}
	}
}

func (p *problems) checkApp(at string, a App, organizations map[string]bool, scopes identity.ScopeCatalog, catalog events.Catalog) {
	kind := partner.ClientType(a.Type)
	switch {
	case kind != partner.Confidential && kind != partner.Public:
		p.add("%s.type %q is neither CONFIDENTIAL nor PUBLIC", at, a.Type)
	case kind == partner.Public && a.ClientSecret != "":
		p.add("%s.clientSecret: a PUBLIC app has none", at)
	}
	if problem := oauthserver.AppNameProblem(a.Name); problem != "" {
		p.add("%s.name %v", at, problem)
	}
	if !organizations[a.OrganizationID] {
		p.add("%s.organizationId %q is no organization", at, a.OrganizationID)
	}
	rules := oauthserver.RedirectRules{AllowQuery: true, AllowPrivateScheme: kind == partner.Public}
	for i, uri := range a.RedirectURIs {
		if problem := rules.Problem(uri); problem != "" {
			p.add("%s.redirectUris[%d] %v", at, i, problem)
		}
	}
	if err := scopes.CheckRequestable(a.Scopes.Scopes); err != nil {
		p.add("%s.scopes: %v", at, err)
	}
	if a.AppURL != "" {
		if problem := (oauthserver.RedirectRules{AllowQuery: true}).Problem(string(a.AppURL)); problem != "" {
			p.add("%s.appUrl %v", at, problem)
		}
	}
	seen := make(map[string]bool)
	for i, w := range a.Webhooks {
		p.checkWebhook(fmt.Sprintf("%s.webhooks[%d]", at, i), w, seen, catalog)
	}
	fields := make(map[string]bool)
	for i, field := range a.AppDataFields {
		p.checkField(fmt.Sprintf("%s.appDataFields[%d]", at, i), field, fields)
	}
}

func (p *problems) checkWebhook(at string, w Webhook, seen map[string]bool, catalog events.Catalog) {
	p.checkID(at+".id", w.ID, seen)
	if u, err := url.Parse(w.URL); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		p.add("%s.url %q is not a URL of https", at, w.URL)
	}
	for i, name := range w.Events {
		if _, ok := catalog.Lookup(name); !ok {
			p.add("%s.events[%d] %q is not in the catalog", at, i, name)
		}
	}
	if w.Secret != "" && !strings.HasPrefix(string(w.Secret), "whsec_") {
		p.add("%s.secret must begin with whsec_", at)
	}
}

var (
	roles         = []string{"owner", "admin", "member"}
	resourceTypes = slices.Sorted(maps.Keys(appdata.DefaultTypes()))
	fieldTypes    = []string{"TEXT", "NUMBER", "BOOLEAN", "DATE", "URL", "CHOICE"}
)

func (p *problems) checkField(at string, f Field, seen map[string]bool) {
	if !slices.Contains(resourceTypes, f.ResourceType) {
		p.add("%s.resourceType %q is none of %s", at, f.ResourceType, strings.Join(resourceTypes, ", "))
	}
	p.checkID(at+".key", f.Key, map[string]bool{})
	if !slices.Contains(fieldTypes, f.Type) {
		p.add("%s.type %q is none of %s", at, f.Type, strings.Join(fieldTypes, ", "))
	}
	if f.Type == "CHOICE" && (len(f.Choices) < 1 || len(f.Choices) > 50) {
		p.add("%s.choices must have 1 to 50 texts", at)
	}
	if place := f.ResourceType + "\x00" + f.Key; seen[place] {
		p.add("%s: %s is declared twice for %s", at, f.Key, f.ResourceType)
	} else {
		seen[place] = true
	}
}

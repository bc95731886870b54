package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// problems collects what is wrong with fixtures.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

// check says everything that is wrong with the fixtures, by the path of the
// member. Nothing is loaded of fixtures with a mistake.
func (d Data) check() error {
	var wrong problems
	users, emails := make(map[string]bool), make(map[string]bool)
	for i, u := range d.Users {
		at := fmt.Sprintf("users[%d]", i)
		wrong.checkID(at+".id", u.ID, users)
		email := NormalEmail(u.Email)
		switch {
		case !strings.Contains(email, "@"):
			wrong.add("%s.email %q is not an address", at, u.Email)
		case emails[email]:
			wrong.add("%s.email %q is another user's", at, u.Email)
		}
		emails[email] = true
		if u.Password == "" || len(u.Password) > MaxPassword {
			wrong.add("%s.password must have 1 to %d bytes", at, MaxPassword)
		}
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
		wrong.checkApp(at, a, organizations)
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

func (p *problems) checkBusiness(at string, b fixtureBusiness, organizations, users map[string]bool) {
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
		if m.Role != RoleOwner && m.Role != RoleAdmin && m.Role != RoleMember {
			p.add("%s.role %q is none of owner, admin, member", at, m.Role)
		}
		for _, permission := range m.Permissions {
			if !slices.Contains(Permissions(), permission) {
				p.add("%s.permissions: %q is none of %s", at, permission, strings.Join(Permissions(), ", "))
			}
		}
	}
}

func (p *problems) checkApp(at string, a fixtureApp, organizations map[string]bool) {
	kind := oauthserver.ClientType(a.Type)
	switch {
	case kind != oauthserver.Confidential && kind != oauthserver.Public:
		p.add("%s.type %q is neither CONFIDENTIAL nor PUBLIC", at, a.Type)
	case kind == oauthserver.Public && a.ClientSecret != "":
		p.add("%s.clientSecret: a PUBLIC app has none", at)
	}
	if err := oauthserver.CheckAppName(a.Name); err != nil {
		p.add("%s.name %v", at, err)
	}
	if !organizations[a.OrganizationID] {
		p.add("%s.organizationId %q is no organization", at, a.OrganizationID)
	}
	rules := oauthserver.RedirectRules{AllowQuery: true, AllowPrivateScheme: kind == oauthserver.Public}
	for i, uri := range a.RedirectURIs {
		if err := rules.Check(uri); err != nil {
			p.add("%s.redirectUris[%d] %v", at, i, err)
		}
	}
	if err := identity.DefaultScopes().CheckRequestable(a.Scopes.Scopes); err != nil {
		p.add("%s.scopes: %v", at, err)
	}
	if a.AppURL != "" {
		if err := CheckAppURL(string(a.AppURL)); err != nil {
			p.add("%s.appUrl %v", at, err)
		}
	}
	seen := make(map[string]bool)
	for i, w := range a.Webhooks {
		p.checkWebhook(fmt.Sprintf("%s.webhooks[%d]", at, i), w, seen)
	}
	fields := make(map[string]bool)
	for i, field := range a.AppDataFields {
		p.checkField(fmt.Sprintf("%s.appDataFields[%d]", at, i), field, fields)
	}
}

func (p *problems) checkWebhook(at string, w fixtureWebhook, seen map[string]bool) {
	p.checkID(at+".id", w.ID, seen)
	if u, err := url.Parse(w.URL); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		p.add("%s.url %q is not a URL of https", at, w.URL)
	}
	for i, name := range w.Events {
		if _, ok := events.DefaultCatalog().Lookup(name); !ok {
			p.add("%s.events[%d] %q is not in the catalog", at, i, name)
		}
	}
	if w.Secret != "" && !strings.HasPrefix(string(w.Secret), "whsec_") {
		p.add("%s.secret must begin with whsec_", at)
	}
}

var (
	resourceTypes = []string{"invoice", "customer", "payment", "account", "journal_entry", "supplier"}
	fieldTypes    = []string{"TEXT", "NUMBER", "BOOLEAN", "DATE", "URL", "CHOICE"}
)

func (p *problems) checkField(at string, f fixtureField, seen map[string]bool) {
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

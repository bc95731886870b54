// Package seed is the data of an empty database, as a file of fixtures has it: users,
// organizations and businesses of a host, and apps for partnerkit.
package seed

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// maxFixtures is how large a file of fixtures may be.
const maxFixtures = 64 << 20

// Data is the content of a file.
type Data struct {
	Organizations []Organization `json:"organizations"`
	Users         []User         `json:"users"`
	Businesses    []Business     `json:"businesses"`
	Apps          []App          `json:"apps"`

	Origin string `json:"-"` // the name of the file, or DemoOrigin
}

// DemoOrigin is the origin of the fixtures that a program has itself. Their secrets are
// public.
const DemoOrigin = "demo"

// Organization is a partner that makes apps.
type Organization struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []string `json:"members"`
}

// User is a person who can sign in.
type User struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Password string `json:"password"`
	Name     string `json:"name"`
	Operator bool   `json:"operator"` // one of the platform's own staff
}

// Business is a customer of the accounting service.
type Business struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	OrganizationID Optional `json:"organizationId"`
	Sandbox        *bool    `json:"sandbox"`
	Plan           Optional `json:"plan"`
	InvoiceLimit   *int64   `json:"invoiceLimit"`
	TurnoverLimit  *int64   `json:"turnoverLimit"`
	Currency       Optional `json:"currency"`
	Members        []Member `json:"members"`
}

// Member is a user in a business.
type Member struct {
	UserID      string   `json:"userId"`
	Role        string   `json:"role"`
	Permissions []string `json:"permissions"` // nil: what the role gives
}

// App is an app of an organization.
type App struct {
	ID             string    `json:"id"`
	ClientID       string    `json:"clientId"`
	ClientSecret   Optional  `json:"clientSecret"`
	Type           string    `json:"type"`
	Name           string    `json:"name"`
	OrganizationID string    `json:"organizationId"`
	Reviewed       bool      `json:"reviewed"`
	RedirectURIs   []string  `json:"redirectUris"`
	Scopes         ScopeList `json:"scopes"`
	PinnedVersion  Optional  `json:"pinnedVersion"`
	AppURL         Optional  `json:"appUrl"`

	Webhooks      []Webhook `json:"webhooks"`
	AppDataFields []Field   `json:"appDataFields"`
}

// Webhook is an endpoint of an app.
type Webhook struct {
	ID      string   `json:"id"`
	URL     string   `json:"url"`
	Events  []string `json:"events"`
	Secret  Optional `json:"secret"`
	Enabled *bool    `json:"enabled"`
}

// Field is a declaration of app data.
type Field struct {
	ResourceType string       `json:"resourceType"`
	Key          string       `json:"key"`
	Type         string       `json:"type"`
	Label        Optional     `json:"label"`
	MinLength    *int         `json:"minLength"`
	MaxLength    *int         `json:"maxLength"`
	Min          *json.Number `json:"min"`
	Max          *json.Number `json:"max"`
	Decimals     *int         `json:"decimals"`
	From         Optional     `json:"from"`
	To           Optional     `json:"to"`
	Choices      []string     `json:"choices"`
}

// Optional is a text that may be null, which means the same as its absence.
type Optional string

// pointer returns nil for an absent text.
func (o Optional) pointer() *string {
	if o == "" {
		return nil
	}
	return new(string(o))
}

// UnmarshalJSON reads a text or null.
func (o *Optional) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*o = ""
	if text != nil {
		*o = Optional(*text)
	}
	return nil
}

// ScopeList is a list of scopes, or one text with spaces between them.
type ScopeList struct{ identity.Scopes }

// UnmarshalJSON reads either form.
func (l *ScopeList) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte(`"`)) {
		return l.Scopes.UnmarshalJSON(data)
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	scopes, err := identity.NewScopes(strings.Fields(text)...)
	l.Scopes = scopes
	return err
}

// IsDemo reports whether the data is that of the program itself.
func (d Data) IsDemo() bool { return d.Origin == DemoOrigin }

// Parse reads the text of a file; origin is its name. [Data.Check] reports what is wrong
// with the content.
func Parse(text []byte, origin string) (Data, error) {
	d := Data{Origin: origin}
	// The strict reader of request bodies rejects unknown and repeated members, and
	// its error names their position.
	if err := strictjson.Unmarshal(text, &d, strictjson.Limits{MaxBytes: maxFixtures, MaxEntries: maxFixtures}); err != nil {
		if e, ok := errors.AsType[*apierror.Error](err); ok {
			return d, errors.New(strings.Join(e.Messages(), "; "))
		}
		return d, err
	}
	return d, nil
}

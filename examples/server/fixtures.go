package main

import (
	"bytes"
	_ "embed" // for the demo
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
)

// maxFixtures is how large a file of fixtures may be.
const maxFixtures = 64 << 20

//go:embed demo.json
var demo []byte

// Data is the content of a file.
type Data struct {
	Organizations []fixtureOrganization `json:"organizations"`
	Users         []fixtureUser         `json:"users"`
	Businesses    []fixtureBusiness     `json:"businesses"`
	Apps          []fixtureApp          `json:"apps"`

	origin string // the name of the file, or DemoOrigin
}

// DemoOrigin is the origin of [Demo], which Books.Origin returns once it is loaded.
const DemoOrigin = "demo"

// Organization is a partner that makes apps.
type fixtureOrganization struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []string `json:"members"`
}

// User is somebody who can sign in.
type fixtureUser struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Password string `json:"password"`
	Name     string `json:"name"`
}

// Business is a customer of the accounting service.
type fixtureBusiness struct {
	ID             string          `json:"id"`
	Name           string          `json:"name"`
	OrganizationID Optional        `json:"organizationId"`
	Sandbox        *bool           `json:"sandbox"`
	Plan           Optional        `json:"plan"`
	InvoiceLimit   *int64          `json:"invoiceLimit"`
	TurnoverLimit  *int64          `json:"turnoverLimit"`
	Currency       Optional        `json:"currency"`
	Members        []fixtureMember `json:"members"`
}

// Member is a user in a business.
type fixtureMember struct {
	UserID      string   `json:"userId"`
	Role        Role     `json:"role"`
	Permissions []string `json:"permissions"` // nil: what the role gives
}

// App is an app of an organization.
type fixtureApp struct {
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

	Webhooks      []fixtureWebhook `json:"webhooks"`
	AppDataFields []fixtureField   `json:"appDataFields"`
}

// Webhook is an endpoint of an app.
type fixtureWebhook struct {
	ID      string   `json:"id"`
	URL     string   `json:"url"`
	Events  []string `json:"events"`
	Secret  Optional `json:"secret"`
	Enabled *bool    `json:"enabled"`
}

// Field is a declaration of app data.
type fixtureField struct {
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

// pointer is nil for an absent text.
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

// Demo returns the embedded demo.
func Demo() (Data, error) { return Parse(demo, DemoOrigin) }

// IsDemo reports whether the data is that of [Demo].
func (d Data) IsDemo() bool { return d.origin == DemoOrigin }

// Parse reads the text of a file; origin is its name. The error lists everything that is
// wrong, by the path of the member.
func Parse(text []byte, origin string) (Data, error) {
	d := Data{origin: origin}
	// The strict reader of request bodies rejects unknown and repeated members, and
	// says where they are.
	body := &http.Request{Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text))}
	if err := apierror.DecodeJSON(body, &d, apierror.JSONLimits{MaxBytes: maxFixtures, MaxEntries: maxFixtures}); err != nil {
		if e, ok := errors.AsType[*apierror.Error](err); ok {
			return d, errors.New(strings.Join(e.Messages(), "; "))
		}
		return d, err
	}
	return d, d.check()
}

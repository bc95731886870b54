package main

import (
	"bytes"
	_ "embed" // for the demo
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/identity"
)

// maxFixtures is how large a file of fixtures may be.
const maxFixtures = 64 << 20

//go:embed demo.json
var demo []byte

// fixtures are the data of an empty database.
type fixtures struct {
	Organizations []fixtureOrganization `json:"organizations"`
	Users         []fixtureUser         `json:"users"`
	Businesses    []fixtureBusiness     `json:"businesses"`
	Apps          []fixtureApp          `json:"apps"`

	origin string // the file, or demoOrigin
}

// demoOrigin is the origin of the embedded demo.
const demoOrigin = "demo"

type fixtureOrganization struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []string `json:"members"`
}

type fixtureUser struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Password string `json:"password"`
	Name     string `json:"name"`
}

type fixtureBusiness struct {
	ID             string          `json:"id"`
	Name           string          `json:"name"`
	OrganizationID optional        `json:"organizationId"`
	Sandbox        *bool           `json:"sandbox"`
	Plan           optional        `json:"plan"`
	InvoiceLimit   *int64          `json:"invoiceLimit"`
	TurnoverLimit  *int64          `json:"turnoverLimit"`
	Currency       optional        `json:"currency"`
	Members        []fixtureMember `json:"members"`
}

type fixtureMember struct {
	UserID      string   `json:"userId"`
	Role        role     `json:"role"`
	Permissions []string `json:"permissions"` // nil: what the role gives
}

type fixtureApp struct {
	ID             string    `json:"id"`
	ClientID       string    `json:"clientId"`
	ClientSecret   optional  `json:"clientSecret"`
	Type           string    `json:"type"`
	Name           string    `json:"name"`
	OrganizationID string    `json:"organizationId"`
	Reviewed       bool      `json:"reviewed"`
	RedirectURIs   []string  `json:"redirectUris"`
	Scopes         scopeList `json:"scopes"`
	PinnedVersion  optional  `json:"pinnedVersion"`
	AppURL         optional  `json:"appUrl"`

	Webhooks      []fixtureWebhook `json:"webhooks"`
	AppDataFields []fixtureField   `json:"appDataFields"`
}

type fixtureWebhook struct {
	ID      string   `json:"id"`
	URL     string   `json:"url"`
	Events  []string `json:"events"`
	Secret  optional `json:"secret"`
	Enabled *bool    `json:"enabled"`
}

type fixtureField struct {
	ResourceType string       `json:"resourceType"`
	Key          string       `json:"key"`
	Type         string       `json:"type"`
	Label        optional     `json:"label"`
	MinLength    *int         `json:"minLength"`
	MaxLength    *int         `json:"maxLength"`
	Min          *json.Number `json:"min"`
	Max          *json.Number `json:"max"`
	Decimals     *int         `json:"decimals"`
	From         optional     `json:"from"`
	To           optional     `json:"to"`
	Choices      []string     `json:"choices"`
}

// optional is a text that may be null, which means the same as its absence.
type optional string

// pointer is nil for an absent text.
func (o optional) pointer() *string {
	if o == "" {
		return nil
	}
	return new(string(o))
}

// UnmarshalJSON reads a text or null.
func (o *optional) UnmarshalJSON(data []byte) error {
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	*o = ""
	if text != nil {
		*o = optional(*text)
	}
	return nil
}

// scopeList is a list of scopes, or one text with spaces between them.
type scopeList struct{ identity.Scopes }

// UnmarshalJSON reads either form.
func (l *scopeList) UnmarshalJSON(data []byte) error {
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

// readFixtures reads -fixtures, or the demo. Errors list what is wrong by the path
// of the member. Outside development mode the demo gets passwords and secrets that
// nobody knows from here.
func (o options) readFixtures(dev bool) (fixtures, error) {
	if o.fixtures == "" {
		f, err := parseFixtures(demo)
		f.origin = demoOrigin
		if !dev {
			f = f.withFreshSecrets()
		}
		return f, err
	}
	text, err := os.ReadFile(o.fixtures)
	if err != nil {
		return fixtures{}, fmt.Errorf("-fixtures: %w", err)
	}
	f, err := parseFixtures(text)
	if err != nil {
		return f, fmt.Errorf("-fixtures %s: %w", o.fixtures, err)
	}
	f.origin = o.fixtures
	return f, nil
}

func parseFixtures(text []byte) (fixtures, error) {
	var f fixtures
	// The strict reader of request bodies is the one that we want here too: it
	// refuses unknown and repeated members, and says where.
	body := &http.Request{Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(text))}
	if err := apierror.DecodeJSON(body, &f, apierror.JSONLimits{MaxBytes: maxFixtures, MaxEntries: maxFixtures}); err != nil {
		if e, ok := errors.AsType[*apierror.Error](err); ok {
			return f, errors.New(strings.Join(e.Messages(), "; "))
		}
		return f, err
	}
	return f, f.check()
}

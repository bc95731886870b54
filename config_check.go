package partnerkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// check returns an error that names every field that is missing, makes no sense or is
// unsafe. What only one package knows about, that package checks when it is built.
func (c *Config) check() error {
	var errs []error
	add := func(is bool, format string, args ...any) { //nolint:revive // the condition of the error
		if is {
			errs = append(errs, fmt.Errorf("Config."+format, args...))
		}
	}
	add(c.Store == nil, "Store is nil; storage/sqlite and storage/postgres open one")
	add(c.Host == nil, "Host is nil; it says who is signed in")
	add(c.Keyring == nil, "Keyring is nil; keyring.Parse makes one of a key of yours")
	for _, one := range []struct{ field, url string }{{"APIURL", c.APIURL}, {"AppURL", c.AppURL}} {
		_, ok := oauthserver.WebOrigin(one.url)
		add(!ok, "%s is %q; it must be an origin such as https://api.example.com", one.field, one.url)
	}
	for i, origin := range c.SessionOrigins {
		u, err := url.Parse(origin)
		_, ok := oauthserver.WebOrigin(origin)
		add(err != nil || !ok || strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "", "SessionOrigins[%d] is %q; it must be an origin such as https://spa.example.com", i, origin)
	}
	for _, err := range []error{c.Limits.Validate(), c.Lifetimes.Validate()} {
		if all, ok := err.(interface{ Unwrap() []error }); ok { //nolint:errorlint // errors.Join made it
			for _, one := range all.Unwrap() {
				errs = append(errs, fmt.Errorf("Config.%w", one))
			}
		}
	}
	for _, one := range []struct {
		field string
		value time.Duration
	}{
		{"Events", c.Retention.Events}, {"Deliveries", c.Retention.Deliveries}, {"Calls", c.Retention.Calls},
		{"Audit", c.Retention.Audit}, {"IdempotencyKeys", c.Retention.IdempotencyKeys},
	} {
		add(one.value < 0, "Retention.%s is negative", one.field)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Schemas)) {
		text := c.Schemas[name]
		add(!json.Valid(text) || !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")), "Schemas: %s is not a JSON object; a JSON Schema is one", name)
	}
	add(c.Operators != nil && c.Developers == nil, "Operators is set without Developers")
	add(c.Console.MaxFunctions < 0, "Console.MaxFunctions is negative")
	return errors.Join(errs...)
}

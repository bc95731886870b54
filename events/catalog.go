package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/identity"
)

// maxDefinitions is how many a catalog may have.
const maxDefinitions = 250

// Catalog is the list of all events. It never changes; the zero value is empty.
type Catalog struct {
	definitions []Definition
	byName      map[string]Definition
}

// NewCatalog makes a catalog of a host's own, in the order given. The events about the
// app itself, such as app.installed, are always included: those that are not given are
// added at the end, as in the default catalog.
//
// Names are lower-case words with dots between them, such as invoice.created, and
// no name may come twice. The error names the definition and what is wrong with it.
func NewCatalog(definitions ...Definition) (Catalog, error) {
	c := Catalog{byName: make(map[string]Definition, len(definitions))}
	for i, d := range definitions {
		if err := d.check(); err != nil {
			return Catalog{}, fmt.Errorf("event catalog: entry %d, %q: %w", i+1, d.Name, err)
		}
		if _, taken := c.byName[d.Name]; taken {
			return Catalog{}, fmt.Errorf("event catalog: %s is listed twice", d.Name)
		}
		c.add(d)
	}
	for _, own := range lifecycle() {
		given, ok := c.byName[own.Name]
		switch {
		case !ok:
			c.add(own)
		case given.Audience != own.Audience:
			return Catalog{}, fmt.Errorf("event catalog: %s is recorded for one app alone and cannot have the audience %s", own.Name, given.Audience)
		}
	}
	if len(c.definitions) > maxDefinitions {
		return Catalog{}, fmt.Errorf("event catalog: more than %d definitions", maxDefinitions)
	}
	return c, nil
}

func (c *Catalog) add(d Definition) {
	d.Sample, d.Schema, d.Older = bytes.Clone(d.Sample), bytes.Clone(d.Schema), append([]Shape{}, d.Older...)
	c.definitions = append(c.definitions, d)
	c.byName[d.Name] = d
}

// All returns a copy of the definitions, in order.
func (c Catalog) All() []Definition { return append([]Definition{}, c.definitions...) }

// Lookup finds a definition by its name.
func (c Catalog) Lookup(name string) (Definition, bool) {
	d, ok := c.byName[name]
	return d, ok
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$`)

func (d Definition) check() error {
	if !validName.MatchString(d.Name) || len(d.Name) > 100 {
		return errors.New("the name must be lower-case words with dots between them, at most 100 characters")
	}
	if strings.TrimSpace(d.Description) == "" {
		return errors.New("it has no description")
	}
	if err := d.checkScope(); err != nil {
		return err
	}
	if !isObject(d.Sample) {
		return errors.New("the sample is not a JSON object")
	}
	if err := d.checkSchema(); err != nil {
		return err
	}
	return d.checkShapes()
}

func (d Definition) checkScope() error {
	switch d.Audience {
	case AudienceApp:
		if d.Scope != "" {
			return errors.New("an event of an app's own has no scope")
		}
		return nil
	case AudienceBusiness, AudiencePrivacy:
		if _, err := identity.NewScopes(d.Scope); err != nil {
			return errors.New("it needs one scope that gates it")
		}
		return nil
	}
	return fmt.Errorf("unknown audience %q", d.Audience)
}

// checkShapes tries the older shapes on the sample, in which a mistake shows now
// and not when the first app of that version asks.
func (d Definition) checkShapes() error {
	data := d.Sample
	for i, shape := range d.Older {
		if _, err := time.Parse(time.DateOnly, shape.Before); err != nil {
			return fmt.Errorf("the older shape before %q: that is not a date such as 2026-09-01", shape.Before)
		}
		if i > 0 && shape.Before >= d.Older[i-1].Before {
			return errors.New("the older shapes must come newest first")
		}
		if shape.Down == nil {
			return fmt.Errorf("the older shape before %s has no Down", shape.Before)
		}
		var err error
		if data, err = shape.down(bytes.Clone(data)); err != nil {
			return fmt.Errorf("the older shape before %s, of the sample: %w", shape.Before, err)
		}
		if !isObject(data) {
			return fmt.Errorf("the older shape before %s makes no JSON object of the sample", shape.Before)
		}
	}
	return nil
}

// isObject reports whether data is one JSON object.
func isObject(data []byte) bool {
	return json.Valid(data) && bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

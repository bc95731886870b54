package appdata

import (
	"encoding/json"
	"regexp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/optional"
)

// What a field may be.
const (
	// MaxFields is how many fields an app may have.
	MaxFields = 100
	// maxLabel is how many characters a label may have.
	maxLabel = 120
	// maxText is the largest length that a rule may name: no value has more
	// characters than bytes.
	maxText = maxValue
	// MaxChoices and maxChoice are how many options a CHOICE may have, and how
	// many characters each of them.
	MaxChoices = 50
	maxChoice  = 60
)

// Declaration declares or changes a field. It decodes from JSON. In a change, absent members
// stay as they are, and null removes a rule or the label.
type Declaration struct {
	ResourceType optional.Member[string]          `json:"resourceType"`
	Key          optional.Member[string]          `json:"key"` // a letter, then up to 63 letters, digits, dots, hyphens, underscores
	Type         optional.Member[valuestore.Type] `json:"type"`
	Label        optional.Member[string]          `json:"label"` // see maxLabel
	MinLength    optional.Member[int]             `json:"minLength"`
	MaxLength    optional.Member[int]             `json:"maxLength"`
	Min          optional.Member[json.Number]     `json:"min"`
	Max          optional.Member[json.Number]     `json:"max"`
	Decimals     optional.Member[int]             `json:"decimals"`
	From         optional.Member[string]          `json:"from"`
	To           optional.Member[string]          `json:"to"`
	Choices      optional.Member[Choices]         `json:"choices"`
	// Version, in a change, is the version that the change is based on. The error is CONFLICT
	// if the field has another one.
	Version optional.Member[int64] `json:"version"`
}

var validKey = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$`)

// newField returns the field that d declares.
func (s *Service) newField(d Declaration) (valuestore.Field, error) {
	f := valuestore.Field{ResourceType: valueOf(d.ResourceType), Key: valueOf(d.Key), Type: valueOf(d.Type)}
	var v apierror.Validation
	if _, ok := s.cfg.Types[f.ResourceType]; !ok {
		v.Add("resourceType", "must be one of %s", s.typeNames)
	}
	if !validKey.MatchString(f.Key) {
		v.Add("key", "must be a letter and up to 63 letters, digits, dots, hyphens and underscores")
	}
	if _, ok := rulesOf[f.Type]; !ok {
		v.Add("type", "must be one of TEXT, NUMBER, BOOLEAN, DATE, URL, CHOICE")
	}
	if d.Version.IsSent {
		v.Add("version", "is for changes; a new field has none yet")
	}
	return d.applyTo(f, &v)
}

// changed returns the field as d changes it.
func (d Declaration) changed(f valuestore.Field) (valuestore.Field, error) {
	var v apierror.Validation
	switch sent := d.Version; {
	case sent.IsSent && sent.Value == nil:
		v.Add("version", "must not be null")
	case sent.IsSent && *sent.Value != f.Version:
		return f, codes.Conflict.New()
	}
	f.Version++
	fixed(&v, "resourceType", d.ResourceType, f.ResourceType)
	fixed(&v, "key", d.Key, f.Key)
	fixed(&v, "type", d.Type, f.Type)
	return d.applyTo(f, &v)
}

// valueOf returns the zero value for a member that is absent or null.
func valueOf[T any](m optional.Member[T]) (value T) {
	if m.Value != nil {
		value = *m.Value
	}
	return value
}

// fixed allows a member that repeats the current value.
func fixed[T comparable](v *apierror.Validation, name string, m optional.Member[T], is T) {
	if m.IsSent && (m.Value == nil || *m.Value != is) {
		v.Add(name, "cannot be changed; declare another field")
	}
}

// applyTo sets the label and the rules. What is wrong with the options of a CHOICE is
// told when nothing else is.
func (d Declaration) applyTo(f valuestore.Field, v *apierror.Validation) (valuestore.Field, error) {
	label := new(f.Label)
	set(v, "label", d.Label, aLabel, &label)
	if label == nil {
		label = new("")
	}
	f.Label = *label
	if problem := text.LineProblem(f.Label); problem != "" {
		v.Add("label", "%s", problem)
	}
	if _, ok := rulesOf[f.Type]; !ok {
		return f, v.Err()
	}
	d.applyRules(&f, v)
	if err := v.Err(); err != nil {
		return f, err
	}
	if f.Type == valuestore.Choice && !areChoices(f.Choices) {
		return f, codes.InvalidChoices.New()
	}
	return f, nil
}

package appdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// givenValue is a value as it was sent.
type givenValue struct {
	ResourceType string          `json:"resourceType"`
	ResourceID   string          `json:"resourceId"`
	Key          string          `json:"key"`
	Value        json.RawMessage `json:"value"`
}

// parsePut reads the body of a PUT. Its error reports all problems of the body's form.
// Values are returned in the encoding in which they are stored.
func (s *Service) parsePut(r *http.Request) ([]givenValue, error) {
	var body struct {
		Values []givenValue `json:"values"`
	}
	wrongSize := apierror.InvalidAt("values", "must have 1 to %d entries", MaxValues)
	limits := strictjson.Limits{
		Lists: map[string]strictjson.List{"values": {Most: MaxValues, Refusal: wrongSize}},
		Check: func() error { return s.checkPut(body.Values, wrongSize) },
	}
	if err := strictjson.Decode(r, &body, limits); err != nil {
		return nil, err
	}
	return body.Values, s.checkPut(body.Values, wrongSize)
}

// checkPut returns a validation error that names everything that is wrong with the form of
// values, or wrongSize if there are too few or too many.
func (s *Service) checkPut(values []givenValue, wrongSize error) error {
	if n := len(values); n < 1 || n > MaxValues {
		return wrongSize
	}
	var v apierror.Validation
	type address struct{ resourceType, resourceID, key string }
	seen := make(map[address]int, len(values))
	for i := range values {
		one := &values[i]
		s.checkForm(&v, i, one)
		at := address{one.ResourceType, one.ResourceID, one.Key}
		if first, ok := seen[at]; ok {
			v.Add(valueAt(i), "is the same as %s: resourceType, resourceId and key", valueAt(first))
			continue
		}
		seen[at] = i
	}
	return v.Err()
}

// valueAt returns the path of an entry of the body's values.
func valueAt(i int) string { return fmt.Sprintf("values[%d]", i) }

func (s *Service) checkForm(v *apierror.Validation, i int, one *givenValue) {
	at := valueAt(i)
	if _, ok := s.cfg.Types[one.ResourceType]; !ok {
		v.Add(at+".resourceType", "must be one of %s", s.typeNames)
	}
	if !isResourceID(one.ResourceID) {
		v.Add(at+".resourceId", "must have 1 to %d characters", maxResourceID)
	}
	if one.Key == "" {
		v.Add(at+".key", "must not be empty")
	}
	one.Value = plain(one.Value)
	switch {
	case one.Value == nil:
		v.Add(at+".value", "is missing")
	case string(one.Value) == "null":
		v.Add(at+".value", "must not be null; DELETE takes a value away")
	case len(one.Value) > maxValue:
		v.Add(at+".value", "has more than %d bytes of JSON", maxValue)
	}
}

// plain is JSON without space between tokens and, in a string, without needless
// escapes: the same string is always the same bytes.
func plain(value json.RawMessage) json.RawMessage {
	if text, ok := textOf(value); ok {
		if encoded, err := apierror.EncodeJSON(text); err == nil {
			return encoded
		}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return nil // only what is missing: the body was valid
	}
	return compact.Bytes()
}

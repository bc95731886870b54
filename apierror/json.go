package apierror

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
)

// JSONLimits bound a JSON body; zero values mean the defaults.
type JSONLimits struct {
	// MaxBytes is the size of the body; 0 means [DefaultBodyLimit].
	MaxBytes int64
	// MaxDepth is how deep objects and arrays may nest; 0 means 32.
	MaxDepth int
	// IgnoreUnknown skips members that dst does not have, where it would
	// otherwise refuse them by name.
	IgnoreUnknown bool
}

// DecodeJSON reads an application/json body into dst, a non-nil pointer. Members
// that are absent leave dst as it was.
//
// It is stricter than encoding/json: names match exactly, letter case included;
// no member may be given twice at any depth; strings hold no NUL and no lone
// surrogates; null is accepted only where Go has a nil, or where the type decodes
// itself; the body itself is never null; nothing follows the value.
//
// The error is an [Error]: 413, 415, or a 400 that lists the problems by the path
// of the member. A dst that is not such a pointer is a 500. Types that
// implement json.Unmarshaler or encoding.TextUnmarshaler are asked twice, once to
// judge and once to decode, so their methods must depend on the input alone.
func DecodeJSON(r *http.Request, dst any, limits JSONLimits) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return Internal(fmt.Errorf("decode JSON into %T: not a pointer to something", dst))
	}
	if limits.MaxBytes <= 0 {
		limits.MaxBytes = DefaultBodyLimit
	}
	if limits.MaxDepth <= 0 {
		limits.MaxDepth = 32
	}
	body, err := readBody(r, jsonType, limits.MaxBytes)
	if err != nil {
		return err
	}
	if isDeeper(body, limits.MaxDepth) {
		return Invalid(fmt.Sprintf("the body nests deeper than %d levels", limits.MaxDepth))
	}
	if err := checkSyntax(body); err != nil {
		return err
	}
	in := inspector{data: body, ignoreUnknown: limits.IgnoreUnknown}
	if err := in.inspect(target.Type().Elem()); err != nil {
		return err
	}
	if err := json.Unmarshal(in.withoutIgnored(), dst); err != nil {
		return undecodable(err)
	}
	return nil
}

// checkSyntax says where the body stops being JSON. After it, the inspector can
// walk the bytes without looking for mistakes of grammar.
func checkSyntax(body []byte) error {
	if len(bytes.Trim(body, " \t\r\n")) == 0 {
		return Invalid("the body must not be empty")
	}
	var raw json.RawMessage
	err := json.Unmarshal(body, &raw)
	if err == nil {
		return nil
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return Invalid("the body is not valid JSON").WithCause(err)
	case strings.HasSuffix(syntax.Error(), "after top-level value"):
		return Invalid(fmt.Sprintf("the body goes on after its JSON value, at byte %d", syntax.Offset))
	}
	return Invalid(fmt.Sprintf("the body is not valid JSON: %s, at byte %d", syntax, syntax.Offset))
}

// isDeeper measures the nesting without recursion. It comes before all other
// looks at the body and needs no valid JSON.
func isDeeper(body []byte, limit int) bool {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// undecodable is for what encoding/json refuses though the inspector did not:
// rare options of struct tags, or a dst with types that no JSON fits.
func undecodable(err error) error {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if ok && mismatch.Field != "" {
		return Invalid(clip(mismatch.Field, maxShown) + " has a value of the wrong type").WithCause(err)
	}
	return Invalid("the body does not have the expected form").WithCause(err)
}

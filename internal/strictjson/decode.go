package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/text"
)

const (
	mediaType = "application/json"
	maxListed = 50 // problems that an error lists
)

// Limits bound a JSON body; zero values mean the defaults.
type Limits struct {
	// MaxBytes is the size of the body; 0 means 1 MiB.
	MaxBytes int64
	// MaxDepth is how deep objects and arrays may nest; 0 means 32.
	MaxDepth int
	// Lists bounds the arrays that are members of the body, by name.
	Lists map[string]List
	// MaxEntries is how many entries any other array, and how many members any
	// object may have; 0 means 1,000.
	MaxEntries int
	// MaxText is how many bytes a string may take in the body, quotes and escapes
	// included; 0 means no limit but MaxBytes.
	MaxText int
	// IgnoreUnknown skips members that dst does not have, where it would
	// otherwise refuse them by name.
	IgnoreUnknown bool
	// AllowNUL passes strings with a NUL character to the caller, who checks for it.
	// A database would otherwise refuse them.
	AllowNUL bool
	// Check returns what else is wrong with the decoded body, as apierror.Validation.Err does. It is
	// called if the body has problems, so that the error lists those of the caller's rules
	// too; the caller checks a body without problems itself. Values that do not fit are then
	// missing from dst, entries of arrays are zero, and what Check reports about them, or
	// about what they are in, is left out. Other errors of Check are ignored. Nil checks nothing.
	Check func() error
}

// A List bounds an array.
type List struct {
	// Most is how many entries it may have.
	Most int
	// Refusal is the error for more entries; nil means a 400 that names the member
	// and the bound.
	Refusal error
}

// Decode reads an application/json body into dst, a non-nil pointer. Members
// that are absent leave dst as it was.
//
// It is stricter than encoding/json: names match exactly, letter case included;
// no member may be given twice at any depth; strings hold no NUL and no lone
// surrogates; null is accepted only where Go has a nil, or where the type decodes
// itself; the body itself is never null; nothing follows the value.
//
// Depth, entries and members are counted while the body arrives. Reading stops at the
// first that is one too many, so a body that is refused takes no more memory than its
// own bytes.
//
// The error is one of apierror: 413, 415, or a 400 that lists the problems by the path
// of the member, with those of limits.Check; or the Refusal of a List. After an error dst
// has the values that fit. A dst that is not such a pointer is a 500.
// The methods of types that implement json.Unmarshaler or encoding.TextUnmarshaler are called
// twice, to check the value and to decode it, and must depend on the input alone.
func Decode(r *http.Request, dst any, limits Limits) error {
	target := reflect.ValueOf(dst)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return apierror.Internal(fmt.Errorf("decode JSON into %T: not a pointer to something", dst))
	}
	limits = limits.withDefaults()
	count := counter{limits: limits}
	body, err := bodies.Read(r, mediaType, limits.MaxBytes, count.see)
	if err != nil {
		return err
	}
	if err := checkSyntax(body); err != nil {
		return err
	}
	in := inspector{data: body, maxText: limits.MaxText, ignoreUnknown: limits.IgnoreUnknown, allowNUL: limits.AllowNUL}
	if err := in.inspect(target.Type().Elem()); err != nil {
		return err
	}
	err = json.Unmarshal(in.decodable(), dst)
	if in.found > 0 {
		if err == nil && limits.Check != nil && in.found <= maxListed { // otherwise none would be shown
			in.problems.Skip(in.wrong...)
			_ = in.problems.Include(limits.Check()) // the problems of the body stand without it
		}
		return in.problems.Err()
	}
	if err != nil {
		return undecodable(err)
	}
	return nil
}

// Unmarshal decodes JSON that is not the body of a request, by the rules of
// [Decode].
func Unmarshal(data []byte, dst any, limits Limits) error {
	return Decode(&http.Request{
		Header: http.Header{"Content-Type": {mediaType}}, Body: io.NopCloser(bytes.NewReader(data)), ContentLength: int64(len(data)),
	}, dst, limits)
}

func (l Limits) withDefaults() Limits {
	if l.MaxBytes <= 0 {
		l.MaxBytes = 1 << 20
	}
	if l.MaxDepth <= 0 {
		l.MaxDepth = 32
	}
	if l.MaxEntries <= 0 {
		l.MaxEntries = 1000
	}
	return l
}

// checkSyntax reports where the body stops being JSON. After it, the inspector can
// walk the bytes without looking for mistakes of grammar.
func checkSyntax(body []byte) error {
	if len(bytes.Trim(body, " \t\r\n")) == 0 {
		return apierror.Invalid("the body must not be empty")
	}
	err := json.Unmarshal(body, &unread{})
	if err == nil {
		return nil
	}
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case !ok:
		return apierror.Invalid("the body is not valid JSON").WithCause(err)
	case strings.HasSuffix(syntax.Error(), "after top-level value"):
		return apierror.Invalid(fmt.Sprintf("the body goes on after its JSON value, at byte %d", syntax.Offset))
	}
	return apierror.Invalid(fmt.Sprintf("the body is not valid JSON: %s, at byte %d", syntax, syntax.Offset))
}

// unread is a value of which only the syntax matters.
type unread struct{}

// UnmarshalJSON implements json.Unmarshaler. It keeps nothing, so checking the syntax of
// a large body copies nothing.
func (*unread) UnmarshalJSON([]byte) error { return nil }

// undecodable is for what encoding/json refuses though the inspector did not:
// rare options of struct tags, or a dst with types that no JSON fits.
func undecodable(err error) error {
	mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if ok && mismatch.Field != "" {
		return apierror.InvalidAt(text.Clip(mismatch.Field, 200), "has a value of the wrong type").WithCause(err)
	}
	return apierror.Invalid("the body does not have the expected form").WithCause(err)
}

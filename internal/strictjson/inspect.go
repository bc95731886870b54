package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"

	"github.com/partnerkit/partnerkit/apierror"
)

// An inspector walks valid JSON beside the Go type that it is meant for and
// collects everything that is wrong, before anything is decoded.
type inspector struct {
	data          []byte
	pos           int
	maxText       int // 0: any
	ignoreUnknown bool
	allowNUL      bool
	problems      apierror.Validation
	found         int      // problems, also those that are not kept
	wrong         []string // the paths of problems
	replaced      []span   // what encoding/json must not see
}

// A span is data[from:to], and the text in its place.
type span struct {
	from, to int
	text     string
}

// inspect returns an error if nothing of the body can be decoded. Other problems are kept.
func (in *inspector) inspect(t reflect.Type) error {
	in.space()
	if in.data[in.pos] == 'n' { // null would leave dst untouched, as if all were well
		if want := shapeOf(t).kind; want != kindAny {
			return apierror.Invalid("the body must be " + string(want))
		}
		return apierror.Invalid("the body must not be null")
	}
	if !in.value(t, nil) {
		return in.problems.Err()
	}
	return nil
}

func (in *inspector) problem(at *path, what string) {
	in.found++
	if at == nil {
		in.problems.Add("", "the body %s", what)
		return
	}
	in.problems.Add(at.String(), "%s", what)
	if in.found <= maxListed {
		in.wrong = append(in.wrong, at.String())
	}
}

// value walks one value and reports whether it can be decoded. If the value does not fit t,
// the walk continues without a type, so that duplicate names inside the value are still
// reported.
func (in *inspector) value(t reflect.Type, at *path) (fits bool) {
	in.space()
	want := shapeOf(t)
	start := in.pos
	before := in.found
	fits = true
	if !want.fits(in.data[start]) {
		in.problem(at, "must be "+string(want.kind))
		want, fits = anything, false
	}
	switch in.data[start] {
	case '{':
		in.object(want, at)
	case '[':
		in.array(want, at)
	case '"':
		in.text(at)
	case 't', 'f', 'n', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		in.word()
		fits = in.number(want, string(in.data[start:in.pos]), at) && fits
	}
	// A type that decodes itself is asked only about what is well-formed so far.
	if want.decodes == nil || !fits {
		return fits
	}
	if in.found != before {
		return false
	}
	if err := want.decodes(in.data[start:in.pos]); err != nil {
		in.problem(at, want.refusal())
		return false
	}
	return true
}

func (in *inspector) object(want *shape, at *path) {
	seen := map[string]bool{}
	for in.next('}') {
		from := in.pos
		raw := in.text(at)
		name := unquote(raw)
		here := &path{parent: at, name: name, isName: true}
		if seen[name] {
			in.problem(here, "is given more than once")
		}
		seen[name] = true
		in.space()
		in.pos++ // the colon
		t, isKnown := want.elem, true
		if want.members != nil {
			if t, isKnown = want.members[name]; !isKnown && !in.ignoreUnknown {
				in.problem(here, "is not a known member")
			}
		}
		if fits := in.value(t, here); !fits || !isKnown {
			in.replaced = append(in.replaced, span{from, from + len(raw), `""`})
		}
	}
}

func (in *inspector) array(want *shape, at *path) {
	count := 0
	for in.next(']') {
		in.space()
		from := in.pos
		if !in.value(want.elem, &path{parent: at, index: count}) {
			in.replaced = append(in.replaced, span{from, in.pos, "null"})
		}
		count++
	}
	if want.length >= 0 && count != want.length {
		in.problem(at, "must have "+strconv.Itoa(want.length)+" entries")
	}
}

// number reports whether a number can be decoded; what is none can be.
func (in *inspector) number(want *shape, literal string, at *path) bool {
	if c := literal[0]; c != '-' && (c < '0' || c > '9') || want.bits == 0 {
		return true
	}
	var err error
	switch want.kind {
	case kindInteger:
		_, err = strconv.ParseInt(literal, 10, want.bits)
	case kindNatural:
		_, err = strconv.ParseUint(literal, 10, want.bits)
	default:
		_, err = strconv.ParseFloat(literal, want.bits)
	}
	switch {
	case errors.Is(err, strconv.ErrRange):
		in.problem(at, "is out of range")
	case err != nil:
		in.problem(at, "must be "+string(want.kind))
	}
	return err == nil
}

// fits compares a value's first character with what is wanted.
func (s *shape) fits(first byte) bool {
	if first == 'n' {
		return s.mayBeNull
	}
	switch s.kind {
	case kindAny:
		return true
	case kindObject:
		return first == '{'
	case kindArray:
		return first == '['
	case kindString, kindBase64, kindTime:
		return first == '"'
	case kindBoolean:
		return first == 't' || first == 'f'
	}
	return first == '-' || '0' <= first && first <= '9'
}

func (s *shape) refusal() string {
	if s.kind == kindBase64 || s.kind == kindTime {
		return "must be " + string(s.kind)
	}
	return "does not have a valid value"
}

// decodable returns the body for encoding/json, without the members that dst does not have
// or that do not fit it. Their names become empty: encoding/json would otherwise match a
// name to a field whose name differs in case only, and no field has an empty name. Entries
// that do not fit become null.
func (in *inspector) decodable() []byte {
	if len(in.replaced) == 0 {
		return in.data
	}
	slices.SortFunc(in.replaced, func(a, b span) int { return a.from - b.from })
	cleaned := make([]byte, 0, len(in.data))
	last := 0
	for _, s := range in.replaced {
		if s.from < last {
			continue // inside of an entry that became null
		}
		cleaned = append(cleaned, in.data[last:s.from]...)
		cleaned = append(cleaned, s.text...)
		last = s.to
	}
	return append(cleaned, in.data[last:]...)
}

func unquote(raw []byte) string {
	if !bytes.ContainsRune(raw, '\\') {
		return string(raw[1 : len(raw)-1])
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return string(raw) // cannot happen: the body is valid JSON
	}
	return text
}

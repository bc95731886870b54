package strictjson

import (
	"strconv"
	"unicode/utf16"

	"github.com/partnerkit/partnerkit/internal/text"
)

// The steps of the inspector over bytes that are known to be valid JSON: there
// is always a next character where the grammar asks for one.

func (in *inspector) space() {
	for in.pos < len(in.data) {
		switch in.data[in.pos] {
		case ' ', '\t', '\r', '\n':
			in.pos++
		default:
			return
		}
	}
}

// next moves from the opening bracket, or from the end of an entry, to the next
// entry. It returns false, past the closing bracket, when there is none.
func (in *inspector) next(closing byte) bool {
	in.space()
	switch in.data[in.pos] {
	case '{', '[', ',':
		in.pos++
		in.space()
	}
	if in.data[in.pos] == closing {
		in.pos++
		return false
	}
	return true
}

// word moves past a number, true, false or null.
func (in *inspector) word() {
	for in.pos < len(in.data) {
		switch in.data[in.pos] {
		case ' ', '\t', '\r', '\n', ',', ']', '}':
			return
		}
		in.pos++
	}
}

// text moves past a string, reports characters that a database would refuse, and
// returns the string with its quotes.
func (in *inspector) text(at *path) []byte {
	start := in.pos
	hasNUL, hasSurrogate := false, false
	in.pos++
	for in.data[in.pos] != '"' {
		if in.data[in.pos] != '\\' {
			in.pos++
			continue
		}
		if in.data[in.pos+1] != 'u' {
			in.pos += 2
			continue
		}
		r := in.escape(in.pos)
		in.pos += 6
		switch {
		case r == 0:
			hasNUL = true
		case utf16.IsSurrogate(r):
			if utf16.DecodeRune(r, in.escape(in.pos)) != '\uFFFD' {
				in.pos += 6
			} else {
				hasSurrogate = true
			}
		}
	}
	in.pos++
	if in.maxText > 0 && in.pos-start > in.maxText {
		in.problem(at, "takes more than "+strconv.Itoa(in.maxText)+" bytes")
	}
	if hasNUL && !in.allowNUL {
		in.problem(at, "has a NUL character")
	}
	if hasSurrogate {
		in.problem(at, "has half of a surrogate pair")
	}
	return in.data[start:in.pos]
}

// escape returns the code unit of a \uXXXX at pos, or -1.
func (in *inspector) escape(pos int) rune {
	if pos+6 > len(in.data) || in.data[pos] != '\\' || in.data[pos+1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(in.data[pos+2:pos+6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}

// A path leads to a place in the body.
type path struct {
	parent *path
	isName bool   // a member, otherwise an entry of an array
	name   string // of a member
	index  int    // of an entry
}

func (p *path) String() string {
	own := "[" + strconv.Itoa(p.index) + "]"
	if p.isName {
		own = text.Name(p.name)
	}
	switch {
	case p.parent == nil:
		return own
	case p.isName:
		return p.parent.String() + "." + own
	}
	return p.parent.String() + own
}

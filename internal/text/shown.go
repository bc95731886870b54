package text

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LineProblem returns what is wrong with a line that people see, such as "must be valid UTF-8";
// empty if all its characters can be seen, or are needed to write what can be seen.
func LineProblem(s string) string { return problem(s, isHidden) }

// LinesProblem is LineProblem for a text that may have several lines.
func LinesProblem(s string) string {
	return problem(s, func(r rune) bool { return isHidden(r) && !isBreak(r) })
}

func problem(s string, refused func(rune) bool) string {
	if !utf8.ValidString(s) {
		return "must be valid UTF-8"
	}
	for _, r := range s {
		if refused(r) {
			return fmt.Sprintf("must not have the character %U, which cannot be seen", r)
		}
	}
	return ""
}

// Line returns a text of the host, such as the name of a user, as one line without
// a [LineProblem]: without hidden characters, and with spaces for line breaks and tabs.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case isBreak(r), r == '\t':
			return ' '
		case isHidden(r):
			return -1
		}
		return r
	}, s) // Map replaces invalid UTF-8
}

// HasVisible reports whether at least one character of a text can be seen by itself: it is
// not a space, not a mark that combines with the character before it, and not drawn empty.
func HasVisible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return !isHidden(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) && !slices.Contains(invisible, r) && !slices.Contains(blanks, r)
	})
}

// invisible are the characters without a form of their own that scripts and emoji need: the
// joiners and the directional marks. Variation selectors are marks.
var invisible = []rune{'\u200c', '\u200d', '\u200e', '\u200f', '\u061c'}

// blanks are graphic symbols that are drawn empty.
var blanks = []rune{'\u2800', '\U0001d159'} // BRAILLE PATTERN BLANK, MUSICAL SYMBOL NULL NOTEHEAD

// isHidden reports whether texts that people see must not have a character: it is a control
// character or a line break, it changes the direction of the text around it beyond a mark, or
// it has no form, which makes different texts look alike. Unassigned characters pass: the next
// version of Unicode may have an emoji there.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) &&
		!slices.Contains(invisible, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || unicode.In(r, unicode.Zl, unicode.Zp)
}

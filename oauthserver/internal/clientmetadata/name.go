package clientmetadata

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName is the maximum length of a client's name, in characters.
const MaxName = 120

// CheckName returns nil if the name can be shown to people: one line of 1 to [MaxName]
// characters, at least one of which is visible, without characters that change how the text
// around the name reads. Otherwise its error can follow the name of a field.
func CheckName(name string) error {
	switch {
	case strings.TrimSpace(name) == "", utf8.RuneCountInString(name) > MaxName:
		return fmt.Errorf("must have 1 to %d characters", MaxName)
	case strings.ContainsFunc(name, isNoNameCharacter):
		return errors.New("has a character that cannot be shown")
	case !strings.ContainsFunc(name, isVisible):
		return errors.New("must have at least one visible character")
	}
	return nil
}

// isNoNameCharacter reports whether a name must not have the character: control characters,
// line breaks, characters that change the direction of text, and others that are not graphic.
// The two joiners are not graphic either, but many scripts and emoji need them.
func isNoNameCharacter(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return !unicode.IsGraphic(r) && r != nonJoiner && r != joiner
}

// blanks are graphic symbols that are drawn empty.
var blanks = []rune{'\u2800', '\U0001d159'} // BRAILLE PATTERN BLANK, MUSICAL SYMBOL NULL NOTEHEAD

// isVisible reports whether a character can be seen by itself: it is not a space, not a mark
// that combines with the character before it, and not one that renderers ignore by default,
// such as the Hangul fillers.
func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !slices.Contains(blanks, r)
}

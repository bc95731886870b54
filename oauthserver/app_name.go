package oauthserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxAppName is how long the name of an app may be, in characters.
const MaxAppName = 120

// CheckAppName returns an error that says what is wrong with the name of an app, or nil. It
// holds wherever an app is named. People read the name when they are asked for consent: it
// is one line of 1 to [MaxAppName] characters, at least one of which is visible, and has
// none that changes how the text around it reads.
func CheckAppName(name string) error {
	switch {
	case strings.TrimSpace(name) == "", utf8.RuneCountInString(name) > MaxAppName:
		return fmt.Errorf("must have 1 to %d characters", MaxAppName)
	case strings.ContainsFunc(name, isNoNameCharacter):
		return errors.New("has a character that cannot be shown")
	case !strings.ContainsFunc(name, isVisible):
		return errors.New("must have at least one visible character")
	}
	return nil
}

// isNoNameCharacter reports whether a character has no place in a name: control characters,
// line breaks, those that turn text around, and others without a form of their own. The two
// joiners have none either, but many scripts and emoji are written with them.
func isNoNameCharacter(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return !unicode.IsGraphic(r) && r != nonJoiner && r != joiner
}

// blanks are symbols whose form is empty.
var blanks = []rune{'\u2800', '\U0001d159'} // BRAILLE PATTERN BLANK, MUSICAL SYMBOL NULL NOTEHEAD

// isVisible reports whether a character can be seen by itself: it is no space, no mark that
// combines with the character before it, and none that Unicode has renderers ignore, such as
// the Hangul fillers.
func isVisible(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !slices.Contains(blanks, r)
}

package look

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is kept of a long id: its kind, with what follows, and its end.
const (
	shortHead, shortTail = 9, 5
	longestID            = 18 // ids up to here are shown as a whole
)

// short returns an id without its middle. What it names is in the title and the copy button
// beside it.
func short(id string) string {
	if utf8.RuneCountInString(id) <= longestID {
		return id
	}
	runes := []rune(id)
	return string(runes[:shortHead]) + "…" + string(runes[len(runes)-shortTail:])
}

// initial returns the first letter or digit of a name, which stands for something without an
// icon.
func initial(name string) string {
	i := strings.IndexFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	if i < 0 {
		return ""
	}
	for _, first := range name[i:] {
		return string(unicode.ToUpper(first))
	}
	return ""
}

// initials returns those of the first and the last word of a name.
func initials(name string) string {
	words := strings.Fields(name)
	if len(words) < 2 {
		return initial(name)
	}
	return initial(words[0]) + initial(words[len(words)-1])
}

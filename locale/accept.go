package locale

import (
	"strings"

	"golang.org/x/text/language"
)

// maxHeader is how much of an Accept-Language header is read: browsers send a handful of
// languages.
const maxHeader = 1024

// matcher returns a matcher of the offered languages.
func matcher(offered []string) language.Matcher {
	tags := make([]language.Tag, len(offered))
	for i, tag := range offered {
		tags[i] = language.Make(tag)
	}
	return language.NewMatcher(tags)
}

// accepted returns the offered language that an Accept-Language header prefers (RFC 9110
// 12.5.4), and the first one when it accepts none of them or cannot be read.
func (b *Book) accepted(headers []string) string {
	header := strings.Join(headers, ",")
	if len(header) > maxHeader {
		header = header[:strings.LastIndexByte(header[:maxHeader], ',')+1]
	}
	asked, _, err := language.ParseAcceptLanguage(header)
	if err != nil {
		return b.offered[0]
	}
	return b.closest(asked...)
}

// closest returns the offered language that is closest to the first of some tags that any is
// close to: de for de-AT or de-CH. It is the first offered one when none is.
func (b *Book) closest(asked ...language.Tag) string {
	_, i, confidence := b.matcher.Match(asked...)
	if confidence == language.No {
		return b.offered[0]
	}
	return b.offered[i]
}

package secret

import (
	"encoding/base64"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/internal/id"
)

// Mask replaces all text in the form of a token, a code or a secret, those that clients make
// included, with a placeholder, after the prefix if it has one. The text may be cut off,
// encoded or broken into lines.
func Mask(text string) string {
	return mask(MaskIssued(text), func(v view, found *spans) { found.addVerifiers(v) })
}

// MaskIssued is Mask without the forms of what clients make, PKCE verifiers. They are only long,
// and so are some identifiers of a host.
func MaskIssued(text string) string {
	return mask(text, func(v view, found *spans) {
		for _, one := range forms {
			found.addForm(v, one.whole)
		}
		found.addUserCodes(v)
		found.addEncoded(v, -1)
		found.addBasic(v)
		if joined, ok := v.joined(); ok {
			for _, one := range forms {
				found.addForm(joined, one.broken)
			}
			found.addUserCodes(joined)
			found.addEncoded(joined, base64.RawStdEncoding.EncodedLen(longest))
		}
	})
}

// maxDecoded is how many times a text is decoded: a form in a URL in a JSON text in another one
// is found.
const maxDecoded = 4

// mask masks what find finds in the text, and in the text decoded.
func mask(text string, find func(v view, found *spans)) string {
	var found spans
	v := view{text: text}
	find(v, &found)
	for range maxDecoded {
		decoded, ok := v.decoded()
		if !ok {
			break
		}
		v = decoded
		find(v, &found)
	}
	return found.replaceIn(text)
}

// longest is the length of the longest secret without its prefix.
const longest = id.Length + length

// form is a form of what is issued: a prefix, which stays, and what is masked.
type form struct{ whole, broken *regexp.Regexp }

// forms are those of tokens, codes and secrets: a kind's prefix and what follows it, even if it
// is cut off, and a session token, which is a JWT. A webhook secret may be in standard base64. In
// a text without its line breaks nothing but the length shows where a secret ends. Each form
// begins with a text, which makes the search fast.
var forms = []form{
	{regexp.MustCompile(`pk_(?:at|rt|ac|dc|cs|reg|ct|ses|req|brw)_()[A-Za-z0-9_+/=-]+`), regexp.MustCompile(`pk_(?:[ar]t_()[A-Za-z0-9_-]{1,69}|(?:ac|dc|cs|reg|ct|ses|req|brw)_()[A-Za-z0-9_-]{1,43})`)},
	{regexp.MustCompile(`whsec_()[A-Za-z0-9_+/=-]+`), regexp.MustCompile(`whsec_()[A-Za-z0-9_+/-]{1,43}=?`)},
	{regexp.MustCompile(`eyJ()[A-Za-z0-9_-]*\.[A-Za-z0-9_.-]+`), regexp.MustCompile(`eyJ()[A-Za-z0-9_-]*\.[A-Za-z0-9_-]+\.?[A-Za-z0-9_-]{0,86}`)},
}

// view is a text that was made of the text that is masked.
type view struct {
	text   string
	places []place // of its bytes in the text that is masked; nil: the two are the same
}

type place struct{ start, end int }

func (v view) place(i int) place {
	if v.places == nil {
		return place{i, i + 1}
	}
	return v.places[i]
}

// with returns a view with other texts in the place of some parts of the text.
func (v view) with(parts [][]int, replaced func(string) string) view {
	text, places, start := make([]byte, 0, len(v.text)), make([]place, 0, len(v.text)), 0
	for _, part := range append(parts, []int{len(v.text), len(v.text)}) {
		for i := start; i < part[0]; i++ {
			text, places = append(text, v.text[i]), append(places, v.place(i))
		}
		if start = part[1]; start == part[0] {
			break
		}
		at := place{v.place(part[0]).start, v.place(part[1] - 1).end}
		for _, c := range []byte(replaced(v.text[part[0]:part[1]])) {
			text, places = append(text, c), append(places, at)
		}
	}
	return view{string(text), places}
}

// joined returns the text without line breaks, and the spaces around them; false if it has none.
func (v view) joined() (view, bool) {
	var breaks [][]int
	for end := 0; ; {
		i := strings.IndexAny(v.text[end:], "\r\n")
		if i < 0 {
			break
		}
		start := end + i
		end = len(v.text) - len(strings.TrimLeft(v.text[start:], " \t\r\n"))
		breaks = append(breaks, []int{len(strings.TrimRight(v.text[:start], " \t")), end})
	}
	if breaks == nil {
		return v, false
	}
	return v.with(breaks, func(string) string { return "" }), true
}

// escape matches an escape of URLs, of JSON and programming languages, or of HTML.
var escape = regexp.MustCompile(`^(?:%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[nrt"'/\\]|&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});)`)

// decoded returns the text with its escapes decoded; false if it has none.
func (v view) decoded() (view, bool) {
	var found [][]int
	for start := 0; ; {
		i := strings.IndexAny(v.text[start:], `%\&`)
		if i < 0 {
			break
		}
		start += i
		if n := len(escape.FindString(v.text[start:])); n > 0 {
			found = append(found, []int{start, start + n})
			start += n - 1
		}
		start++
	}
	if found == nil {
		return v, false
	}
	return v.with(found, unescape), true
}

func unescape(escape string) string {
	switch {
	case escape[0] == '%':
		s, _ := url.PathUnescape(escape) // it has two hexadecimal digits
		return s
	case escape[0] == '&':
		return html.UnescapeString(escape)
	case escape == `\/`:
		return "/"
	}
	s, err := strconv.Unquote(`"` + escape + `"`)
	if err != nil { // \' and half a surrogate pair
		return escape[1:]
	}
	return s
}

// span is a part of the text that is masked.
type span struct {
	place
	prefix string // stays
}

type spans []span

// add adds the bytes from start to end of a view.
func (s *spans) add(v view, start, end int, prefix string) {
	*s = append(*s, span{place{v.place(start).start, v.place(end - 1).end}, prefix})
}

// addForm adds what matches a form.
func (s *spans) addForm(v view, form *regexp.Regexp) {
	for _, m := range form.FindAllStringSubmatchIndex(v.text, -1) {
		s.add(v, m[0], m[1], v.text[m[0]:max(m[2], m[len(m)-1])])
	}
}

// addUserCodes adds what has the form of a user code, in either case.
func (s *spans) addUserCodes(v view) {
	const half = 4
	for start := 0; ; start++ {
		i := strings.IndexByte(v.text[start:], '-')
		if i < 0 {
			return
		}
		start += i
		from, to := start-half, start+1+half
		if from >= 0 && to <= len(v.text) && (from == 0 || !isAlphanumeric(v.text[from-1])) && (to == len(v.text) || !isAlphanumeric(v.text[to])) {
			if _, err := NormalizeUserCode(v.text[from:to]); err == nil {
				s.add(v, from, to, "")
			}
		}
	}
}

func isAlphanumeric(c byte) bool {
	return 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// encodedPrefixes are the prefixes in base64, as far as they do not depend on what stands
// before and after them.
var encodedPrefixes = encodePrefixes()

func encodePrefixes() []string {
	var all []string
	for _, kind := range kinds {
		for before := range 3 {
			encoded := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), kind...))
			all = append(all, encoded[(before*8+5)/6:(before+len(kind))*8/6])
		}
	}
	return all
}

func isBase64(c byte) bool {
	return isAlphanumeric(c) || c == '+' || c == '/' || c == '-' || c == '_'
}

// basic matches what may be credentials of the scheme Basic, whose secret may have any form.
var basic = regexp.MustCompile(`(?i)\bbasic[\s:=]+([A-Za-z0-9+/_-]+)={0,2}`)

// addEncoded adds base64, of either alphabet, of texts with a kind's prefix, such as a client id
// and its secret. With a limit above 0 it ends after so many characters.
func (s *spans) addEncoded(v view, limit int) {
	for _, prefix := range encodedPrefixes {
		for start := 0; ; {
			i := strings.Index(v.text[start:], prefix)
			if i < 0 {
				break
			}
			i += start
			end := i + len(prefix)
			for end < len(v.text) && isBase64(v.text[end]) && (limit < 0 || end-i < len(prefix)+limit) {
				end++
			}
			start = end
			for limit < 0 && i > 0 && isBase64(v.text[i-1]) {
				i--
			}
			for range 2 {
				if end < len(v.text) && v.text[end] == '=' {
					end++
				}
			}
			s.add(v, i, end, "")
		}
	}
}

// addBasic adds the credentials of the scheme Basic.
func (s *spans) addBasic(v view) {
	if !strings.Contains(v.text, "asic") && !strings.Contains(v.text, "ASIC") {
		return // it is much faster
	}
	for _, m := range basic.FindAllStringSubmatchIndex(v.text, -1) {
		standard := strings.NewReplacer("-", "+", "_", "/").Replace(v.text[m[2]:m[3]])
		if credentials, err := base64.RawStdEncoding.DecodeString(standard); err == nil && strings.Contains(string(credentials), ":") {
			s.add(v, m[2], m[1], "")
		}
	}
}

// The form of a PKCE verifier (RFC 7636 section 4.1): at least so many characters of
// A-Z, a-z, 0-9, hyphens, dots, underscores and tildes.
const minVerifier = 43

// longWord is more letters and digits than a word, a name or a UUID has.
const longWord = 33

// addVerifiers adds what may be a PKCE verifier, and is not a long name with words: it follows
// the name of the parameter, has very many letters and digits in a row, or upper-case letters,
// lower-case letters and digits.
func (s *spans) addVerifiers(v view) {
	for start := 0; start < len(v.text); start++ {
		var word, longest int
		var upper, lower, digit bool
		end := start
	run:
		for ; end < len(v.text); end++ {
			word++
			switch c := v.text[end]; {
			case 'A' <= c && c <= 'Z':
				upper = true
			case 'a' <= c && c <= 'z':
				lower = true
			case '0' <= c && c <= '9':
				digit = true
			case c == '-' || c == '.' || c == '_' || c == '~':
				word = 0
			default:
				break run
			}
			longest = max(longest, word)
		}
		if end-start >= minVerifier && (longest >= longWord || upper && lower && digit || isNamedVerifier(v.text[:start])) {
			s.add(v, start, end, "")
		}
		start = end
	}
}

// isNamedVerifier reports whether a text ends with the name of the parameter.
func isNamedVerifier(before string) bool {
	return strings.HasSuffix(strings.TrimRight(before, `"'=: \`), "code_verifier")
}

// replaceIn puts the placeholder in the place of the spans.
func (s spans) replaceIn(text string) string {
	if len(s) == 0 {
		return text
	}
	slices.SortStableFunc(s, func(a, b span) int { return a.start - b.start })
	var masked strings.Builder
	end := 0
	for _, one := range s {
		if one.start >= end {
			masked.WriteString(text[end:one.start] + one.prefix + placeholder)
		}
		end = max(end, one.end)
	}
	return masked.String() + text[end:]
}

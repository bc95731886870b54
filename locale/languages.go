package locale

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/hostrequest"
)

// Texts are texts of one language, by key.
type Texts map[string]string

// Languages configures the languages of pages. The zero value is English alone.
type Languages struct {
	// Offered are the tags of the languages to choose from, such as "en", "de" or
	// "de-AT". The first one is for people who ask for none of them. Empty: English.
	Offered []string
	// Texts replace built-in texts and add languages, by the tag of an offered
	// language. Keys and placeholders are those of [English].
	Texts map[string]Texts
	// Choose returns the tag of the language for a request, for example from the profile of
	// the person who is signed in, whose session the request's context carries
	// (identity.SessionFrom). A tag such as de-CH finds de; one that
	// is not offered means the first offered language. Nil: the Accept-Language header
	// decides, and responses carry Vary: Accept-Language.
	//
	// Choose gets a copy of the request without its body.
	Choose func(r *http.Request) string
}

const english = "en"

// builtIn are the languages that come with the package.
var builtIn = map[string]Texts{english: englishTexts, "de": germanTexts}

// Book is the checked form of [Languages]. Make it with [NewBook]. It is safe for
// concurrent use.
type Book struct {
	offered   []string // canonical
	languages map[string]Language
	choose    func(r *http.Request) string
	matcher   language.Matcher
}

// NewBook checks the languages, and returns one error for all problems: each field is
// named with the reason and the remedy. It logs a warning for each language that lacks texts,
// with their keys; these texts are shown in English.
func NewBook(l Languages, scopes identity.ScopeCatalog, logger *slog.Logger) (*Book, error) {
	b := &Book{languages: make(map[string]Language), choose: l.Choose}
	own := make(map[string]Texts, len(l.Texts))
	var errs []error
	for _, tag := range slices.Sorted(maps.Keys(l.Texts)) {
		if _, twice := own[canonical(tag)]; twice {
			errs = append(errs, fmt.Errorf("Languages.Texts has %q in two spellings, of which one would be lost; merge them", tag))
		}
		own[canonical(tag)] = l.Texts[tag]
		errs = append(errs, checkTexts(tag, l.Texts[tag], scopes))
	}
	offered := l.Offered
	if len(offered) == 0 {
		offered = []string{english}
	}
	for i, tag := range offered {
		errs = append(errs, b.offer(fmt.Sprintf("Languages.Offered[%d]", i), tag, own))
	}
	for _, tag := range slices.Sorted(maps.Keys(l.Texts)) {
		if c := canonical(tag); c != english && !slices.ContainsFunc(b.offered, func(o string) bool { return slices.Contains(broader(o), c) }) {
			errs = append(errs, fmt.Errorf("Languages.Texts[%q] is never shown: no offered language uses it; add %q to Languages.Offered", tag, tag))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	b.matcher = matcher(b.offered)
	for i, tag := range b.offered {
		if keys := b.languages[tag].missing(scopes, i == 0); len(keys) > 0 {
			logger.Warn("language lacks texts; they are shown in English", "language", b.languages[tag].Tag(), "keys", keys)
		}
	}
	return b, nil
}

// offer adds a language with its texts, the closest first.
func (b *Book) offer(field, tag string, own map[string]Texts) error {
	c := canonical(tag)
	switch _, twice := b.languages[c]; {
	case !tagForm.MatchString(tag):
		return fmt.Errorf("%s %q is not a language tag by BCP 47; write it like en, de or de-AT", field, tag)
	case twice:
		return fmt.Errorf("%s %q is listed twice; remove one", field, tag)
	}
	language := Language{tag: tag}
	for _, c := range append(broader(c), english) { // English twice does no harm
		if texts, ok := own[c]; ok {
			language.layers = append(language.layers, layer{texts: texts, isEnglish: c == english})
		}
		if texts, ok := builtIn[c]; ok {
			language.layers = append(language.layers, layer{texts: texts, isBuiltIn: true, isEnglish: c == english})
		}
	}
	if !slices.ContainsFunc(broader(c), func(c string) bool { return own[c] != nil || builtIn[c] != nil }) {
		return fmt.Errorf("%s %q has no texts: English and German are built in; add Languages.Texts[%q]", field, tag, tag)
	}
	b.offered = append(b.offered, c)
	b.languages[c] = language
	return nil
}

// checkTexts holds texts to the keys and placeholders of English.
func checkTexts(tag string, texts Texts, scopes identity.ScopeCatalog) error {
	var errs []error
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		field := fmt.Sprintf("Languages.Texts[%q][%q]", tag, key)
		name, isScope := strings.CutPrefix(key, scopeKey)
		_, isKnown := scopes.Lookup(name)
		original, isText := englishTexts[key]
		switch {
		case isScope && !isKnown:
			errs = append(errs, fmt.Errorf("%s is for a scope that is not in the catalog; correct the name or add the scope to Config.Scopes", field))
		case !isScope && !isText && !strings.HasPrefix(key, linkKey) && !strings.HasPrefix(key, permissionKey):
			errs = append(errs, fmt.Errorf("%s is not a text of any page; locale.English returns all keys", field))
		case isText && !slices.Equal(placeholders(texts[key]), placeholders(original)):
			errs = append(errs, fmt.Errorf("%s must have the placeholders %v of %q and no others", field, placeholders(original), original))
		}
	}
	return errors.Join(errs...)
}

// Choose returns the language for a request.
func (b *Book) Choose(r *http.Request) Language {
	if b.choose != nil {
		return b.languages[b.closest(language.Make(b.choose(hostrequest.WithoutBody(r))))]
	}
	return b.languages[b.accepted(r.Header.Values("Accept-Language"))]
}

// VariesByHeader reports whether the Accept-Language header decides.
func (b *Book) VariesByHeader() bool { return b.choose == nil && len(b.offered) > 1 }

var tagForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)

// canonical returns the spelling under which a tag is kept: case does not matter.
func canonical(tag string) string { return strings.ToLower(tag) }

// broader returns a tag and what is left of it without its last parts: de-at, de.
func broader(tag string) []string {
	all := []string{tag}
	for i := strings.LastIndexByte(tag, '-'); i > 0; i = strings.LastIndexByte(tag, '-') {
		tag = tag[:i]
		all = append(all, tag)
	}
	return all
}

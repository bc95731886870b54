package reference

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxSearch is how many bytes of a search are looked for.
const maxSearch = 200

// searched returns the search text of a request; empty shows everything.
func searched(r *http.Request) string {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(query) > maxSearch || !utf8.ValidString(query) {
		return ""
	}
	return query
}

// matching returns the operations and shapes that contain all the words, ignoring case, in
// their sections. Empty sections are left out. Without words it returns all sections.
func matching(sections []section, words []string) (found []section, count int) {
	for _, s := range sections {
		s.Operations = slices.DeleteFunc(slices.Clone(s.Operations), func(o operationView) bool {
			texts := []string{o.ID, o.Method, o.Path, o.Summary, o.Text, s.Title}
			for _, w := range o.Needs {
				texts = append(texts, w.Name, w.Scopes)
			}
			return !hasAll(words, texts...)
		})
		s.Shapes = slices.DeleteFunc(slices.Clone(s.Shapes), func(o shapeView) bool {
			return !hasAll(words, o.Name, o.Text)
		})
		if matches := len(s.Operations) + len(s.Shapes); matches > 0 {
			found, count = append(found, s), count+matches
		}
	}
	return found, count
}

func hasAll(words []string, texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, strings.ToLower(word)) })
}

package appdata

import (
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/internal/text"
)

// trimmed is options without the space around them, as they are judged and kept.
func trimmed(options []string) []string {
	all := make([]string, len(options))
	for i, option := range options {
		all[i] = strings.TrimSpace(option)
	}
	return all
}

// areChoices judges options that are trimmed. They differ when their characters do:
// letter case counts, and so does how an accent is composed.
func areChoices(options []string) bool {
	seen := make(map[string]bool, len(options))
	for _, option := range options {
		if option == "" || utf8.RuneCountInString(option) > MaxChoice || !text.IsStorable(option) {
			return false
		}
		seen[option] = true
	}
	return len(options) > 0 && len(options) <= MaxChoices && len(seen) == len(options)
}

package appdata

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/internal/text"
)

// Choices are the options of a CHOICE. They are trimmed before they are checked and
// stored.
type Choices []string

// UnmarshalJSON implements json.Unmarshaler. A value that is not an array of strings
// decodes to no options: the error for it is INVALID_CHOICES, as for an empty array.
func (c *Choices) UnmarshalJSON(data []byte) error {
	var options []string
	if json.Unmarshal(data, &options) != nil {
		options = nil
	}
	*c = options
	return nil
}

func (c Choices) trimmed() []string {
	all := make([]string, len(c))
	for i, option := range c {
		all[i] = strings.TrimSpace(option)
	}
	return all
}

// areChoices checks options that are trimmed. They differ when their characters do:
// letter case counts, and so does how an accent is composed.
func areChoices(options []string) bool {
	seen := make(map[string]bool, len(options))
	for _, option := range options {
		if option == "" || utf8.RuneCountInString(option) > maxChoice || !text.IsStorable(option) {
			return false
		}
		seen[option] = true
	}
	return len(options) > 0 && len(options) <= MaxChoices && len(seen) == len(options)
}

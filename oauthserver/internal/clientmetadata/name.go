package clientmetadata

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/internal/text"
)

// MaxName is the maximum length of a client's name, in characters.
const MaxName = 120

// NameProblem returns what is wrong with a name, such as "must have 1 to 120 characters". It is
// empty if the name can be shown to people: one line of 1 to [MaxName] characters, at least one
// of which is visible, without characters that change how the text around the name reads.
func NameProblem(name string) string {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > MaxName {
		return fmt.Sprintf("must have 1 to %d characters", MaxName)
	}
	if problem := text.LineProblem(name); problem != "" {
		return problem
	}
	if !text.HasVisible(name) {
		return "must have at least one visible character"
	}
	return ""
}

package clientmetadata

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/internal/text"
)

// MaxName is the maximum length of a client's name, in characters.
const MaxName = 120

// CheckName returns nil if the name can be shown to people: one line of 1 to [MaxName]
// characters, at least one of which is visible, without characters that change how the text
// around the name reads. Otherwise its error can follow the name of a field.
func CheckName(name string) error {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > MaxName {
		return fmt.Errorf("must have 1 to %d characters", MaxName)
	}
	if err := text.CheckLine(name); err != nil {
		return err
	}
	if !text.HasVisible(name) {
		return errors.New("must have at least one visible character")
	}
	return nil
}

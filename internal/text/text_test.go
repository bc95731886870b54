package text_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/internal/text"
)

func TestChecks(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct{ storable, printable, visible bool }{
		"":             {true, true, true},
		"abc~!":        {true, true, true},
		"a b":          {true, true, false},
		" ":            {true, true, false},
		"tab\t":        {true, false, false},
		"line\n":       {true, false, false},
		"\x7f":         {true, false, false},
		"Zürich":       {true, false, false},
		"nul\x00":      {false, false, false},
		"\xff":         {false, false, false},
		"\xed\xa0\x80": {false, false, false}, // a surrogate
	} {
		if got := text.IsStorable(s); got != want.storable {
			t.Errorf("IsStorable(%q) = %v", s, got)
		}
		if got := text.IsPrintable(s); got != want.printable {
			t.Errorf("IsPrintable(%q) = %v", s, got)
		}
		if got := text.IsVisible(s); got != want.visible {
			t.Errorf("IsVisible(%q) = %v", s, got)
		}
	}
}

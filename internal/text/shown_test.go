package text_test

import (
	"testing"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/internal/text"
)

// CON-15: which characters a text that people see may have.
func TestShown_CON15(t *testing.T) {
	t.Parallel()
	type test struct {
		line, lines bool   // whether it is allowed
		shown       string // without what is not; empty: unchanged
	}
	fine := test{line: true, lines: true}
	for s, want := range map[string]test{
		"": fine, "Corner Bakery": fine, "Zürich  & Söhne…": fine, "会計": fine, "\u00a0\u3000": fine, "\ufffd": fine,
		// joiners, directional marks and variation selectors
		"می\u200cخواهم": fine, "\U0001f469\u200d\U0001f4bb": fine, "a\u200e\u200f\u061c": fine, "\u2764\ufe0f\ufe0e": fine, "\u8fba\U000e0100": fine, "\u182d\u180b": fine,
		"\u0600\u06dd":   fine, // visible, although they are format characters
		"\U0001fae9":     fine, // younger than the tables of some programs
		"a\nb":           {lines: true, shown: "a b"},
		"a\r\nb":         {lines: true, shown: "a  b"},
		"a\u2028\u2029b": {lines: true, shown: "a  b"},
		"a\u0085b":       {shown: "ab"},
		"a\tb":           {shown: "a b"},
		"a\x00\x1b[31mb": {shown: "a[31mb"},
		"a\x7f\u009bb":   {shown: "ab"},
		// embeddings, overrides and isolates
		"a\u202a\u202b\u202c\u202d\u202eb": {shown: "ab"}, "a\u2066\u2067\u2068\u2069b": {shown: "ab"}, "\u206a\u206f": {shown: "-"},
		// of no width
		"a\u200bb": {shown: "ab"}, "a\u2060\u2061\u2064b": {shown: "ab"}, "\ufeffa": {shown: "a"}, "a\u00adb": {shown: "ab"}, "a\u034fb": {shown: "ab"},
		"a\u115f\u1160\u3164\uffa0b": {shown: "ab"}, "a\u180eb": {shown: "ab"}, "a\U000e0061b": {shown: "ab"}, "a\ufff9\ufffbb": {shown: "ab"},
		"a\ue000b": {shown: "ab"}, "a\xffb": {shown: "a\ufffdb"},
	} {
		if problem := text.LineProblem(s); (problem == "") != want.line {
			t.Errorf("LineProblem(%+q): %v", s, problem)
		}
		if problem := text.LinesProblem(s); (problem == "") != want.lines {
			t.Errorf("LinesProblem(%+q): %v", s, problem)
		}
		shown := want.shown
		switch shown {
		case "":
			shown = s
		case "-":
			shown = ""
		}
		if got := text.Line(s); got != shown {
			t.Errorf("Line(%+q) = %+q, want %+q", s, got, shown)
		}
	}
}

// CON-15: what Line returns has no LineProblem.
func FuzzLine_CON15(f *testing.F) {
	for _, seed := range []string{"", "a\u202eb", "\xff\xfe", "\x00\n", "\U000e0041"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := text.Line(s)
		if problem := text.LineProblem(shown); problem != "" {
			t.Fatalf("Line(%+q) = %+q: %v", s, shown, problem)
		}
		if utf8.ValidString(s) && text.LineProblem(s) == "" && shown != s {
			t.Fatalf("%+q became %+q", s, shown)
		}
	})
}

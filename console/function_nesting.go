package console

import (
	"slices"
	"strings"
)

const (
	// maxNesting is how many constructs of a source may be open at a time. Parsers
	// recurse: for 64 KiB of "a=>a=>a=>…" their stack has hundreds of megabytes, and
	// for four times as much there is no room in Go.
	maxNesting = 500
	// maxRow is how many members, calls or commas may follow each other: a.b.c.d…
	maxRow = 2000
)

// tooDeep returns the line in which JavaScript is nested too deeply for a parser that
// is to stay small and fast, or 0.
//
// It does not parse. It tells strings, comments, templates and regular expressions
// from code, counts brackets, and within them operators and statements that wait for
// what comes after them. Where it cannot know it guesses; a wrong guess costs the
// parser some time and memory, which MaxFunctionSource keeps in bounds.
func tooDeep(source string) (line int) {
	s := nestingScanner{source: source, levels: []nestingLevel{{}}}
	for s.at < len(source) {
		s.next()
		top := s.top()
		if s.depth > maxNesting || top.row > maxRow || top.commas > maxRow {
			return strings.Count(source[:min(s.at, len(source))], "\n") + 1
		}
	}
	return 0
}

// nestingLevel is what stands between two brackets.
type nestingLevel struct {
	opener   byte // 0: the whole source; '`': the code in a template
	isHeader bool // the parentheses of if, for, while and with
	isIndex  bool // the brackets of a[b]
	waiting  int  // operators and statements whose last part is still to come
	row      int  // members and calls in a row
	commas   int
}

type nestingScanner struct {
	source string
	at     int
	levels []nestingLevel
	depth  int // levels, and what waits in all of them

	isOperand bool   // the token before ends an operand: "/" divides
	isMember  bool   // the token before is a dot: what follows is a name
	word      string // the token before, when it is a word
}

func (s *nestingScanner) top() *nestingLevel { return &s.levels[len(s.levels)-1] }

// next moves past a token.
func (s *nestingScanner) next() {
	rest := s.source[s.at:]
	c := rest[0]
	switch {
	case c <= ' ':
		s.at++
		return
	case strings.HasPrefix(rest, "//"):
		s.skipTo("\n")
		return
	case strings.HasPrefix(rest, "/*"):
		s.at += len("/*")
		s.skipTo("*/")
		return
	case isWordByte(c):
		s.takeWord()
		return
	case c == '"' || c == '\'':
		s.operand()
		s.skipQuoted(c)
	case c == '`':
		s.at++
		s.takeTemplate()
	case c == '/' && !s.isOperand:
		s.operand()
		s.skipQuoted('/')
	case c == '(' || c == '[' || c == '{':
		s.open(c)
	case c == ')' || c == ']' || c == '}':
		s.close(c)
	default:
		s.takeOperator(rest)
		return
	}
	s.word, s.isMember = "", false
}

// skipTo moves behind a text, or to the end.
func (s *nestingScanner) skipTo(text string) {
	if i := strings.Index(s.source[s.at:], text); i >= 0 {
		s.at += i + len(text)
	} else {
		s.at = len(s.source)
	}
}

// skipQuoted moves behind a string or a regular expression, which end with their line
// at the latest.
func (s *nestingScanner) skipQuoted(quote byte) {
	inClass := false // of a regular expression: [/]
	for s.at++; s.at < len(s.source); s.at++ {
		switch c := s.source[s.at]; {
		case c == '\\':
			s.at++
		case c == '\n', c == quote && !inClass:
			s.at++
			return
		case quote == '/' && (c == '[' || c == ']'):
			inClass = c == '['
		}
	}
}

// takeTemplate moves to the end of a template, or into its next code.
func (s *nestingScanner) takeTemplate() {
	for ; s.at < len(s.source); s.at++ {
		switch {
		case s.source[s.at] == '\\':
			s.at++
		case s.source[s.at] == '`':
			s.at++
			s.top().row++ // a`b`
			s.isOperand = true
			return
		case strings.HasPrefix(s.source[s.at:], "${"):
			s.at++
			s.open('`')
			return
		}
	}
}

func (s *nestingScanner) open(c byte) {
	if s.isOperand && c != '{' {
		s.top().row++ // a call or an index
	}
	isHeader := slices.Contains([]string{"if", "for", "while", "with"}, s.word)
	s.levels = append(s.levels, nestingLevel{opener: c, isHeader: isHeader, isIndex: c == '[' && s.isOperand})
	s.depth++
	s.at++
	s.isOperand = false
}

func (s *nestingScanner) close(c byte) {
	closed := *s.top()
	s.at++
	s.isOperand = !closed.isHeader
	if len(s.levels) == 1 {
		return // more are closed than were opened: the parser will say so
	}
	s.depth -= 1 + closed.waiting
	s.levels = s.levels[:len(s.levels)-1]
	if closed.opener == '`' && c == '}' {
		s.takeTemplate()
	}
}

// wait counts a construct that is open until what it waits for has come.
func (s *nestingScanner) wait() {
	s.top().waiting++
	s.depth++
}

// end is the end of a statement: nothing waits any longer.
func (s *nestingScanner) end() {
	top := s.top()
	s.depth -= top.waiting
	top.waiting, top.row, top.commas = 0, 0, 0
}

// operand is the beginning of one. After another operand it begins a statement: the
// line before did without its semicolon.
func (s *nestingScanner) operand() {
	if s.isOperand {
		s.end()
	}
	s.isOperand = true
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80 || strings.IndexByte(`_$#@\`, c) >= 0
}

func (s *nestingScanner) takeWord() {
	from := s.at
	for s.at < len(s.source) && isWordByte(s.source[s.at]) {
		s.at++
	}
	word, isMember := s.source[from:s.at], s.isMember
	s.word, s.isMember = word, false
	if isMember {
		s.word, s.isOperand = "", true
		return
	}
	switch word {
	case "in", "of", "instanceof", "else":
		s.isOperand = false
	case "new", "typeof", "void", "delete", "await", "yield", "async", "extends":
		s.wait()
		s.isOperand = false
	case "if", "for", "while", "with", "do":
		s.operand()
		s.wait()
		s.isOperand = false
	case "case", "default":
		s.end()
		s.isOperand = false
	case "return", "throw", "function", "class":
		s.operand()
		s.isOperand = false
	default:
		s.operand()
	}
}

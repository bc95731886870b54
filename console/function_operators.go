package console

import (
	"slices"
	"strings"
)

// operators are those of more than one character, longer ones first.
var operators = []string{
	">>>=", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=",
	"=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**",
}

// comparisons end with "=" and assign nothing.
var comparisons = []string{"===", "!==", "==", "!=", "<=", ">="}

func (s *nestingScanner) takeOperator(rest string) {
	operator := rest[:1]
	if i := slices.IndexFunc(operators, func(o string) bool { return strings.HasPrefix(rest, o) }); i >= 0 {
		operator = operators[i]
	}
	if operator == "?." && len(rest) > 2 && '0' <= rest[2] && rest[2] <= '9' {
		operator = "?" // a?.5:1
	}
	s.at += len(operator)
	s.word, s.isMember = "", false
	top := s.top()
	switch operator {
	case ".", "?.":
		top.row++
		s.isMember = true
		return
	case ";":
		s.end()
	case ",":
		s.comma()
	case ":":
		top.commas = 0 // of an object, whose commas are no operators
		s.wait()
	case "...":
	case "++", "--":
		if !s.isOperand {
			s.wait()
		}
		return
	default:
		assigns := strings.HasSuffix(operator, "=") && !slices.Contains(comparisons, operator)
		if !s.isOperand || assigns || operator == "=>" || operator == "?" || operator == "**" {
			s.wait()
		}
		top.row = 0
	}
	s.isOperand = false
}

// comma ends an expression. Those of an array are as many as it has elements.
func (s *nestingScanner) comma() {
	top := s.top()
	s.depth -= top.waiting
	top.waiting, top.row = 0, 0
	if top.opener != '[' || top.isIndex {
		top.commas++
	}
}

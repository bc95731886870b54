package jscheck_test

import (
	"strings"

	"github.com/partnerkit/partnerkit/console"
)

// nests are ways to nest: what is repeated before, what is inside, what is repeated
// behind.
var nests = map[string][3]string{
	"parentheses": {"(", "1", ")"}, "arrays": {"[", "", "]"}, "blocks": {"{", "", "}"}, "objects": {"({a:", "1", "})"}, "templates": {"`${", "1", "}`"},
	"calls": {"a(", "", ")"}, "functions": {"(function(){", "", "})"}, "classes": {"(class{[", "1", "]})"}, "arrows": {"a=>", "1", ""}, "arrows with bodies": {"a=>{", "", "}"},
	"async arrows": {"async a=>", "1", ""}, "defaults": {"(a=", "1", ")=>1"}, "parameters": {"({a=", "1", "})=>1"}, "negations": {"!", "1", ""}, "signs": {"- ", "1", ""},
	"typeof": {"typeof ", "a", ""}, "new": {"new ", "a", ""}, "await": {"await ", "1", ""}, "conditions": {"a?", "1", ":1"}, "else of conditions": {"", "a", "?a:a"},
	"assignments": {"a=", "1", ""}, "patterns": {"[", "a", "]=1"}, "powers": {"a**", "1", ""}, "if": {"if(a)", ";", ""}, "for": {"for(;;)", ";", ""}, "while": {"while(a)", ";", ""},
	"do": {"do ", ";", " while(1)"}, "try": {"try{", "", "}finally{}"}, "switch": {"switch(a){case 0:", "", "}"}, "classes that extend": {"class a extends ", "b{}", "{}"},
	"members": {"", "a", ".a"}, "optional members": {"", "a", "?.a"}, "elements": {"", "a", "[0]"}, "calls of calls": {"", "a", "()"}, "tags": {"", "a", "``"}, "commas": {"", "a", ",a"},
	"commas in parentheses": {"(a,", "1", ")"}, "spreads": {"[...", "a", "]"}, "imports": {"import(", "'a'", ")"}, "hidden by strings": {"['])}',", "", "]"},
	"hidden by regular expressions": {"[/]/,/[/\\]]/,", "", "]"}, "hidden by comments": {"[/*]*/", "", "]"}, "hidden by lines": {"[//]\n", "", "]"},
}

// hostile are the worst sources that we know, and others that a parser may stumble on.
func hostile() map[string]string {
	sources := map[string]string{"misleading": misleading, "slow": slow}
	for name, nest := range nests {
		times := (console.MaxFunctionSource - 100) / (len(nest[0]) + len(nest[2]))
		sources[name] = handler + ";\n" + strings.Repeat(nest[0], times) + nest[1] + strings.Repeat(nest[2], times)
		sources[name+" unclosed"] = strings.Repeat(nest[0]+nest[2], times)
	}
	full := func(before, repeated, after string) string {
		return before + strings.Repeat(repeated, (console.MaxFunctionSource-len(before)-len(after)-100)/len(repeated)) + after + handler
	}
	for name, source := range map[string]string{
		"names in blocks": full(strings.Repeat("{", 3000), "a;", strings.Repeat("}", 3000)), "names in arrows": full(strings.Repeat("a=>", 1000)+"{", "a;", "};"),
		"one name": full("", "function a(){}", ""), "sums of strings": full("a=''", "+'a'", ";"), "sums": full("a=1", "+1", ";"), "quotients": full("a=1", "/1", ";"),
		"statements": full("", "a;", ""), "elements": full("a=[", "a,", "];"), "exports": full("let a;export{a", ",a as a", "};"), "a string": full("'", "a", "';"),
		"a template": full("`", "${'a'}", "`;"), "a comment": full("/*", "*", "*/;"), "lines": full("", "\n", ""), "an unterminated string": full("'", "\\\n", ""),
		"an unterminated template": full("`", "a", ""), "an unterminated comment": full("/*", "a", ""), "an unterminated expression": full("/", "[", ""), "bad UTF-8": full("", "\xff", ""),
	} {
		sources[name] = source
	}
	return sources
}

package console_test

import (
	"net/http"
	"strings"
	"testing"

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

// CON-06: what would cost a parser its stack, or minutes, is refused before it.
func TestFunctionNesting_CON06(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	path, _ := d.newApp(confidentialApp)
	for name, nest := range nests {
		times := (console.MaxFunctionSource - 100) / (len(nest[0]) + len(nest[2]))
		source := "export default 1;\n" + strings.Repeat(nest[0], times) + nest[1] + strings.Repeat(nest[2], times)
		refused := d.ann("POST "+path+"/functions", function("f", source))
		refused.what = name
		refused.wantCode(http.StatusBadRequest, "FUNCTION_SOURCE_NO_HANDLER")
		if !strings.HasSuffix(refused.text("message"), ": this is nested too deeply") {
			t.Errorf("%s: %s", name, refused.text("message"))
		}
		few := strings.Repeat(nest[0], 100) + nest[1] + strings.Repeat(nest[2], 100) + ";\n"
		if line := console.TooDeep(strings.Repeat(few, 50)); line != 0 {
			t.Errorf("%s: a hundred are too deep in line %d", name, line)
		}
	}
}

// A long source is not a deep one.
func TestFunctionLength(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"a = b\n", "a()\n", "a.b.c = d.e(f)[g]\n", "if (a) b\n", "if (a) b; else c\n", "if (a) { b } else if (c) { d }\n", "for (const a of b) c(a)\n", "while (a) b++\n",
		"case 1:\n", "const a = b ? c : d\n", "var a = 1, b = 2\n", "a: 1,\n", "function f() { return a => b }\n", "class A extends B { c = 1 }\n",
		"do { a } while (b)\n", "return !a\n", "a = typeof b\n", "x => y\n", "a && b || c\n", "a = `b${c}`\n", "/a/.test(b)\n", "a = b / c / d\n", "a\n++b\n", "label: for (;;) break label\n",
		"export const a = async () => await b\n", "if (/[(]/.test(a)) b()\n", "a?.5:1\n", "a = {b, c: {d}, ...e}\n", "throw new E('x')\n", "try { a } catch { b }\n",
	} {
		for _, inside := range []string{"", "[", "{"} {
			if got := console.TooDeep(inside + strings.Repeat(line, 5000)); got != 0 {
				t.Errorf("%q after %q is too deep in line %d", line, inside, got)
			}
		}
	}
	for _, element := range []string{"1,", "'a',\n", "[1, 2],\n", "{a, b: [c]},\n", "(a, b),\n"} {
		if got := console.TooDeep("[" + strings.Repeat(element, 5000)); got != 0 {
			t.Errorf("an array of %q is too deep in line %d", element, got)
		}
	}
}

func FuzzFunctionNesting(f *testing.F) {
	for _, test := range functionSources {
		f.Add(test.source)
	}
	for _, nest := range nests {
		f.Add(strings.Join(nest[:], ""))
	}
	f.Fuzz(func(t *testing.T, source string) {
		line := console.TooDeep(source)
		if line < 0 || line > strings.Count(source, "\n")+1 || line > 0 && len(source) < 500 {
			t.Fatalf("line %d", line)
		}
	})
}

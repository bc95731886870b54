package console_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/id"
)

// function is the body that adds one.
func function(name, source string) string {
	body, err := json.Marshal(map[string]string{"name": name, "source": source})
	must(err)
	return string(body)
}

// CON-02: a function is added, listed and deleted.
func TestFunctions_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	const source = "export async function handler(event) {\n  return { total: event.total * 1.2 }\n}\n"
	added := d.ann("POST "+path+"/functions", function("tax", source)).want(http.StatusCreated)
	if !id.Valid(id.Function, added.text("id")) {
		t.Errorf("id %q", added.text("id"))
	}
	added.wantTime("createdAt", 0)
	want := map[string]any{"id": added.text("id"), "name": "tax", "source": source, "createdAt": added.text("createdAt")}
	added.wantBody(want)
	one := path + "/functions/" + added.text("id")
	d.ann("GET " + one).want(http.StatusOK).wantBody(want)
	if diff := cmp.Diff([]map[string]any{want}, d.ann("GET "+path+"/functions").data()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	other, _ := d.newApp(confidentialApp)
	d.ann("GET " + other + "/functions/" + added.text("id")).want(http.StatusNotFound)
	d.ann("DELETE " + other + "/functions/" + added.text("id")).want(http.StatusNotFound)
	d.ann("DELETE " + one).want(http.StatusNoContent)
	d.ann("DELETE " + one).want(http.StatusNotFound)
	d.ann("GET " + one).want(http.StatusNotFound)

	d.ann("POST "+path+"/functions", `{}`).wantInvalid("name must not be empty")
	d.ann("POST "+path+"/functions", function(strings.Repeat("ü", 65)+"\n", strings.Repeat("/", console.MaxFunctionSource+1))).
		wantInvalid("name must have at most 64 characters", "name must not have the character U+000A, which cannot be seen", "source must have at most 65536 bytes")
	d.ann("POST "+path+"/functions", function(strings.Repeat("ü", 64), "export default f"+strings.Repeat("\n", console.MaxFunctionSource-16))).want(http.StatusCreated)
	d.ann("POST "+path+"/functions", function("large", strings.Repeat(" ", 10<<20))).want(http.StatusRequestEntityTooLarge)
}

// functionSources are sources, and why they are refused; empty: they are not.
var functionSources = []struct{ source, why string }{
	{"export function handler() {}", ""},
	{"export async function handler(event) { await 0 }", ""},
	{"export function* handler() { yield 1 }", ""},
	{"export const handler = async (event) => ({ ...event })", ""},
	{"export let handler", ""},
	{"export class handler {}", ""},
	{"export const { handler } = make(); function make() { return {} }", ""},
	{"export const [, handler] = []", ""},
	{"const f = () => 1\nexport { f as handler }", ""},
	{`const f = () => 1; export { f as "handler" }`, ""},
	{"export function h\\u0061ndler() {}", ""},
	{"export default function () {}", ""},
	{"export default class {}", ""},
	{"export default () => 1", ""},
	{"export default f", ""}, // its value is known when it runs
	{"const f = g; export { f as default }", ""},
	{"export { handler } from './other.js'", ""},
	{"export { default } from './other.js'", ""},
	{"export * as handler from './other.js'", ""},
	{"import { f } from 'somewhere'\nexport { f as handler }", ""},
	{"import data from './data.json' with { type: 'json' }\nexport default () => data", ""},
	{"#!/usr/bin/env node\nexport default f", ""},
	{"\ufeffexport default f", ""},
	{"// export nothing\nexport default f // export", ""},
	{"const value = await fetch('https://x.example'); export default () => value", ""},
	{"export default import.meta.url", ""},
	{"export default class { #a = 1; static { this.b ??= 2n ** 3n } get a() { return this.#a } }", ""},
	{"export default /[/]]*\"/u.test('`') / 2", ""},
	{"export default `a${`b${f}`}`", ""},
	{"/*! license */export default a=>{for(const b of a)if(b)c:for(;;)break c;return a?.b?.[0]??1}", ""},
	{"//# sourceMappingURL=/etc/passwd\nexport default f", ""},
	{"export default require('fs')", ""}, // a call like any other

	{"export default 1", "the default export is not a function"},
	{"const f = 1; export { f as default }", "the default export is not a function"},
	{"export const handler = 7", "the export named handler is not a function"},

	{"", noExport},
	{" \n", noExport},
	{"// export default 1", noExport},
	{"/* export function handler() {} */", noExport},
	{"const text = 'export default 1'", noExport},
	{"const text = `\nexport default 1\n`", noExport},
	{"const re = /export default 1/", noExport},
	{"function handler() {}", noExport},
	{"const handler = 1; export {}", noExport},
	{"export const Handler = 1", noExport},
	{"export const handlers = 1", noExport},
	{"export { handler as other } from './other.js'", noExport},
	{"export * from './other.js'", noExport},
	{"import handler from './other.js'", noExport},
	{"import * as handler from './other.js'", noExport},
	{"module.exports = { handler() {} }", noExport},
	{"module.exports.handler = () => 1", noExport},
	{"exports.handler = () => 1", noExport},
	{"exports.default = 1", noExport},
	{"define(() => ({ handler: 1 }))", noExport},
	{"[]", noExport},
	{`"export default 1"`, noExport},

	{"export function handler() {", `line 1, column 28: Unexpected end of file`},
	{"export default {\n  a: 1,\n  b: 2;\n}", `line 3, column 7: Expected "}" but found ";"`},
	{`{"handler": 1}`, `line 1, column 11: Expected ";" but found ":"`}, // JSON
	{`{"name": "tax", "type": "module"}`, `line 1, column 8: Expected ";" but found ":"`},
	{"export const handler = (event: Event) => event", `line 1, column 30: Expected ")" but found ":"`}, // TypeScript
	{"export function handler(event): void {}", `line 1, column 31: Expected "{" but found ":"`},
	{"interface Event {}\nexport default 1", `line 1, column 11: Expected ";" but found "Event"`},
	{"export type handler = string", `line 1, column 8: Unexpected "type"`},
	{"export enum handler {}", `line 1, column 8: Unexpected "enum"`},
	{"export default 1 as number", `line 1, column 18: Expected ";" but found "as"`},
	{"export default <div/>", `line 1, column 16: The JSX syntax extension is not currently enabled`}, // JSX
	{"export const handler = () => <>x</>", `line 1, column 30: The JSX syntax extension is not currently enabled`},
	{"export = handler", `line 1, column 8: Unexpected "="`},
	{"export { handler }", `line 1, column 10: "handler" is not declared in this file`}, // early errors
	{"export const handler = 1; export function handler() {}", `line 1, column 43: Multiple exports with the same name "handler"`},
	{"export default 1; export default 2", `line 1, column 26: Multiple exports with the same name "default"`},
	{"export default 1; with (a) {}", `line 1, column 19: With statements cannot be used in an ECMAScript module`},
	{"export default 1; delete a", `line 1, column 26: Delete of a bare identifier cannot be used in an ECMAScript module`},
	{"export default 010", `line 1, column 16: Legacy octal literals cannot be used in an ECMAScript module`},
	{"export default 1; return 2", `line 1, column 19: Top-level return cannot be used inside an ECMAScript module`},
	{"if (true) { export default 1 }", `line 1, column 13: Unexpected "export"`},
	{"export default a.#b", `line 1, column 18: Private name "#b" must be declared in an enclosing class`},
	{"export default 1 <!-- x", `line 1, column 18: Legacy HTML single-line comments are not allowed in ECMAScript modules`},
	{"\x7fELF\x02\x01\x01 export default 1", `line 1, column 1: Unexpected "\x7f"`}, // binary
	{"PK\x03\x04", `line 1, column 3: Expected ";" but found "\x03"`},
	{"<html></html>", `line 1, column 1: The JSX syntax extension is not currently enabled`},
	{"FROM scratch", `line 1, column 6: Expected ";" but found "scratch"`},
}

const noExport = "there is no export named handler, and no default one"

// CON-06: a real parser decides.
func TestFunctionSource_CON06(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	for _, test := range functionSources {
		d.clock.Advance(time.Minute) // CON-14: an organization has few checks a minute
		got := d.ann("POST "+path+"/functions", function("f", test.source))
		if test.why == "" {
			if got.want(http.StatusCreated).text("source") != test.source {
				t.Errorf("%q came back as %s", test.source, got.Body)
			}
			d.ann("DELETE " + path + "/functions/" + got.text("id")).want(http.StatusNoContent)
			continue
		}
		got.Request = test.source
		got.wantCode(http.StatusBadRequest, "FUNCTION_SOURCE_NO_HANDLER")
		if why := got.body["params"].(map[string]any)["p0"]; why != test.why {
			t.Errorf("%q: %q, want %q", test.source, why, test.why)
		}
		if want := "the source is not an ES module that exports a handler: " + test.why; got.text("message") != want {
			t.Errorf("%q: %q", test.source, got.text("message"))
		}
	}
}

// CON-06: parsing looks at no file. A configuration that would break it, and a module
// that would be found, are both in the working directory.
func TestFunctionReadsNoFiles_CON06(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	for name, text := range map[string]string{
		"tsconfig.json": "{ broken", "jsconfig.json": "{ broken", "package.json": "{ broken", ".pnp.cjs": "broken(", "other.js": "export const handler = (",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	d.ann("POST "+path+"/functions", function("f", "import './other.js'; export { handler } from './other.js'")).want(http.StatusCreated)
	d.ann("POST "+path+"/functions", function("f", "export * from './other.js'")).wantCode(http.StatusBadRequest, "FUNCTION_SOURCE_NO_HANDLER")
	left, err := os.ReadDir(directory)
	if err != nil || len(left) != 5 {
		t.Errorf("%d files, %v", len(left), err)
	}
}

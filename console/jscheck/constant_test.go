package jscheck_test

import (
	"errors"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/jscheck"
)

// CON-06: an exported constant is not a handler.
func TestConstant_CON06(t *testing.T) {
	t.Parallel()
	const (
		byDefault = "the default export is not a function"
		named     = "the export named handler is not a function"
	)
	for source, want := range map[string]string{
		"export default 5": byDefault, "export default -.5": byDefault, "export default 1e100": byDefault, "export default 1e-7": byDefault, "export default 10n": byDefault, "export default 0x10": byDefault,
		"export default 'a;\\'\"b'": byDefault, "export default `a\"\n${'b'}`": byDefault, "export default ''": byDefault, "export default '\\u2028\\0'": byDefault,
		"export default true": byDefault, "export default false": byDefault, "export default null": byDefault, "export default undefined": byDefault, "export default void 0": byDefault,
		"export default {}": byDefault, "export default []": byDefault, "export default 1 + 2": byDefault, "export default (0, 'a')": byDefault, "export default typeof 1": byDefault, "export default this": byDefault,
		"const a = 5; export default a": byDefault, "const a = 5; export { a as default }": byDefault, "await import('a'); export default 5": byDefault, "#!/a\nexport default 5": byDefault,
		"export default 5; require('a'); export * from 'b'": byDefault, "export default 5; import b from 'b' with { type: 'json' }; b()": byDefault, "let a = 1; export default 5, b": `line 1, column 28: Expected ";" but found ","`,
		"export const handler = 5": named, "const a = 'x'; export { a as handler }": named, "export const handler = null; export default 5": named,

		"export const handler = 5; export default () => 1": "", "export default 5; export function handler() {}": "",
		"export default a": "", "export default a()": "", "export default a.b": "", "export default 'a'.b": "", "export default 'a'.b(1)": "", "export default {}.a": "", "export default [].a": "", "export default 1 .a": "",
		"export default { a() {} }.a": "", "export default { fetch() {} }": "", "export default 5 in a": "", "export default a`b`": "", "export default `${a}`": "", "export default `a``b`": "", "export default a ? b : 5": "",
		"export default a && 5": "", "export default a = 5": "", "export default !a": "", "export default new a": "", "export default await a": "", "export default null ?? a": "", "export default void a": "",
		"export default class {}": "", "export default class A {}": "", "export default function () {}": "", "export default function a() {}": "", "export default async function* () {}": "", "export default async a => 1": "",
		"export let handler = 5; handler = () => 1": "", "export var handler; handler = () => 1": "", "let { handler } = a; export { handler }": "", "import a from 'a'; export default a": "",
		"export { handler } from 'a'": "", "export { default } from 'a'": "", "export { a as default }; import a from 'a'": "", "export * as handler from 'a'": "",
	} {
		err := jscheck.Check(t.Context(), source)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", source, err)
			}
			continue
		}
		var rejected *console.SourceError
		if !errors.As(err, &rejected) || rejected.Error() != want {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

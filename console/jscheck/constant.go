package jscheck

import (
	"crypto/rand"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// constant matches a declared value that is a literal and nothing else: a number, a
// string, true, false, null, undefined, or an empty object or array, as esbuild prints
// them. The end of the declaration follows.
var constant = regexp.MustCompile(`^(-?[0-9.][0-9a-z.]*(e[+-]?[0-9]+)?` +
	`|"([^"\\]|\\(?s:.))*"|'([^'\\]|\\(?s:.))*'` + "|`" + `([^` + "`" + `\\$]|\\(?s:.))*` + "`" +
	`|![01]|null|void 0|\{\}|\[\])[;,]`)

// isConstant reports which of the exports named handler and default are constants, which
// cannot be called. It reports false for an export whose value is not known before the
// source runs, such as the result of a call, and for an export that does not exist.
//
// It bundles the source with a module that assigns each export to a variable. esbuild
// folds constant expressions and replaces the names of constants that are numbers or
// short strings by their values. The names of the two modules are random, so the source
// cannot contain their variables.
func isConstant(source string) (handler, byDefault bool) {
	name := "x" + rand.Text()
	inner, outer := name+"i", name+"o"
	built := api.Build(api.BuildOptions{
		Stdin: &api.StdinOptions{
			Contents:   "import * as m from '" + inner + "'; export const " + outer + "_handler = m.handler, " + outer + "_default = m.default",
			Sourcefile: outer, Loader: api.LoaderJS,
		},
		TsconfigRaw:  "{}",
		Bundle:       true,
		Format:       api.FormatESModule,
		LogLevel:     api.LogLevelSilent,
		Plugins:      []api.Plugin{{Name: "source", Setup: func(build api.PluginBuild) { serve(build, inner, source) }}},
		MinifySyntax: true, MinifyWhitespace: true,
	})
	if len(built.Errors) > 0 || len(built.OutputFiles) != 1 {
		return false, false
	}
	declared := func(variable string) bool {
		at := regexp.MustCompile(`[ ,]` + variable + `=`).FindIndex(built.OutputFiles[0].Contents)
		return at != nil && constant.Match(built.OutputFiles[0].Contents[at[1]:])
	}
	return declared(outer + "_handler"), declared(outer+"_default") || declared(inner+"_default")
}

// serve gives a build the source under a name. No other import is followed.
func serve(build api.PluginBuild, name, source string) {
	build.OnResolve(api.OnResolveOptions{Filter: `.*`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		if args.Path == name {
			return api.OnResolveResult{Path: name, Namespace: "source"}, nil
		}
		return api.OnResolveResult{Path: args.Path, External: true}, nil
	})
	build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: "source"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
		return api.OnLoadResult{Contents: &source, Loader: api.LoaderJS}, nil
	})
}

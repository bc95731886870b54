package jscheck

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/partnerkit/partnerkit/console"
)

// Check returns nil if source is an ES module that exports a handler, and a
// [*console.SourceError] if it is not. It parses in the calling process, without a bound
// on time and memory; see [Checker]. A check that has begun does not end with ctx.
func Check(ctx context.Context, source string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(source) > console.MaxFunctionSource {
		return &console.SourceError{Reason: fmt.Sprintf("the source has more than %d bytes", console.MaxFunctionSource)}
	}
	exports, err := moduleExports(source)
	if err != nil {
		return err
	}
	hasHandler, hasDefault := slices.Contains(exports, "handler"), slices.Contains(exports, "default")
	if !hasHandler && !hasDefault {
		return &console.SourceError{Reason: "there is no export named handler, and no default one"}
	}
	handlerIsConstant, defaultIsConstant := isConstant(source)
	switch {
	case hasHandler && !handlerIsConstant, hasDefault && !defaultIsConstant:
		return nil
	case hasHandler:
		return &console.SourceError{Reason: "the export named handler is not a function"}
	}
	return &console.SourceError{Reason: "the default export is not a function"}
}

// moduleExports parses a source as JavaScript and returns the names that it exports,
// without the names that "export *" may add. It reads and writes no file and resolves no
// import: esbuild follows imports only to bundle.
func moduleExports(source string) ([]string, error) {
	built := api.Build(api.BuildOptions{
		Stdin:       &api.StdinOptions{Contents: source, Loader: api.LoaderJS},
		TsconfigRaw: "{}", // or else it would look for one
		Metafile:    true,
		LogLevel:    api.LogLevelSilent,
		// The output is not read. Its names and indentation are what takes longest.
		MinifyIdentifiers: true,
		MinifyWhitespace:  true,
	})
	if len(built.Errors) > 0 {
		return nil, sourceError(built.Errors[0])
	}
	var meta struct {
		Outputs map[string]struct {
			Exports []string `json:"exports"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(built.Metafile), &meta); err != nil {
		return nil, fmt.Errorf("jscheck: read esbuild's metafile: %w", err)
	}
	for _, output := range meta.Outputs { // there is one
		return output.Exports, nil
	}
	return nil, nil
}

// sourceError converts an error of esbuild, whose columns count from 0.
func sourceError(m api.Message) *console.SourceError {
	if m.Location == nil {
		return &console.SourceError{Reason: "the parser gave up on it"}
	}
	return &console.SourceError{Line: m.Location.Line, Column: m.Location.Column + 1, Reason: m.Text}
}

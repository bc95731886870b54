package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/partnerkit/partnerkit/apierror"
)

// checkSource is FUNCTION_SOURCE_NO_HANDLER, with the reason, unless the source is an
// ES module that exports a handler. Sources are parsed one at a time: the worst that
// pass MaxFunctionSource and tooDeep take seconds and some 100 MB.
func (c *Console) checkSource(ctx context.Context, source string) error {
	if line := tooDeep(source); line > 0 {
		return noHandler(fmt.Sprintf("line %d: this is nested too deeply", line))
	}
	select {
	case c.parsing <- struct{}{}:
		defer func() { <-c.parsing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	exports, err := moduleExports(source)
	if err != nil {
		return err
	}
	if !slices.Contains(exports, "handler") && !slices.Contains(exports, "default") {
		return noHandler("there is no export named handler, and no default one")
	}
	return nil
}

func noHandler(reason string) error { return apierror.New(apierror.FunctionSourceNoHandler, reason) }

// moduleExports parses a source as JavaScript and returns the names that it exports,
// without those that "export *" may add. It reads and writes no file and resolves no
// import: these are followed only to bundle.
func moduleExports(source string) ([]string, error) {
	built := api.Build(api.BuildOptions{
		Stdin:       &api.StdinOptions{Contents: source, Loader: api.LoaderJS},
		TsconfigRaw: "{}", // or else it would look for one
		Metafile:    true,
		LogLevel:    api.LogLevelSilent,
		// Names and indentation of an output that nobody reads are what takes longest.
		MinifyIdentifiers: true,
		MinifyWhitespace:  true,
	})
	if len(built.Errors) > 0 {
		return nil, noHandler(syntaxError(built.Errors[0]))
	}
	var meta struct {
		Outputs map[string]struct {
			Exports []string `json:"exports"`
		} `json:"outputs"`
	}
	if err := json.Unmarshal([]byte(built.Metafile), &meta); err != nil {
		return nil, fmt.Errorf("read the parser's answer: %w", err)
	}
	for _, output := range meta.Outputs { // there is one
		return output.Exports, nil
	}
	return nil, nil
}

// syntaxError says where and why a source does not parse. Columns count bytes, from 1.
func syntaxError(m api.Message) string {
	if m.Location == nil {
		return "the parser gave up on it"
	}
	return fmt.Sprintf("line %d, column %d: %s", m.Location.Line, m.Location.Column+1, m.Text)
}

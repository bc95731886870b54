package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

// A console without a checker takes any text.
func TestFunctionsWithoutChecker_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(cfg *console.Config) { cfg.FunctionChecker = nil })
	path, _ := d.newApp(confidentialApp)
	d.ann("POST "+path+"/functions", function("f", "def handler(event):\n    return event\n")).want(http.StatusCreated)
	got := d.ann("POST "+path+"/functions", function("f", " \n"))
	got.wantCode(http.StatusBadRequest, "FUNCTION_SOURCE_NO_HANDLER")
	if params := got.body["params"].(map[string]any); params["p0"] != "it is empty" {
		t.Errorf("%v", params)
	}
}

// The checker's errors: a rejection is the developer's, anything else is internal.
func TestFunctionChecker_CON06(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		err    error
		status int
		why    string
	}{
		"accepted":    {nil, http.StatusCreated, ""},
		"no position": {&console.SourceError{Reason: "no"}, http.StatusBadRequest, "no"},
		"line":        {&console.SourceError{Line: 3, Reason: "no"}, http.StatusBadRequest, "line 3: no"},
		"column":      {&console.SourceError{Line: 3, Column: 4, Reason: "no"}, http.StatusBadRequest, "line 3, column 4: no"},
		"internal":    {broken, http.StatusInternalServerError, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newHarness(t, func(cfg *console.Config) {
				cfg.FunctionChecker = console.FunctionCheckerFunc(func(_ context.Context, source string) error {
					if source != "source" {
						t.Errorf("asked about %q", source)
					}
					return test.err
				})
			})
			path, _ := d.newApp(confidentialApp)
			got := d.ann("POST "+path+"/functions", function("f", "source")).want(test.status)
			if test.status == http.StatusBadRequest && got.body["params"].(map[string]any)["p0"] != test.why {
				t.Errorf("%s", got.Body)
			}
		})
	}
}

// The typed method rejects what no JSON brings.
func TestFunctionText_CON06(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	signedIn := httptest.NewRequest(http.MethodGet, apiOrigin, http.NoBody)
	signedIn.AddCookie(d.people.NewSession(ann, ""))
	by, err := d.console.Actor(signedIn)
	d.must(err)
	for _, text := range []string{"\xff", "\x00"} {
		_, err := d.console.AddFunction(t.Context(), by, strings.TrimPrefix(path, "/developer/apps/"), console.NewFunction{Name: "f", Source: "export default '" + text + "'"})
		if !isInvalid(err) || !strings.Contains(err.Error(), "source must be UTF-8 without NUL") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

package apierror_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/logtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// wantGolden compares got with testdata/<name>.golden.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

var requestIDs = regexp.MustCompile(`req_[a-z2-7]{26}\b`)

// dump writes a response for a golden file: all of its headers, since one too
// many is a mistake as well. Request ids are replaced.
func dump(t *testing.T, response *http.Response) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", response.Status)
	names := []string{}
	for name := range response.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range response.Header[name] {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(response.Body); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(body.Bytes()) {
		t.Errorf("the body is not JSON: %q", body.String())
	}
	fmt.Fprintf(&b, "\n%s\n", body.String())
	return requestIDs.ReplaceAllString(b.String(), "req_ID")
}

// standard returns the response of a standard handler that fails with err.
func standard(c apierror.Writer, r *http.Request, err error) *http.Response {
	return serve(c.Standard(func(http.ResponseWriter, *http.Request) error { return err }), r)
}

// oauth is standard for the OAuth shape.
func oauth(c apierror.Writer, r *http.Request, err error) *http.Response {
	return serve(c.OAuth(func(http.ResponseWriter, *http.Request) error { return err }), r)
}

func serve(h http.Handler, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func get() *http.Request { return httptest.NewRequest(http.MethodGet, "/", nil) }

func withAuthorization(value string) *http.Request {
	r := get()
	r.Header.Set("Authorization", value)
	return r
}

// logTo returns a writer whose log lines land in the buffer, all levels.
func logTo(buffer *logtest.Buffer) apierror.Writer {
	return apierror.Writer{Logger: slog.New(slog.NewJSONHandler(buffer, &slog.HandlerOptions{Level: slog.LevelDebug}))}
}

func sortedKeys[K ~string, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

package openapi_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// The checker itself: it takes a response as the server gave it, and finds what is
// changed about it.
func TestCheckerFinds(t *testing.T) {
	t.Parallel()
	s := serve(t, ":memory:")
	n := s.newcomers()
	for name, change := range map[string]func(r *http.Request, res *http.Response, body map[string]any){
		"":                       func(*http.Request, *http.Response, map[string]any) {},
		"another status":         func(_ *http.Request, res *http.Response, _ map[string]any) { res.StatusCode = http.StatusAccepted },
		"a header too many":      func(_ *http.Request, res *http.Response, _ map[string]any) { res.Header.Set("X-Powered-By", "us") },
		"a header too few":       func(_ *http.Request, res *http.Response, _ map[string]any) { res.Header.Del("Service-Version") },
		"a header with nonsense": func(_ *http.Request, res *http.Response, _ map[string]any) { res.Header.Set("RateLimit-Reset", "soon") },
		"another constant": func(_ *http.Request, res *http.Response, _ map[string]any) {
			res.Header.Set("X-Content-Type-Options", "sniff")
		},
		"another media type": func(_ *http.Request, res *http.Response, _ map[string]any) {
			res.Header.Set("Content-Type", "text/plain")
		},
		"a member too many":        func(_ *http.Request, _ *http.Response, body map[string]any) { body["plan"] = "FREE" },
		"a member too few":         func(_ *http.Request, _ *http.Response, body map[string]any) { delete(body, "user") },
		"a member of another kind": func(_ *http.Request, _ *http.Response, body map[string]any) { body["user"] = "Ada" },
		"an unknown path":          func(r *http.Request, _ *http.Response, _ map[string]any) { r.URL.Path = "/profiles" },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.API+"/profile", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+n.token)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		var body map[string]any
		if err != nil || json.Unmarshal(text, &body) != nil {
			t.Fatalf("%v: %s", err, text)
		}
		before := maps.Clone(body)
		change(r, res, body)
		changed, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		if problems := s.checker.compare(r, res, changed); (len(problems) > 0) != (name != "") {
			t.Errorf("%s: %q, was %v", name, strings.Join(problems, "; "), before)
		}
	}
}

package openapi_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// pieces are the assets of pages. Only pages request them.
var pieces = []string{"GET /assets/", "GET /assets/embedded.js", "GET /openapi/assets/"}

// Every route of the two hosts is described, and everything described is a route.
func TestRoutes(t *testing.T) {
	t.Parallel()
	s := serve(t, ":memory:")
	res, err := (&http.Client{Transport: s.checker}).Get(s.API + "/dev/routes")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var served struct{ API, App []string }
	if err := json.NewDecoder(res.Body).Decode(&served); err != nil {
		t.Fatal(err)
	}
	for host, patterns := range map[string][]string{s.API: served.API, s.App: served.App} {
		described := s.described(host)
		for _, pattern := range patterns {
			if !slices.Contains(described, strings.TrimSuffix(pattern, "{$}")) && !slices.Contains(pieces, pattern) {
				t.Errorf("%s: %s is served and not described", host, pattern)
			}
		}
		for _, pattern := range described {
			if !slices.Contains(patterns, pattern) && !slices.Contains(patterns, pattern+"{$}") {
				t.Errorf("%s: %s is described and not served", host, pattern)
			}
		}
	}
}

// described are the methods and paths that the description has for a host.
func (s *service) described(host string) (patterns []string) {
	for path, item := range s.checker.doc.Paths.Map() {
		servers := item.Servers
		if len(servers) == 0 {
			servers = s.checker.doc.Servers
		}
		for _, server := range servers {
			if server.URL != host {
				continue
			}
			for method := range item.Operations() {
				patterns = append(patterns, method+" "+path)
			}
		}
	}
	return patterns
}

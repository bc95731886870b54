package sandbox

import (
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
)

// router is a mux that can tell its patterns.
type router struct {
	mux      http.ServeMux
	patterns []string
}

// Handle registers a handler, as http.ServeMux does.
func (r *router) Handle(pattern string, h http.Handler) {
	r.mux.Handle(pattern, h)
	r.patterns = append(r.patterns, pattern)
}

// hasPath reports whether a path is one of the patterns, which have no wildcards, under
// any method.
func (r *router) hasPath(path string) bool {
	return slices.ContainsFunc(r.patterns, func(pattern string) bool {
		_, own, _ := strings.Cut(pattern, " ")
		return own == path
	})
}

// routes are the server's own routes, in addition to the platform and its pages.
type routes struct {
	api, app   router // in front of the platform
	dev, pages router
}

// patterns are the methods and paths of the two hosts, without the pages of the
// console and of development.
type patterns struct {
	API []string `json:"api"`
	App []string `json:"app"`
}

func (s *server) patterns() patterns {
	return patterns{
		API: slices.Sorted(slices.Values(slices.Concat(s.platform.APIPatterns(), s.routes.api.patterns, s.routes.dev.patterns))),
		App: slices.Sorted(slices.Values(slices.Concat(s.platform.AppPatterns(), s.routes.app.patterns, slices.DeleteFunc(slices.Clone(s.routes.pages.patterns), isDevelopmentPage), s.patternsOfHost))),
	}
}

func isDevelopmentPage(pattern string) bool { return strings.Contains(pattern, " "+pagesPrefix) }

func (s *server) devRoutes(w http.ResponseWriter, _ *http.Request) error {
	return apierror.WriteJSON(w, http.StatusOK, s.patterns())
}

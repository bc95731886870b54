package openapi_test

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// isRare reports whether this story cannot bring a response about: 503, when a database
// is too busy or a limiter is gone; 500, see TestFaults; and 409 of a call, which takes
// two at the same moment.
func isRare(operation *openapi3.Operation, status string) bool {
	return status == "500" || status == "503" || status == "409" && operation.Responses.Value("422") != nil
}

// Everything that is described is done once: each operation with success, and each of
// the refusals that it may respond with. The checker holds all of it against the
// description.
func TestStory(t *testing.T) {
	t.Parallel()
	s := serve(t, ":memory:")
	n := s.newcomers()
	s.operations()
	s.oauth(n)
	s.books(n)
	s.appData(n)
	s.events(n)
	s.console(n)
	s.operator(n)
	s.pages()
	s.development(n)
	s.refusedCalls(n)
	s.refusedConsole(n)
	s.refusedOperator(n)
	s.refusedDevelopment()
	s.refusedOAuth()
	s.limits(n)
	for _, one := range s.untold() {
		t.Errorf("described and never seen: %s", one)
	}
}

// untold are the responses that are described and were not given.
func (s *service) untold() (left []string) {
	for _, item := range s.checker.doc.Paths.Map() {
		for _, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				if one := operation.OperationID + " " + status; !s.checker.seen[one] && !isRare(operation, status) {
					left = append(left, one)
				}
			}
		}
	}
	slices.Sort(left)
	return left
}

package openapi_test

import (
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// target is an operation with its address, every value of the path filled in.
type target struct {
	*openapi3.Operation
	method, path, url string
}

// ids are values for paths. All others are of something that does not exist.
var ids = strings.NewReplacer("{appId}", "app_sync", "{clientId}", syncID)

// targets are all operations that ask for a way to authenticate, or are below a path.
func (s *service) targets(scheme, below string) (all []target) {
	for path, item := range s.checker.doc.Paths.Map() {
		host := s.API
		if len(item.Servers) == 1 {
			host = item.Servers[0].URL
		}
		for method, operation := range item.Operations() {
			uses := scheme == ""
			if operation.Security != nil {
				for _, way := range *operation.Security {
					_, ok := way[scheme]
					uses = uses || ok
				}
			}
			if uses && strings.HasPrefix(path, below) {
				filled := ids.Replace(path)
				for strings.Contains(filled, "{") {
					from, to := strings.Index(filled, "{"), strings.Index(filled, "}")
					filled = filled[:from] + "nothing" + filled[to+1:]
				}
				all = append(all, target{operation, method, path, host + filled})
			}
		}
	}
	return all
}

func (o target) writes() bool { return o.method != http.MethodGet }

// takes reports whether the body has a media type.
func (o target) takes(media string) bool {
	return o.RequestBody != nil && o.RequestBody.Value.Content[media] != nil
}

// example is one of the body, by its schema; strings that name something are replaced
// by the names of nothing.
func (o target) example() map[string]any {
	value := map[string]any{}
	for name, member := range o.RequestBody.Value.Content["application/json"].Schema.Value.Examples[0].(map[string]any) {
		if strings.HasSuffix(name, "Id") {
			member = "nothing"
		}
		value[name] = member
	}
	return value
}

var foreign = map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}

// big is more than any body may have.
var big = `{"x":"` + strings.Repeat("x", 6<<20) + `"}`

package openapi

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// refused are the components for the errors of calls.
var refused = map[int]string{
	http.StatusBadRequest: "CallInvalid", http.StatusUnauthorized: "CallUnauthorized", http.StatusForbidden: "CallForbidden",
	http.StatusNotFound: "CallNotFound", http.StatusConflict: "CallConflict", http.StatusRequestEntityTooLarge: "CallTooLarge",
	http.StatusUnsupportedMediaType: "CallUnsupportedMediaType", http.StatusUnprocessableEntity: "CallMismatch",
	http.StatusTooManyRequests: "CallRateLimited", http.StatusInternalServerError: "CallFailed", http.StatusServiceUnavailable: "CallUnavailable",
}

var wildcard = regexp.MustCompile(`\{([^{}]+)\}`)

// addRoute describes a route of the host.
func (g *generator) addRoute(r Route) error {
	method, path := split(r.Pattern)
	item := g.paths.object(path)
	if parameters := pathParameters(path); len(parameters) > 0 {
		item.with("parameters", parameters)
	}
	if item.has(method) {
		return errors.New("it is described already")
	}
	operation, err := g.operation(r, method, path)
	if err != nil {
		return err
	}
	g.use(operation)
	item.with(method, operation)
	return nil
}

func pathParameters(path string) []any {
	wildcards := wildcard.FindAllStringSubmatch(path, -1)
	all := make([]any, 0, len(wildcards))
	for _, found := range wildcards {
		all = append(all, newObject().with("name", found[1]).with("in", "path").with("required", true).with("schema", newObject().with("type", "string")))
	}
	return all
}

func (g *generator) operation(r Route, method, path string) (*object, error) {
	o := newObject().with("operationId", r.ID)
	if r.ID == "" {
		o.with("operationId", operationID(method, path))
	}
	o.with("tags", texts(tagOf(r, path)))
	o.with("summary", r.Summary)
	if r.Summary == "" {
		o.with("summary", r.Pattern)
	}
	if text := r.text(g.in.CustomConnections); text != "" {
		o.with("description", text)
	}
	o.with("security", r.security())
	place := "#/paths/" + escape(path) + "/" + method
	parameters, err := r.parameters(place)
	if err != nil {
		return nil, err
	}
	o.with("parameters", parameters)
	if r.Request != nil {
		schema, err := parseObject(r.Request)
		if err != nil {
			return nil, err
		}
		rebase(schema, place+"/requestBody/content/application~1json/schema")
		o.with("requestBody", newObject().with("required", true).with("content", jsonContent(schema)))
	}
	responses, err := g.responses(r, path, place)
	if err != nil {
		return nil, err
	}
	return o.with("responses", responses), nil
}

// tagOf returns the first part of the path where a route has no tag.
func tagOf(r Route, path string) string {
	if r.Tag != "" {
		return r.Tag
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return capital(strings.NewReplacer("-", " ", "_", " ").Replace(first))
}

func (r Route) text(custom bool) string { //nolint:revive // what is described, not a switch
	text := r.Text
	if r.Permission != "" {
		text = sentences(text, "The user needs the permission "+r.Permission+".")
	}
	if custom && r.Installations {
		text = sentences(text, takesInstallations)
	}
	return text
}

func (r Route) security() []any {
	scopes := []any{}
	if r.Scope != "" {
		scopes = append(scopes, r.Scope)
	}
	ways := []any{newObject().with("accessToken", scopes)}
	if r.SessionsAllowed {
		ways = append(ways, newObject().with("session", []any{}))
	}
	return ways
}

func (r Route) parameters(place string) ([]any, error) {
	all := []any{}
	for i, p := range r.Query {
		schema := newObject().with("type", "string")
		if p.Schema != nil {
			var err error
			if schema, err = parseObject(p.Schema); err != nil {
				return nil, err
			}
			rebase(schema, place+"/parameters/"+strconv.Itoa(i)+"/schema")
		}
		one := newObject().with("name", p.Name).with("in", "query")
		if p.Text != "" {
			one.with("description", p.Text)
		}
		if p.Required {
			one.with("required", true)
		}
		all = append(all, one.with("schema", schema))
	}
	all = append(all, ref("parameters", "Version"))
	if r.Writes {
		all = append(all, ref("parameters", "IdempotencyKey"))
	}
	return all, nil
}

func (g *generator) responses(r Route, path, place string) (*object, error) {
	status := r.Status
	switch {
	case status == 0 && r.Response == nil:
		status = http.StatusNoContent
	case status == 0:
		status = http.StatusOK
	}
	result := newObject().with("description", r.Result).with("headers", g.headersOf(r))
	if r.Result == "" {
		result.with("description", http.StatusText(status)+".")
	}
	if r.Response != nil {
		schema, err := parseObject(r.Response)
		if err != nil {
			return nil, err
		}
		rebase(schema, place+"/responses/"+strconv.Itoa(status)+"/content/application~1json/schema")
		content := jsonContent(schema)
		if r.Example != nil {
			example, err := parse(r.Example)
			if err != nil {
				return nil, err
			}
			content.object("application/json").with("example", example)
		}
		result.with("content", content)
	}
	all := newObject().with(strconv.Itoa(status), result)
	for _, failed := range r.failures(path) {
		if component, ok := refused[failed]; ok {
			all.with(strconv.Itoa(failed), ref("responses", component))
			continue
		}
		all.with(strconv.Itoa(failed), newObject().with("description", http.StatusText(failed)+".").with("headers", "callFailed").
			with("content", jsonContent(ref("schemas", "Error"))))
	}
	return all, nil
}

// failures returns the statuses of errors, sorted: those of every call, those that follow
// from the route, and those that it names.
func (r Route) failures(path string) []int {
	all := []int{400, 401, 403, 429, 500, 503}
	if r.Writes {
		all = append(all, 409, 413, 422)
	}
	if r.Request != nil {
		all = append(all, 413, 415)
	}
	if strings.Contains(path, "{") {
		all = append(all, 404)
	}
	all = append(all, r.Errors...)
	slices.Sort(all)
	return slices.Compact(all)
}

// headersOf returns the set of headers of a success.
func (g *generator) headersOf(r Route) any {
	name := map[bool]string{false: "call", true: "write"}[r.Writes]
	if r.Writes && r.Response == nil {
		name = "gone"
	}
	if !r.SessionsAllowed {
		name = "app" + capital(name)
	}
	if !r.HasLocation {
		return name
	}
	headers := newObject()
	set := g.own.object("headers").object(name)
	for _, header := range set.names {
		headers.with(header, set.values[header])
	}
	return headers.with("Location", ref("headers", "Location"))
}

func jsonContent(schema *object) *object {
	return newObject().with("application/json", newObject().with("schema", schema))
}

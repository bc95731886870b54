package openapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed own.json
var own string

// What own.json is written with.
const (
	ownAPI           = "http://localhost:8080"
	ownApp           = "http://localhost:8081"
	ownVersionHeader = "Service-Version"
)

// generator is a description in the making.
type generator struct {
	in         Input
	own        *object // own.json
	paths      *object
	webhooks   *object
	components *object
	tags       []string // of operations, in the order in which they came
}

// Generate returns the description as JSON. Its error names the route, event or schema
// that is not what it should be.
func Generate(in Input) ([]byte, error) {
	g, err := generate(in)
	if err != nil {
		return nil, err
	}
	return json.MarshalIndent(g.document(), "", "  ")
}

func generate(in Input) (*generator, error) {
	words := append(in.Figures.words(), ownAPI, in.APIURL, ownApp, in.AppURL, ownVersionHeader, in.VersionHeader)
	parsed, err := parseObject([]byte(strings.NewReplacer(words...).Replace(own)))
	if err != nil {
		return nil, fmt.Errorf("openapi: own.json: %w", err)
	}
	g := &generator{in: in, own: parsed, paths: newObject(), webhooks: newObject(), components: parsed.object("components")}
	g.adapt()
	g.describeCustomConnections()
	for _, pattern := range in.APIPatterns {
		g.addOwn(pattern)
	}
	for _, pattern := range in.AppPatterns {
		g.addOwn(pattern)
	}
	if err := g.addSchemas(); err != nil {
		return nil, err
	}
	for _, route := range in.Routes {
		if err := g.addRoute(route); err != nil {
			return nil, fmt.Errorf("openapi: route %q: %w", route.Pattern, err)
		}
	}
	for _, event := range in.webhooks() {
		if err := g.addEvent(event); err != nil {
			return nil, fmt.Errorf("openapi: event %s: %w", event.Name, err)
		}
	}
	return g, nil
}

func (g *generator) document() *object {
	version := g.in.Version
	if version == "" {
		version = "1"
	}
	doc := newObject().with("openapi", "3.1.0").
		with("info", newObject().with("title", g.in.Title).with("version", version)).
		with("servers", []any{newObject().with("url", g.in.APIURL)}).
		with("tags", g.describedTags()).with("paths", g.paths).with("webhooks", g.webhooks).with("components", g.components)
	g.expandHeaders(doc)
	g.addRequestIDs()
	if g.in.Version == "" {
		g.removeVersions(doc)
	}
	if g.in.ErrorType != "" {
		g.replaceErrors(doc)
	}
	g.prune()
	return doc
}

// adapt fills in what the components say about scopes and events.
func (g *generator) adapt() {
	schemas := g.components.object("schemas")
	scopes, described := make([]any, 0, len(g.in.Scopes)), newObject()
	for _, scope := range g.in.Scopes {
		scopes = append(scopes, scope.Name)
		described.with(scope.Name, scope.Description)
	}
	schemas.object("Scope").with("enum", scopes)
	g.components.object("securitySchemes").object("accessToken").object("flows").object("authorizationCode").with("scopes", described)
	names := make([]any, 0, len(g.in.Events))
	for _, event := range g.in.Events {
		names = append(names, event.Name)
	}
	schemas.object("EventType").with("enum", names)
	if g.in.Version == "" {
		schemas.with("Version", newObject().with("type", "string").with("description", "Empty: the API has no versions."))
	}
}

// addOwn takes the operation of a pattern from own.json. An endpoint that is not in it
// is described by its pattern.
func (g *generator) addOwn(pattern string) {
	method, path := split(pattern)
	described := g.describedOwn(path)
	item := g.paths.object(path)
	for _, shared := range []string{"servers", "parameters"} {
		if described.has(shared) {
			item.with(shared, described.values[shared])
		}
	}
	operation := described.object(method)
	if !operation.has("responses") {
		operation.with("operationId", operationID(method, path)).with("summary", pattern).
			with("responses", newObject().with("default", newObject().with("description", "Not described.")))
	}
	g.use(operation)
	item.with(method, operation)
}

// describedOwn returns the description of a path in own.json. The metadata of a resource
// has the same description as the metadata of the whole API.
func (g *generator) describedOwn(path string) *object {
	const metadata = "/.well-known/oauth-protected-resource"
	resource, ok := strings.CutPrefix(path, metadata+"/")
	if !ok {
		return g.own.object("paths").object(path)
	}
	get := newObject()
	for name, value := range g.own.object("paths").object(metadata).object("get").members() {
		get.with(name, value)
	}
	get.with("operationId", operationID("get", path)).with("summary", "Metadata of /"+resource)
	return newObject().with("get", get)
}

// use remembers the tags of an operation.
func (g *generator) use(operation *object) {
	tags, _ := operation.values["tags"].([]any)
	for _, tag := range tags {
		if name := tag.(string); !slices.Contains(g.tags, name) {
			g.tags = append(g.tags, name)
		}
	}
}

// describedTags lists the tags in use, those of own.json with their description.
func (g *generator) describedTags() []any {
	described := map[string]*object{}
	for _, tag := range g.own.values["tags"].([]any) {
		described[tag.(*object).text("name")] = tag.(*object)
	}
	all := make([]any, 0, len(g.tags))
	for _, name := range g.tags {
		tag, ok := described[name]
		if !ok {
			tag = newObject().with("name", name)
		}
		all = append(all, tag)
	}
	return all
}

// addSchemas adds the schemas of the host, which replace ours of the same name.
func (g *generator) addSchemas() error {
	for _, name := range slices.Sorted(maps.Keys(g.in.Schemas)) {
		schema, err := parseObject(g.in.Schemas[name])
		if err != nil {
			return fmt.Errorf("openapi: schema %s: %w", name, err)
		}
		rebase(schema, "#/components/schemas/"+escape(name))
		g.components.object("schemas").with(name, schema)
	}
	return nil
}

// split returns a pattern of http.ServeMux as a description has it: "get", "/invoices/{id}".
func split(pattern string) (method, path string) {
	method, path, _ = strings.Cut(pattern, " ")
	path = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(path), "{$}"), "...}", "}")
	return strings.ToLower(method), path
}

// operationID makes a name such as getInvoicesById.
func operationID(method, path string) string {
	id := method
	for _, part := range strings.FieldsFunc(path, func(c rune) bool { return strings.ContainsRune("/-_.", c) }) {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			part = "by" + capital(strings.TrimSuffix(name, "}"))
		}
		id += capital(part)
	}
	return id
}

func capital(word string) string {
	if word == "" {
		return ""
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

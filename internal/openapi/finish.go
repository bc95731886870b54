package openapi

import "strings"

// expandHeaders replaces the names of sets by the headers.
func (g *generator) expandHeaders(doc *object) {
	sets := g.own.object("headers")
	walk(doc, func(o *object) {
		if name, ok := o.values["headers"].(string); ok {
			o.with("headers", sets.object(name))
		}
	})
}

// addRequestIDs adds the header that every response of the two hosts has. Received and
// TriedAgain are responses of webhooks' receivers.
func (g *generator) addRequestIDs() {
	add := func(responses *object) {
		for name, response := range responses.members() {
			if o, ok := response.(*object); ok && !o.has("$ref") && name != "Received" && name != "TriedAgain" {
				o.object("headers").with("X-Request-Id", ref("headers", "RequestId"))
			}
		}
	}
	add(g.components.object("responses"))
	for _, item := range g.paths.members() {
		for _, operation := range item.(*object).members() {
			if o, ok := operation.(*object); ok && o.has("responses") {
				add(o.object("responses"))
			}
		}
	}
}

// removeVersions removes the version header from requests and responses.
func (g *generator) removeVersions(doc *object) {
	walk(doc, func(o *object) {
		if headers, ok := o.values["headers"].(*object); ok {
			headers.remove(g.in.VersionHeader)
		}
		parameters, ok := o.values["parameters"].([]any)
		if !ok {
			return
		}
		kept := []any{}
		for _, parameter := range parameters {
			if parameter.(*object).text("$ref") != "#/components/parameters/Version" {
				kept = append(kept, parameter)
			}
		}
		o.with("parameters", kept)
	})
}

// replaceErrors describes standard errors as a body of another shape, of which only the
// media type is known.
func (g *generator) replaceErrors(doc *object) {
	walk(doc, func(o *object) {
		content, ok := o.values["content"].(*object)
		if !ok || !content.has("application/json") {
			return
		}
		schema := content.object("application/json").object("schema").text("$ref")
		if name, ok := strings.CutPrefix(schema, "#/components/schemas/Error"); ok && strings.Trim(name, "0123456789") == "" {
			o.with("content", newObject().with(g.in.ErrorType, newObject().with("schema", newObject())))
		}
	})
}

// prune removes components that nothing refers to.
func (g *generator) prune() {
	used := map[string]bool{}
	var follow func(value any)
	follow = func(value any) {
		walk(value, func(o *object) {
			to := o.text("$ref")
			if used[to] || to == "" {
				return
			}
			used[to] = true
			parts := strings.Split(to, "/")
			if len(parts) == 4 {
				follow(g.components.object(parts[2]).values[parts[3]])
			}
		})
	}
	follow(g.paths)
	follow(g.webhooks)
	schemes := map[string]bool{}
	walk(g.paths, func(o *object) {
		ways, _ := o.values["security"].([]any)
		for _, way := range ways {
			for _, name := range way.(*object).names {
				schemes[name] = true
			}
		}
	})
	for _, section := range append([]string{}, g.components.names...) {
		all := g.components.object(section)
		for _, name := range append([]string{}, all.names...) {
			if !used["#/components/"+section+"/"+name] && (section != "securitySchemes" || !schemes[name]) {
				all.remove(name)
			}
		}
		if len(all.names) == 0 {
			g.components.remove(section)
		}
	}
}

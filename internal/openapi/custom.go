package openapi

import "slices"

// describeCustomConnections adds what custom connections change about endpoints of the library:
// their grant, the member of apps that names a business, and the endpoints that take their
// tokens.
func (g *generator) describeCustomConnections() {
	if !g.in.CustomConnections {
		return
	}
	schemas := g.components.object("schemas")
	token := g.own.object("paths").object("/oauth/token").object("post")
	form := token.object("requestBody").object("content").object("application/x-www-form-urlencoded").object("schema")
	alternative(form, ref("schemas", "InstallationGrant"))
	tokens := token.object("responses").object("200")
	tokens.with("description", "Tokens. A token exchange and a custom connection give no refresh token.")
	alternative(tokens.object("content").object("application/json").object("schema"), ref("schemas", "InstallationToken"))
	named := func(text string) *object {
		return newObject().with("type", texts("string", "null")).with("description", "The business that may approve a custom connection"+text)
	}
	for _, name := range []string{"App", "CreatedApp"} {
		app := schemas.object(name)
		app.object("properties").with("customBusinessId", named("."))
		required, _ := app.values["required"].([]any)
		app.with("required", append(slices.Clone(required), "customBusinessId"))
	}
	schemas.object("AppChange").object("properties").with("customBusinessId",
		named("; null ends the connection that was approved. CONNECTION_EXISTS if another one has approved. Of CONFIDENTIAL apps only."))
	schemas.object("OperatorAppDetails").object("properties").with("customBusinessId",
		newObject().with("type", "string").with("description", "The business that may approve a custom connection; absent for none."))
	scheme := g.components.object("securitySchemes").object("accessToken")
	flows := scheme.object("flows")
	flows.with("clientCredentials", newObject().with("tokenUrl", flows.object("authorizationCode").values["tokenUrl"]).
		with("scopes", flows.object("authorizationCode").values["scopes"]))
	scheme.with("description", scheme.text("description")+" Tokens of a custom connection act for the business and no user, with the permissions that were approved; operations say whether they take them.")
	for _, pattern := range g.in.InstallationPatterns {
		method, path := split(pattern)
		operation := g.own.object("paths").object(path).object(method)
		if operation.has("responses") {
			operation.with("description", sentences(operation.text("description"), takesInstallations))
		}
	}
}

const takesInstallations = "Tokens of a custom connection may call it."

// alternative adds a schema to those of oneOf.
func alternative(schema, another *object) {
	all, _ := schema.values["oneOf"].([]any)
	schema.with("oneOf", append(slices.Clone(all), another))
}

func sentences(before, after string) string {
	if before == "" {
		return after
	}
	return before + " " + after
}

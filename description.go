package partnerkit

import (
	"bytes"
	"cmp"
	"net/http"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/internal/httpapi"
	"github.com/partnerkit/partnerkit/internal/openapi"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// OpenAPI returns the description for partners, as an OpenAPI 3.1 document in JSON: the OAuth
// endpoints, Config.Routes with their Description, the events, app data, the console's JSON
// where it is served, and one webhook for each event of the catalog. Equal configurations
// have equal descriptions. Config.APIRoutes and Config.AppRoutes are not in it, nor are the
// operators' endpoints; see [Platform.OperatorOpenAPI]. The slice is the caller's.
func (p *Platform) OpenAPI() []byte { return bytes.Clone(p.describe()) }

// OperatorOpenAPI returns a description of the operators' JSON, for the platform's own staff:
// an OpenAPI 3.1 document in JSON; nil without Config.Operators. The slice is the caller's.
func (p *Platform) OperatorOpenAPI() []byte {
	if p.operator == nil {
		return nil
	}
	in := p.descriptionInput()
	in.Title, in.NoWebhooks = "Operators of "+in.Service, true
	in.APIPatterns, in.AppPatterns, in.Routes, in.Schemas = p.operator.Patterns(), nil, nil, nil
	return p.description(in)
}

// checkSchemas finds references to nothing.
func (p *Platform) checkSchemas() error { return openapi.CheckRefs(p.descriptionInput()) }

// description generates the document. An error cannot happen: routes, events and schemas
// were checked when they were declared.
func (p *Platform) description(in openapi.Input) []byte {
	text, err := openapi.Generate(in)
	if err != nil {
		p.cfg.Logger.Error("API description failed", "err", err)
		return []byte("{}")
	}
	return text
}

func (p *Platform) descriptionInput() openapi.Input {
	c := p.cfg
	in := openapi.Input{
		Title: "Partner API of " + c.Service, Service: c.Service, Version: c.Versions.Current, VersionHeader: httpapi.VersionHeader(c.Service),
		APIURL: c.APIURL, AppURL: c.AppURL, Schemas: c.Schemas,
		APIPatterns: p.oauth.APIPatterns(), AppPatterns: p.AppPatterns(), Figures: p.figures(),
	}
	in.CustomConnections = c.OAuth.CustomConnections
	for _, route := range p.ownRoutes() {
		in.APIPatterns = append(in.APIPatterns, route.Pattern)
		if route.Installations {
			in.InstallationPatterns = append(in.InstallationPatterns, route.Pattern)
		}
	}
	if p.console != nil {
		in.APIPatterns = append(in.APIPatterns, p.console.Patterns()...)
	}
	for _, scope := range c.Scopes.All() {
		if !scope.Internal {
			in.Scopes = append(in.Scopes, openapi.Scope{Name: scope.Name, Description: scope.Summary})
		}
	}
	for _, route := range c.Routes {
		in.Routes = append(in.Routes, describedRoute(route))
	}
	for _, d := range p.events.Catalog().All() {
		in.Events = append(in.Events, openapi.Event{Name: d.Name, Summary: d.Description, Text: receivers(d), Sample: d.Sample, Schema: d.Schema})
	}
	if c.ErrorShape != nil {
		in.ErrorType = errorType(c.ErrorShape)
	}
	return in
}

// figures returns the configured numbers, with their defaults.
func (p *Platform) figures() openapi.Figures {
	c, lifetimes := p.cfg, p.cfg.Lifetimes.WithDefaults()
	rate := func(l ratelimit.Limit) openapi.Rate { return openapi.Rate{Count: l.Count, Window: l.Window} }
	codes := c.Limits.UserCodes
	return openapi.Figures{
		Request: lifetimes.Request, Code: lifetimes.Code, AccessToken: lifetimes.AccessToken,
		DeviceCode: lifetimes.DeviceCode, DeviceInterval: lifetimes.DeviceInterval,
		RegistrationToken: lifetimes.RegistrationToken, RedactDelay: lifetimes.RedactDelay,
		Events:          cmp.Or(c.Retention.Events, events.Retention),
		IdempotencyKeys: cmp.Or(c.Retention.IdempotencyKeys, keystore.Lifetime),
		SecretOverlap:   p.hooks.Options().SecretOverlap,
		RetryDelays:     p.hooks.Options().RetryDelays,
		PerBusiness:     rate(c.Limits.PerBusiness), PerApp: rate(c.Limits.PerApp),
		PerAddress: rate(c.Limits.DefaultPerIP), DeviceAuthorize: rate(c.Limits.DeviceAuthorize),
		UserCodes: openapi.Rate{Count: codes.MoreThan + 1, Window: codes.Within}, UserCodesPause: codes.For,
	}
}

func describedRoute(r guard.Route) openapi.Route {
	d := r.Description
	described := openapi.Route{
		Pattern: r.Pattern, Scope: r.Scope, Permission: string(r.Permission), SessionsAllowed: r.SessionsAllowed, Installations: r.Installations, Writes: r.Writes(),
		ID: d.ID, Tag: d.Tag, Summary: d.Summary, Text: d.Text, Request: d.Request, Response: d.Response,
		Result: d.Result, Example: d.Example, Status: d.Status, HasLocation: d.HasLocation, Errors: d.Errors,
	}
	if r.Scope == guard.AnyScope {
		described.Scope = ""
	}
	for _, q := range d.Query {
		described.Query = append(described.Query, openapi.Parameter{Name: q.Name, Text: q.Text, Required: q.Required, Schema: q.Schema})
	}
	return described
}

// receivers describes which apps an event is sent to.
func receivers(d events.Definition) string {
	switch d.Audience {
	case events.AudienceApp:
		return "For the app itself, whether it is installed or not."
	case events.AudiencePrivacy:
		return "A notice that must be followed, for apps that are installed in the business with " + d.Scope + "."
	}
	return "For apps that are installed in the business with " + d.Scope + "."
}

// errorType asks a shape for the media type of its errors.
func errorType(shape apierror.ShapeFunc) (contentType string) {
	defer func() {
		if recover() != nil {
			contentType = "" // the response has the standard shape then
		}
	}()
	contentType, _ = shape(apierror.View{Status: http.StatusNotFound, Problems: []apierror.Problem{{Text: "no such endpoint"}}})
	if contentType == "" {
		contentType = "application/json"
	}
	return contentType
}

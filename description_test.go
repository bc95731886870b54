package partnerkit_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partnertest"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// describedConfig is a host with a route and an event of its own.
func describedConfig(t *testing.T) partnerkit.Config {
	t.Helper()
	catalog, err := events.NewCatalog(events.Definition{
		Name: "order.shipped", Audience: events.AudienceBusiness, Scope: "invoices:read", Description: "An order was shipped",
		Sample: json.RawMessage(`{"id":"ord_1"}`),
		Schema: json.RawMessage(`{"title":"Order","type":"object","required":["id"],"properties":{"id":{"type":"string"}}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	cfg := config(t)
	cfg.Service, cfg.Events = "Acme Books", catalog
	cfg.Schemas = map[string]json.RawMessage{"NewOrder": json.RawMessage(`{"type":"object"}`)}
	cfg.Routes = []guard.Route{
		{Pattern: "GET /orders/{id}", Scope: "invoices:read", Handler: func(http.ResponseWriter, *http.Request) error { return nil }, Description: guard.Description{
			Summary: "Get an order", Response: json.RawMessage(`{"$ref":"#/components/schemas/Order"}`),
		}},
		{Pattern: "POST /orders", Scope: "invoices:write", SessionsAllowed: true, Handler: func(http.ResponseWriter, *http.Request) error { return nil }, Description: guard.Description{
			ID: "placeOrder", Tag: "Orders", Request: json.RawMessage(`{"$ref":"#/components/schemas/NewOrder"}`), Status: http.StatusAccepted,
		}},
	}
	return cfg
}

// document is what these tests look at in a description.
type document struct {
	OpenAPI    string `json:"openapi"`
	Paths      map[string]map[string]json.RawMessage
	Webhooks   map[string]json.RawMessage
	Components struct {
		Schemas   map[string]json.RawMessage
		Responses map[string]struct{ Content map[string]any }
	}
}

func read(t *testing.T, text []byte) (d document) {
	t.Helper()
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// patterns are the operations, as APIPatterns has them.
func (d document) patterns() (all []string) {
	for path, item := range d.Paths {
		for method := range item {
			if method != "parameters" && method != "servers" {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(all)
	return all
}

// Everything that is served is described, and nothing else, whichever features there are.
func TestOpenAPIDescribesWhatIsServed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*partnerkit.Config){
		"bare":    func(cfg *partnerkit.Config) { cfg.Routes = nil },
		"routes":  func(*partnerkit.Config) {},
		"console": func(cfg *partnerkit.Config) { cfg.Developers = partnertest.NewHost() },
		"all": func(cfg *partnerkit.Config) {
			host := partnertest.NewHost()
			cfg.Developers, cfg.Operators, cfg.Records = host, host, noRecords{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := describedConfig(t)
			change(&cfg)
			p := platform(t, cfg)
			text := p.OpenAPI()
			d := read(t, text)
			served := append(p.APIPatterns(), p.AppPatterns()...)
			for i := range served {
				served[i] = strings.TrimSuffix(served[i], "{$}")
			}
			slices.Sort(served)
			served = slices.DeleteFunc(served, isOperators)
			if diff := cmp.Diff(served, d.patterns()); diff != "" {
				t.Errorf("(-served +described)\n%s", diff)
			}
			if bytes.Contains(text, []byte("Not described.")) {
				t.Error("own.json lacks an endpoint")
			}
			if bytes.Contains(text, []byte("localhost:80")) || bytes.Contains(text, []byte("Service-Version")) {
				t.Error("the description has addresses or names of the reference server")
			}
			checkRefs(t, text, d)
			if again := platform(t, cfg).OpenAPI(); !bytes.Equal(text, again) {
				t.Error("a second platform has another description")
			}
		})
	}
}

func isOperators(pattern string) bool { return strings.Contains(pattern, " /operator") }

// OPS-07: the description for partners has nothing of the operators' endpoints; their own has
// nothing else.
func TestOpenAPIOfOperators_OPS07(t *testing.T) {
	t.Parallel()
	cfg := describedConfig(t)
	if text := platform(t, cfg).OperatorOpenAPI(); text != nil {
		t.Errorf("without operators: %s", text)
	}
	host := partnertest.NewHost()
	cfg.Developers, cfg.Operators = host, host
	p := platform(t, cfg)
	if text := p.OpenAPI(); bytes.Contains(text, []byte("/operator")) || bytes.Contains(text, []byte(`"Operator`)) {
		t.Error("the description for partners names the operators' endpoints")
	}
	text := p.OperatorOpenAPI()
	d := read(t, text)
	served := slices.DeleteFunc(p.APIPatterns(), func(pattern string) bool { return !isOperators(pattern) })
	slices.Sort(served)
	if diff := cmp.Diff(served, d.patterns()); diff != "" {
		t.Errorf("(-served +described)\n%s", diff)
	}
	if len(d.Webhooks) > 0 || bytes.Contains(text, []byte("Not described.")) || bytes.Contains(text, []byte("${")) {
		t.Errorf("%d webhooks, or an endpoint is not described", len(d.Webhooks))
	}
	checkRefs(t, text, d)
}

// checkRefs finds references to nothing.
func checkRefs(t *testing.T, text []byte, d document) {
	t.Helper()
	for _, part := range strings.Split(string(text), `"$ref": "#/components/schemas/`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if _, ok := d.Components.Schemas[name]; !ok {
			t.Errorf("there is no schema %s", name)
		}
	}
}

func TestOpenAPIRoute(t *testing.T) {
	t.Parallel()
	d := read(t, platform(t, describedConfig(t)).OpenAPI())
	var get, post struct {
		OperationID string `json:"operationId"`
		Tags        []string
		Summary     string
		Security    []map[string][]string
		RequestBody any `json:"requestBody"`
		Responses   map[string]any
	}
	if err := json.Unmarshal(d.Paths["/orders/{id}"]["get"], &get); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(d.Paths["/orders"]["post"], &post); err != nil {
		t.Fatal(err)
	}
	if get.OperationID != "getOrdersById" || get.Summary != "Get an order" || !slices.Equal(get.Tags, []string{"Orders"}) ||
		cmp.Diff([]map[string][]string{{"accessToken": {"invoices:read"}}}, get.Security) != "" || get.Responses["404"] == nil || get.Responses["409"] != nil {
		t.Errorf("%+v", get)
	}
	if post.OperationID != "placeOrder" || len(post.Security) != 2 || post.RequestBody == nil || post.Responses["202"] == nil || post.Responses["422"] == nil || post.Responses["415"] == nil {
		t.Errorf("%+v", post)
	}
	if !strings.Contains(string(d.Webhooks["order.shipped"]), "#/components/schemas/Order") || d.Components.Schemas["Order"] == nil || d.Webhooks["app.installed"] == nil {
		t.Errorf("%s", d.Webhooks["order.shipped"])
	}
}

// Errors are described in the media type of the host's own shape.
func TestOpenAPIErrorShape(t *testing.T) {
	t.Parallel()
	cfg := describedConfig(t)
	cfg.ErrorShape = apierror.ProblemDetails
	d := read(t, platform(t, cfg).OpenAPI())
	for name, want := range map[string]string{"CallForbidden": "application/problem+json", "OAuthUnauthorized": "application/json"} {
		if got := d.Components.Responses[name].Content; got[want] == nil || len(got) != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if d.Components.Schemas["Error400"] != nil {
		t.Error("the standard shape is still described")
	}
}

func TestNewRefusesSchemas(t *testing.T) {
	t.Parallel()
	cfg := describedConfig(t)
	cfg.Schemas["NewOrder"] = json.RawMessage(`"string"`)
	if _, err := partnerkit.New(cfg); err == nil || !strings.Contains(err.Error(), "NewOrder") {
		t.Errorf("%v", err)
	}
}

// New finds references of the host's schemas to nothing, and names where they are.
func TestNewRefusesDanglingReferences(t *testing.T) {
	t.Parallel()
	event := func(schema string) func(*partnerkit.Config) {
		return func(c *partnerkit.Config) {
			catalog, err := events.NewCatalog(events.Definition{
				Name: "order.lost", Audience: events.AudienceBusiness, Scope: "invoices:read", Description: "An order was lost",
				Sample: json.RawMessage(`{}`), Schema: json.RawMessage(schema),
			})
			if err != nil {
				t.Fatal(err)
			}
			c.Events, c.Routes[0].Description.Response = catalog, nil
		}
	}
	schema := func(text string) func(*partnerkit.Config) {
		return func(c *partnerkit.Config) { c.Schemas["New/Order"] = json.RawMessage(text) }
	}
	for name, test := range map[string]struct {
		change func(*partnerkit.Config)
		want   string
	}{
		"event":         {event(`{"properties":{"line":{"items":{"$ref":"#/components/schemas/Line"}}}}`), `Config.Events: the schema of order.lost: at "/properties/line/items": there is no #/components/schemas/Line`},
		"named":         {schema(`{"allOf":[{"$ref":"#/components/schemas/Missing"}]}`), `Config.Schemas: New/Order: at "/allOf/0": there is no #/components/schemas/Missing`},
		"named, inside": {schema(`{"$ref":"#/$defs/Line"}`), `Config.Schemas: New/Order has no #/$defs/Line, to which "" refers`},
		"member of one": {schema(`{"$ref":"#/components/schemas/Order/properties/total"}`), `there is no #/components/schemas/Order/properties/total`},
		"request": {func(c *partnerkit.Config) {
			c.Routes[1].Description.Request = json.RawMessage(`{"$ref":"#/components/schemas/X"}`)
		}, `Config.Routes: "POST /orders": Request: at "": there is no #/components/schemas/X`},
		"response": {func(c *partnerkit.Config) { c.Routes[0].Description.Response = json.RawMessage(`{"$ref":"#/nothing"}`) }, `Config.Routes: "GET /orders/{id}": Response has no #/nothing`},
		"query": {func(c *partnerkit.Config) {
			c.Routes[0].Description.Query = []guard.QueryParameter{{Name: "q", Schema: json.RawMessage(`{"$ref":"#/components/schemas/X"}`)}}
		}, `query parameter q: at ""`},
		"of ours":          {schema(`{"$ref":"#/components/schemas/Error404"}`), ""},
		"title of event":   {schema(`{"$ref":"#/components/schemas/Order/properties/id"}`), ""},
		"another document": {schema(`{"$ref":"https://schemas.example/order.json"}`), ""},
		"itself":           {schema(`{"properties":{"next":{"$ref":"#"}}}`), ""},
		"named ref":        {schema(`{"properties":{"$ref":{"type":"string"}}}`), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := describedConfig(t)
			cfg.Routes = slices.Clone(cfg.Routes)
			test.change(&cfg)
			_, err := partnerkit.New(cfg)
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// References inside of a schema lead to the same place in the description.
func TestOpenAPILocalReferences(t *testing.T) {
	t.Parallel()
	local := json.RawMessage(`{"title":"Tree","properties":{"next":{"$ref":"#"},"leaf":{"$ref":"#/$defs/Leaf"}},"$defs":{"Leaf":{"type":"string"}}}`)
	untitled := json.RawMessage(strings.Replace(string(local), `"title":"Tree",`, "", 1))
	define := func(name string, schema json.RawMessage) events.Definition {
		return events.Definition{Name: name, Audience: events.AudienceBusiness, Scope: "invoices:read", Description: "Something grew", Sample: json.RawMessage(`{"leaf":"a"}`), Schema: schema}
	}
	cfg := describedConfig(t)
	var err error
	if cfg.Events, err = events.NewCatalog(define("tree.grew", local), define("tree.fell", local), define("bush.grew", untitled)); err != nil {
		t.Fatal(err)
	}
	cfg.Schemas["Named"] = untitled
	cfg.Routes[0].Description.Response = untitled
	cfg.Routes[0].Description.Query = []guard.QueryParameter{{Name: "a"}, {Name: "q", Schema: untitled}}
	cfg.Routes[1].Description.Request = json.RawMessage(`{"$ref":"#/components/schemas/Named"}`)
	text := platform(t, cfg).OpenAPI()
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, part := range strings.Split(string(text), `"$ref": "#`)[1:] {
		pointer, _, _ := strings.Cut(part, `"`)
		value := document
		for _, name := range strings.Split(pointer, "/")[1:] {
			name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
			switch inner := value.(type) {
			case map[string]any:
				value = inner[name]
			case []any:
				i, _ := strconv.Atoi(name)
				value = inner[i]
			default:
				value = nil
			}
		}
		if value == nil {
			t.Errorf("there is no %s", pointer)
		}
		if strings.HasSuffix(pointer, "/$defs/Leaf") {
			found++
		}
	}
	if found != 5 { // Tree, bush.grew, Named, the response and the query parameter
		t.Errorf("%d references to a leaf", found)
	}
}

// The numbers of a description are those of the configuration, and the defaults without one.
func TestDescriptionFigures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*partnerkit.Config)
		want   []string
	}{
		"defaults": {func(*partnerkit.Config) {}, []string{
			"during the last 30 days", "for 24 hours, and the work", "within 10 minutes.", "held for 5 minutes", `"const": 3600`, `"const": 600`, `"const": 5`,
			"after 1 minute, 5 minutes, 30 minutes, 2 hours and 6 hours, and has failed after 6 attempts.", "(300 per minute)", "(10,000 per minute)", "(600 per minute)",
			"20 wrong codes within 10 minutes close the form for 10 minutes.", "after 2 days it is told", "For 24 hours after a rotation",
		}},
		"configured": {func(c *partnerkit.Config) {
			c.Retention = partnerkit.Retention{Events: 7 * 24 * time.Hour, IdempotencyKeys: 2 * time.Hour}
			c.Lifetimes = oauthserver.Lifetimes{Code: time.Minute, AccessToken: 20 * time.Minute, RedactDelay: 24 * time.Hour}
			c.Limits.PerBusiness = ratelimit.Limit{Count: 50, Window: time.Second}
			c.Webhooks.RetryDelays, c.Webhooks.SecretOverlap = []time.Duration{time.Minute}, time.Hour
		}, []string{
			"during the last 7 days", "for 2 hours, and the work", "once, within 1 minute.", `"const": 1200`, "after 24 hours it is told", "(50 per second)",
			"after 1 minute, and has failed after 2 attempts.", "For 1 hour after a rotation",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := describedConfig(t)
			test.change(&cfg)
			p, err := partnerkit.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			got := string(p.OpenAPI())
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("the description lacks %q", want)
				}
			}
			if strings.Contains(got, "${") {
				t.Error("a name is left")
			}
		})
	}
}

package openapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// webhookTag is the tag of all webhooks.
const webhookTag = "Webhook events"

// addEvent describes the webhook of an event.
func (g *generator) addEvent(e Event) error {
	data, err := g.dataOf(e)
	if err != nil {
		return err
	}
	sample, err := parse(e.Sample)
	if err != nil {
		return err
	}
	delivery := newObject().with("type", "object").with("additionalProperties", false).
		with("required", texts("id", "eventId", "type", "apiVersion", "businessId", "created", "data")).
		with("properties", newObject().
			with("id", newObject().with("type", "string").with("pattern", "^dlv_[0-9a-v]{26}$").with("description", "The id of the delivery.")).
			with("eventId", newObject().with("type", "string").with("pattern", "^evt_[0-9a-v]{26}$")).
			with("type", newObject().with("const", e.Name)).
			with("apiVersion", ref("schemas", "Version")).
			with("businessId", newObject().with("type", "string")).
			with("created", newObject().with("type", "integer").with("description", "When the event was recorded; Unix seconds.")).
			with("data", data))
	body := newObject().with("anyOf", []any{delivery, ref("schemas", "TestDelivery")}).
		with("properties", newObject().with("type", newObject().with("const", e.Name)))
	example := newObject().with("id", "dlv_06g5plpa01o015r0g79mgnmm4c").with("eventId", "evt_06g5plpa01o015r0g79mgnmm4c").with("type", e.Name).
		with("apiVersion", g.in.Version).with("businessId", "biz_bakery").with("created", json.Number("1788264000")).with("data", sample)
	content := jsonContent(body)
	content.object("application/json").with("example", example)
	parameters := []any{}
	for _, name := range []string{"WebhookDelivery", "WebhookEvent", "WebhookEventId", "WebhookSequence", "WebhookSignature", "WebhookAgent"} {
		parameters = append(parameters, ref("parameters", name))
	}
	operation := newObject().with("operationId", webhookID(e.Name)).with("tags", texts(webhookTag)).
		with("summary", e.Summary).with("description", e.Text).with("security", []any{}).with("parameters", parameters).
		with("requestBody", newObject().with("required", true).with("content", content)).
		with("responses", newObject().with("2XX", ref("responses", "Received")).with("default", ref("responses", "TriedAgain")))
	g.use(operation)
	g.webhooks.with(e.Name, newObject().with("post", operation))
	return nil
}

// dataOf returns the schema of an event's data. A schema with a title is a component of that
// name, unless another schema has the name.
func (g *generator) dataOf(e Event) (*object, error) {
	if e.Schema == nil {
		return newObject().with("type", "object"), nil
	}
	schema, err := parseObject(e.Schema)
	if err != nil {
		return nil, err
	}
	title := schema.text("title")
	names := []string{title, title + "Data"}
	if !isName(title) {
		names = nil
	}
	schemas := g.components.object("schemas")
	for _, name := range names {
		component, err := parseObject(e.Schema)
		if err != nil {
			return nil, err
		}
		rebase(component, "#/components/schemas/"+name)
		known, ok := schemas.values[name].(*object)
		if !ok {
			component.remove("title")
			schemas.with(name, component)
			return ref("schemas", name), nil
		}
		if isSame(known, component) {
			return ref("schemas", name), nil
		}
	}
	rebase(schema, "#/webhooks/"+escape(e.Name)+"/post/requestBody/content/application~1json/schema/anyOf/0/properties/data")
	return schema, nil
}

// isSame reports whether two schemas allow the same, by their members other than titles,
// descriptions and examples.
func isSame(a, b *object) bool {
	left, _ := encode(bare(a))
	right, _ := encode(bare(b))
	return bytes.Equal(left, right)
}

// bare returns a copy of a schema without annotations. It keeps the members of properties:
// their names are chosen by the host and may equal the name of an annotation.
func bare(value any) any {
	switch value := value.(type) {
	case *object:
		copied := newObject()
		for _, name := range value.names {
			switch inner := value.values[name]; name {
			case "title", "description", "examples":
			case "properties":
				properties := newObject()
				if given, ok := inner.(*object); ok {
					for _, property := range given.names {
						properties.with(property, bare(given.values[property]))
					}
				}
				copied.with(name, properties)
			default:
				copied.with(name, bare(inner))
			}
		}
		return copied
	case []any:
		all := make([]any, len(value))
		for i, one := range value {
			all[i] = bare(one)
		}
		return all
	}
	return value
}

// isName reports whether a title can name a component.
func isName(title string) bool {
	return title != "" && strings.Trim(title, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

// webhookID makes a name such as onInvoiceCreated.
func webhookID(event string) string {
	id := "on"
	for _, part := range strings.FieldsFunc(event, func(c rune) bool { return c == '.' || c == '_' }) {
		id += capital(part)
	}
	return id
}

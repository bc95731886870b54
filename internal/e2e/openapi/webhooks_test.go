package openapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// delivered is a request as it came in.
type delivered struct {
	*http.Request
	body []byte
}

// CAT-01, WH-02: every event of the catalog arrives as its webhook is
// described, headers and body, with real records where the books have them and with
// the samples of the catalog; so do test deliveries.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	s := serve(t, ":memory:")
	n := s.newcomers()
	arrived := make(chan delivered, 1000)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- delivered{r.Clone(t.Context()), body}
	}))
	defer receiver.Close()
	names := keys(s.checker.doc.Webhooks)
	if len(names) != 45 {
		t.Errorf("%d webhooks are described, want 45", len(names))
	}
	hooks := s.API + "/developer/apps/app_sync/webhooks"
	subscribe := func(events ...string) string {
		return s.do(call{method: "POST", url: hooks, as: n.dev, json: map[string]any{"url": receiver.URL, "events": events}, want: 201}).text("id")
	}
	all := subscribe(names...)
	for _, definition := range s.do(call{method: "GET", url: s.API + "/developer/events", as: n.dev, want: 200}).get("data").([]any) {
		definition := definition.(map[string]any)
		event := map[string]any{"businessId": "biz_bakery", "type": definition["name"], "data": definition["sample"]}
		if definition["audience"] == "app" {
			event["clientId"] = syncID
		}
		s.dev("/events", event)
	}
	s.books(n)
	s.appData(n)
	used := []string{all}
	for _, name := range []string{"invoice.created", "app.installed", "period.closed"} {
		hook := subscribe(name)
		s.do(call{method: "POST", url: hooks + "/" + hook + "/test", as: n.dev, want: 202})
		used = append(used, hook)
	}
	sent := 0
	for _, hook := range used {
		sent += s.settle(n, hooks+"/"+hook+"/deliveries")
	}
	seen := map[string]bool{}
	for range sent {
		d := <-arrived
		name := d.Header.Get("X-Webhook-Event")
		seen[name] = true
		for _, problem := range s.checker.compareDelivery(t, name, d) {
			t.Errorf("%s: not as described: %s: %s", name, problem, d.body)
		}
	}
	for _, name := range names {
		if !seen[name] {
			t.Errorf("%s did not arrive", name)
		}
	}
}

// settle waits until all deliveries of a webhook have arrived, and returns how many
// they are.
func (s *service) settle(n *newcomers, deliveries string) int {
	for {
		s.dev("/clock", map[string]any{"advanceSeconds": 1})
		all := s.do(call{method: "GET", url: deliveries, as: n.dev, want: 200}).get("data").([]any)
		if len(all) > 0 && !slices.ContainsFunc(all, func(d any) bool { return d.(map[string]any)["status"] != "delivered" }) {
			return len(all)
		}
	}
}

// compareDelivery is compare for webhooks, which no router of kin-openapi finds.
func (c *checker) compareDelivery(t *testing.T, name string, d delivered) (problems []string) {
	item := c.doc.Webhooks[name]
	if item == nil {
		return []string{"there is no such webhook"}
	}
	d.Body = io.NopCloser(bytes.NewReader(d.body))
	input := &openapi3filter.RequestValidationInput{Request: d.Request, Options: filter, Route: &routers.Route{
		Spec: c.doc, Path: name, PathItem: item, Method: http.MethodPost, Operation: item.Post,
	}}
	if err := openapi3filter.ValidateRequest(t.Context(), input); err != nil {
		problems = append(problems, err.Error())
	}
	described := parameterNames(item.Post)
	for header := range d.Header {
		if !slices.Contains(append(described, "Content-Length", "Content-Type", "Accept-Encoding"), header) {
			problems = append(problems, "header "+header+" is not described")
		}
	}
	var body struct{ ID, EventID, Type string }
	if err := json.Unmarshal(d.body, &body); err != nil {
		return append(problems, err.Error())
	}
	if body.ID != d.Header.Get("X-Webhook-Id") || body.EventID != d.Header.Get("X-Webhook-Event-Id") || body.Type != name {
		problems = append(problems, "headers and body differ")
	}
	return problems
}

func parameterNames(operation *openapi3.Operation) (names []string) {
	for _, p := range operation.Parameters {
		names = append(names, http.CanonicalHeaderKey(p.Value.Name))
	}
	return names
}

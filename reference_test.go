package partnerkit_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/partnertest"
)

// The reference shows the platform's own description, or another one, to everybody.
func TestReference(t *testing.T) {
	t.Parallel()
	cfg, pages := describedConfig(t), http.NewServeMux()
	cfg.AppRoutes = pages
	p := platform(t, cfg)
	reference, err := p.Reference("/openapi", nil)
	if err != nil {
		t.Fatal(err)
	}
	pages.Handle("/openapi", reference)
	pages.Handle("/openapi/", reference)
	index := get(p.App(), "/openapi").Body.String()
	for _, want := range []string{"<h1>Partner API of Acme Books</h1>", `href="/openapi/orders#placeOrder"`, "/orders<wbr>/{id}", "order.shipped"} {
		if !strings.Contains(index, want) {
			t.Errorf("no %q in\n%s", want, index)
		}
	}
	topic := get(p.App(), "/openapi/orders")
	if policy := topic.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "connect-src 'self' https://api.example.com;") {
		t.Errorf("the policy of a topic is %s", policy)
	}
	// A console is where sandbox tokens come from.
	if strings.Contains(topic.Body.String(), "data-console") {
		t.Error("without a console there is a link to it")
	}
	cfg.Developers = partnertest.NewHost()
	developing := platform(t, cfg)
	if reference, err = developing.Reference("/docs", []byte(`{"openapi": "3.1.0", "servers": [{"url": "https://api.example.com"}], "paths": {"/own": {"get": {"tags": ["Own"]}}}}`)); err != nil {
		t.Fatal(err)
	}
	if own := get(reference, "/docs/own").Body.String(); !strings.Contains(own, `data-console="/developer"`) || !strings.Contains(own, "GET") {
		t.Errorf("the topic of another document is\n%s", own)
	}
	for path, document := range map[string]string{"/openapi": "openapi: 3.1.0", "openapi": `{"openapi": "3.1.0"}`} {
		if _, err := p.Reference(path, []byte(document)); err == nil || !strings.HasPrefix(err.Error(), "partnerkit: ") {
			t.Errorf("%s with %s: %v", path, document, err)
		}
	}
}

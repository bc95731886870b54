package pages_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/theme"
)

// A host can mount the pages at any prefix: all their links are below the prefix.
func TestPrefix(t *testing.T) {
	t.Parallel()
	const prefix = "/partners/console"
	o, app, fill := newComplete(t, func(cfg *pages.Config) {
		cfg.Prefix, cfg.Theme = prefix, theme.Theme{SignOut: "/logout", Links: []theme.Link{{Text: "Home", Href: "/"}}}
	})
	routes := http.NewServeMux()
	for _, route := range o.pages.Routes() {
		routes.Handle(route.Method+" "+prefix+route.Path, http.NotFoundHandler())
	}
	responses := []response{
		o.get("/nowhere"),
		o.post("/apps/new"),
		o.post("/apps/" + app.ID + "/secrets").want(http.StatusOK),
		o.post("/apps/"+app.ID+"/webhooks/new", "url", "https://partner.example/").want(http.StatusOK),
		o.post(fill("/apps/{appId}/webhooks/{webhookId}/rotate-secret")).want(http.StatusOK),
	}
	for _, route := range o.pages.Routes() {
		if route.Method == http.MethodGet {
			responses = append(responses, o.get(fill(route.Path)))
		}
	}
	for _, got := range responses {
		for _, attribute := range []string{"href", "action", "src", "data-live", "data-replace"} {
			for _, address := range got.values(attribute) {
				isOurs := address == prefix || strings.HasPrefix(address, prefix+"/") || strings.HasPrefix(address, prefix+"?")
				if !isOurs && address[:min(1, len(address))] != "#" && !slices.Contains([]string{"/", "/logout"}, address) {
					t.Errorf("%s: %s=%q", got.Request, attribute, address)
				}
			}
		}
	}
	// Every form is sent to a route.
	form := regexp.MustCompile(`<form method="(\w+)" action="([^"]*)"`)
	for _, got := range responses {
		if sent := form.FindAllStringSubmatch(got.Body, -1); len(sent) != strings.Count(got.Body, "<form") {
			t.Errorf("%s: a form without method or action", got.Request)
		}
		for _, found := range form.FindAllStringSubmatch(got.Body, -1) {
			if _, pattern := routes.Handler(httptest.NewRequest(strings.ToUpper(found[1]), found[2], nil)); pattern == "" && found[2] != "/logout" {
				t.Errorf("%s: a form is sent to %s %q", got.Request, found[1], found[2])
			}
		}
	}
	for _, address := range o.get("").values("src") {
		got := o.get(strings.TrimPrefix(address, prefix)).want(http.StatusOK)
		if !strings.Contains(got.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", got.Request, got.Header)
		}
	}
	o.post(fill("/apps/{appId}/webhooks/{webhookId}"), "url", "https://partner.example/").wantTo(fill("/apps/{appId}/webhooks/{webhookId}?done=webhook-updated"))
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	o := newHarness(t)
	signIn := o.host.SignIn
	for name, cfg := range map[string]pages.Config{
		"no console":         {SignIn: signIn},
		"no way to sign in":  {Console: o.console},
		"a relative prefix":  {Console: o.console, SignIn: signIn, Prefix: "developer"},
		"a prefix of slash":  {Console: o.console, SignIn: signIn, Prefix: "/"},
		"a prefix, a folder": {Console: o.console, SignIn: signIn, Prefix: "/developer/"},
		"a pattern":          {Console: o.console, SignIn: signIn, Prefix: "/{tenant}"},
		"no origin":          {Console: o.console, SignIn: signIn, Origins: []string{"example.com"}},
	} {
		if _, err := pages.New(cfg); err == nil {
			t.Errorf("New takes %s", name)
		}
	}
	if _, err := pages.New(pages.Config{Console: new(console.Console), SignIn: signIn}); err != nil {
		t.Error(err)
	}
}

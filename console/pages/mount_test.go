package pages_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/pages"
)

// A host mounts the pages where it likes: whatever they refer to is below there.
func TestPrefix(t *testing.T) {
	t.Parallel()
	const prefix = "/partners/console"
	o, app, fill := newWorld(t, func(cfg *pages.Config) {
		cfg.Prefix, cfg.SignOut, cfg.Links = prefix, "/logout", []pages.Link{{Text: "Home", Href: "/"}}
	})
	posts := http.NewServeMux()
	for _, route := range o.pages.Routes() {
		if route.Method == http.MethodPost {
			posts.Handle(prefix+route.Path, http.NotFoundHandler())
		}
	}
	answers := []answer{
		o.get("/nowhere"),
		o.post("/apps/new"),
		o.post("/apps/" + app.ID + "/secrets").want(http.StatusOK),
		o.post("/apps/"+app.ID+"/webhooks/new", "url", "https://partner.example/").want(http.StatusOK),
		o.post(fill("/apps/{appId}/webhooks/{webhookId}/rotate-secret")).want(http.StatusOK),
	}
	for _, route := range o.pages.Routes() {
		if route.Method == http.MethodGet {
			answers = append(answers, o.get(fill(route.Path)))
		}
	}
	for _, got := range answers {
		for _, attribute := range []string{"href", "action", "src", "data-live", "data-replace"} {
			for _, address := range got.values(attribute) {
				isOurs := address == prefix || strings.HasPrefix(address, prefix+"/") || strings.HasPrefix(address, prefix+"?")
				if !isOurs && !slices.Contains([]string{"#main", "/", "/logout"}, address) {
					t.Errorf("%s: %s=%q", got.what, attribute, address)
				}
			}
		}
	}
	// Forms post to where somebody listens.
	for _, got := range answers {
		for _, address := range got.values("action") {
			if _, pattern := posts.Handler(httptest.NewRequest(http.MethodPost, address, nil)); pattern == "" && address != "/logout" {
				t.Errorf("%s: a form posts to %q", got.what, address)
			}
		}
	}
	for _, address := range o.get("").values("src") {
		got := o.get(strings.TrimPrefix(address, prefix)).want(http.StatusOK)
		if !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", got.what, got.header)
		}
	}
	o.post(fill("/apps/{appId}/webhooks/{webhookId}"), "url", "https://partner.example/").wantTo(fill("/apps/{appId}/webhooks/{webhookId}?done=webhook-updated"))
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	signIn := people{}.SignIn
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

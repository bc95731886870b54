package console_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	valid := console.Config{Store: d.store, Host: d.people, OAuth: d.oauth, Webhooks: d.Hooks, Analytics: d.Calls}
	if _, err := console.New(valid); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*console.Config){
		"Store":     func(cfg *console.Config) { cfg.Store = nil },
		"Host":      func(cfg *console.Config) { cfg.Host = nil },
		"OAuth":     func(cfg *console.Config) { cfg.OAuth = nil },
		"Webhooks":  func(cfg *console.Config) { cfg.Webhooks = nil },
		"Analytics": func(cfg *console.Config) { cfg.Analytics = nil },
		"Origins":   func(cfg *console.Config) { cfg.Origins = []string{"app.example.com"} },
	} {
		cfg := valid
		change(&cfg)
		if _, err := console.New(cfg); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

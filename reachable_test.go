package partnerkit_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/guard"
	"github.com/partnerkit/partnerkit/partnertest"
)

// API-07: a route on a path of a feature is refused, and so are two hosts of one origin.
func TestNewRefusesWhatCannotBeReached(t *testing.T) {
	t.Parallel()
	const oauth, console = "belongs to the OAuth server", "belongs to the developer console"
	for pattern, want := range map[string]string{
		"GET /oauth/x":                    oauth,
		"POST /oauth/token":               oauth,
		"GET /oauth/{rest...}":            oauth,
		"GET /oauth/{$}":                  oauth,
		"GET /.well-known/jwks.json":      oauth,
		"GET /.well-known/{name}":         oauth,
		"GET api.example.com/oauth/x":     oauth,
		"GET /%6fauth/x":                  oauth,
		"GET /developer":                  console,
		"POST /developer/apps/{id}/notes": console,
		"GET  /developer/{rest...}":       console,
		"GET /developers":                 "",
		"GET /oauthx/y":                   "",
		"GET /oauth":                      "",
		"GET /{any}/a/b":                  "",
		"GET /books/oauth/token":          "",
	} {
		t.Run("API-07 "+pattern, func(t *testing.T) {
			t.Parallel()
			cfg := config(t)
			cfg.Developers = partnertest.NewHost()
			cfg.Routes = []guard.Route{{Pattern: pattern, Scope: guard.AnyScope, Handler: guard.HTTP(http.HandlerFunc(teapot))}}
			_, err := partnerkit.New(cfg)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"`+pattern+`"`)) {
				t.Errorf("%v, want %q", err, want)
			}
			cfg.Developers = nil
			if _, err := partnerkit.New(cfg); want == console && err != nil {
				t.Errorf("without a console: %v", err)
			}
		})
	}
	t.Run("API-07 every such route is named", func(t *testing.T) {
		cfg := config(t)
		for _, pattern := range []string{"GET /oauth/a", "GET /.well-known/b"} {
			cfg.Routes = append(cfg.Routes, guard.Route{Pattern: pattern, Scope: guard.AnyScope, Handler: guard.HTTP(http.HandlerFunc(teapot))})
		}
		if _, err := partnerkit.New(cfg); err == nil || !strings.Contains(err.Error(), "/oauth/a") || !strings.Contains(err.Error(), "/.well-known/b") {
			t.Error(err)
		}
	})
	for _, app := range []string{"https://api.example.com", "https://API.example.com", "https://api.example.com:443"} {
		t.Run("META-05 equal origins "+app, func(t *testing.T) {
			cfg := config(t)
			cfg.AppURL = app
			_, err := partnerkit.New(cfg)
			if err == nil || !strings.Contains(err.Error(), "Config.APIURL and Config.AppURL are both https://api.example.com") {
				t.Error(err)
			}
		})
	}
}

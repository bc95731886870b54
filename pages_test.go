package partnerkit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/theme"
)

// staff is a host with a signed-in user who has a business and makes apps.
type staff struct{ somebody }

func (staff) Businesses(context.Context, string) ([]oauthserver.Business, error) {
	return []oauthserver.Business{{ID: "biz_1", Name: "Corner Bakery", MayConnect: true}}, nil
}

func (staff) Organizations(context.Context, string) ([]console.Organization, error) {
	return []console.Organization{{ID: "org_1", Name: "One"}}, nil
}

// One theme and one choice of languages are for all pages; the console is in English.
func TestThemeAndLanguages(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Host, cfg.Developers, cfg.Theme, cfg.Languages = staff{}, staff{}, brand, languages
	app := platform(t, cfg).App()
	for path, want := range map[string]string{"/device": "de", "/settings/apps": "de", "/oauth/authorize?client_id=x": "de", "/developer": "en"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.AddCookie(&http.Cookie{Name: "language", Value: "de"})
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		if body := w.Body.String(); !strings.Contains(body, `<html lang="`+want+`">`) || !strings.Contains(body, `src="/brand/logo.svg"`) || !strings.Contains(body, "--accent: #1d4ed8") {
			t.Errorf("%s: %d %s", path, w.Code, body)
		}
	}
}

// Wrong fields are named, all at once.
func TestThemeAndLanguagesRefused(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.Theme = theme.Theme{Logo: "https://cdn.example.com/logo.svg", Light: theme.Colors{Accent: "blue"}}
	cfg.Languages = locale.Languages{Offered: []string{"fr"}}
	_, err := partnerkit.New(cfg)
	for _, want := range []string{"Theme.Logo", "Theme.Light.Accent", "Languages.Offered[0]"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named: %v", want, err)
		}
	}
}

// A host that has the page of connected apps already keeps it.
func TestOwnPageOfConnectedApps(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.OAuth.ConnectedApps.Omit = true
	cfg.AppRoutes = http.HandlerFunc(teapot)
	if w := get(platform(t, cfg).App(), "/settings/apps"); w.Code != http.StatusTeapot {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

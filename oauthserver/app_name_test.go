package oauthserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver"
)

// REG-02: one line of 1 to 120 characters, at least one of which is visible.
func TestAppName_REG02(t *testing.T) {
	t.Parallel()
	const (
		length  = "must have 1 to 120 characters"
		hidden  = "has a character that cannot be shown"
		visible = "must have at least one visible character"
	)
	for name, want := range map[string]string{
		"A": "", "Ünï": "", "Büro & Söhne": "", "会計": "", "חשבונות": "", "e\u0301": "", "\U0001f469\u200d\U0001f4bb": "", "می\u200cخواهم": "",
		strings.Repeat("ü", 120): "", "1": "", "…": "", "\u2764\ufe0f": "",
		"": length, "  ": length, "\t\n": length, "\u00a0\u2003": length, strings.Repeat("ü", 121): length,
		"a\nb": hidden, "a\u0000b": hidden, "a\u202eb": hidden, "a\u2066b": hidden, "a\u2028b": hidden, "a\u200bb": hidden, "\u200b": hidden,
		"a\u00adb": hidden, "\ufeff": hidden, "a\ue000": hidden, "a\U000e0041": hidden, "\xff\u200e": hidden,
		"\u0301": visible, "\u0301\u0302\u0303": visible, " \u0301 ": visible, "\u20dd": visible, "\u0903": visible, "\u034f": visible, "\ufe0f": visible,
		"\u200d": visible, "\u200c\u200d": visible, "\u115f\u1160": visible, "\u3164": visible, "\uffa0": visible, "\u17b4": visible, "\u2800": visible, "\U0001d159": visible,
	} {
		got := ""
		if err := oauthserver.CheckAppName(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%+q: %q, want %q", name, got, want)
		}
	}
}

// invisible are names of which nothing can be seen.
var invisible = map[string]string{
	"combining": "\u0301\u0302", "Hangul filler": "\u3164", "braille blank": "\u2800", "joiner": "\u200d", "zero width space": "\u200b", "variation selector": "\ufe0f",
}

// REG-02: the name is checked in the same way at each place where an app gets one.
func TestInvisibleNames_REG02(t *testing.T) {
	t.Parallel()
	for kind, name := range invisible {
		t.Run("REG-02 "+kind, func(t *testing.T) {
			t.Parallel()
			k := newAPIHarness(t)
			app := validApp()
			created, err := k.server.CreateApp(t.Context(), app)
			k.must(err)
			if _, err := k.server.UpdateApp(t.Context(), created.App.ID, oauthserver.AppChange{Name: &name}); err == nil {
				t.Error("an app was renamed")
			}
			app.Name = name
			if _, err := k.server.CreateApp(t.Context(), app); err == nil {
				t.Error("an app was created")
			}
			body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{apiRedirect}})
			k.must(err)
			newAPIHarness(t, openRegistration).postJSON("/oauth/register", string(body)).refused(http.StatusBadRequest, "invalid_client_metadata", "*")
		})
	}
}

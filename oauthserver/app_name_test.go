package oauthserver_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// REG-02, CON-15: one line of 1 to 120 characters, at least one of which is visible.
func TestAppName_REG02(t *testing.T) {
	t.Parallel()
	const (
		length  = "must have 1 to 120 characters"
		visible = "must have at least one visible character"
	)
	hidden := func(code string) string { return "must not have the character U+" + code + ", which cannot be seen" }
	for name, want := range map[string]string{
		"A": "", "Ünï": "", "Büro & Söhne": "", "会計": "", "חשבונות": "", "e\u0301": "", "\U0001f469\u200d\U0001f4bb": "", "می\u200cخواهم": "",
		strings.Repeat("ü", 120): "", "1": "", "…": "", "\u2764\ufe0f": "", "\U0001fae9": "",
		"חשבונות\u200e (ILS)": "", "\u200fA": "", "١٢\u061c٪": "", "\u8fba\U000e0100": "",
		"": length, "  ": length, "\t\n": length, "\u00a0\u2003": length, strings.Repeat("ü", 121): length,
		"a\nb": hidden("000A"), "a\u0000b": hidden("0000"), "a\u202eb": hidden("202E"), "a\u2066b": hidden("2066"), "a\u2028b": hidden("2028"), "a\u200bb": hidden("200B"), "\u200b": hidden("200B"),
		"a\u00adb": hidden("00AD"), "\ufeff": hidden("FEFF"), "a\ue000": hidden("E000"), "a\U000e0041": hidden("E0041"), "\xff\u200e": "must be valid UTF-8",
		"\u034f": hidden("034F"), "\u115f\u1160": hidden("115F"), "\u3164": hidden("3164"), "\uffa0": hidden("FFA0"), "\u17b4": hidden("17B4"),
		"\u0301": visible, "\u0301\u0302\u0303": visible, " \u0301 ": visible, "\u20dd": visible, "\u0903": visible, "\ufe0f": visible,
		"\u200d": visible, "\u200c\u200d": visible, "\u200e\u061c": visible, "\u2800": visible, "\U0001d159": visible,
	} {
		if got := oauthserver.AppNameProblem(name); got != want {
			t.Errorf("%+q: %q, want %q", name, got, want)
		}
	}
}

// invisible are names that cannot be seen, or parts of which cannot.
var invisible = map[string]string{
	"CON-15 direction": "Sync\u202eknab", "CON-15 isolate": "Sync\u2067knab\u2069", "CON-15 line": "Sync\nBank", "CON-15 zero width": "Sy\u2060nc",
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
			created, err := k.OAuth.CreateApp(t.Context(), app)
			k.Must(err)
			if _, err := k.OAuth.UpdateApp(t.Context(), created.App.ID, oauthserver.AppChange{Name: &name}); err == nil {
				t.Error("an app was renamed")
			}
			app.Name = name
			if _, err := k.OAuth.CreateApp(t.Context(), app); err == nil {
				t.Error("an app was created")
			}
			body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{apiRedirect}})
			k.Must(err)
			document, err := json.Marshal(withMembers(goodDocument(toolURL), map[string]any{"client_name": name}))
			k.Must(err)
			if _, err := oauthserver.ParseDocument(toolURL, document, identity.DefaultScopes()); err == nil {
				t.Error("a document was accepted")
			}
			newAPIHarness(t, openRegistration).postJSON("/oauth/register", string(body)).refused(http.StatusBadRequest, "invalid_client_metadata", "*")
		})
	}
}

package locale_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/locale"
)

// German has every text of English with the same placeholders, and every scope.
func TestGermanIsComplete(t *testing.T) {
	t.Parallel()
	names := func(text string) []string {
		all := regexp.MustCompile(`{\w+}`).FindAllString(text, -1)
		slices.Sort(all)
		return all
	}
	english, german := locale.English(), locale.German()
	for key, text := range english {
		if got, ok := german[key]; !ok || got == "" || !slices.Equal(names(got), names(text)) {
			t.Errorf("%s: %q for %q", key, got, text)
		}
	}
	for _, scope := range identity.DefaultScopes().All() {
		if german["scope:"+scope.Name] == "" {
			t.Errorf("%s has no German description", scope.Name)
		}
	}
	if want := len(english) + len(identity.DefaultScopes().All()); len(german) != want {
		t.Errorf("%d texts in German, want %d", len(german), want)
	}
	english["consent.allow"] = "changed"
	if (locale.Language{}).Text("consent.allow") != "Allow" {
		t.Error("the built-in texts can be changed")
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	b := book(t, locale.Languages{Offered: []string{"en", "de", "de-AT", "fr"}, Texts: map[string]locale.Texts{
		"de-at": {"consent.allow": "Erlauben"},
		"de":    {"consent.deny": "Nein", "scope:invoices:read": "eigene Beschreibung", "link:/x": "Verweis"},
		"en":    {"consent.allow": "Yes", "consent.title": "May {app} connect?"},
		"fr":    {"consent.deny": "Refuser"},
	}})
	speak := func(tag string) locale.Language { return b.Choose(asking(tag)) }
	for _, test := range []struct{ got, want string }{
		{speak("de-AT").Tag(), "de-AT"},
		{speak("de-AT").Text("consent.allow"), "Erlauben"},
		{speak("de-AT").Text("consent.deny"), "Nein"},
		{speak("de-AT").Text("device.title"), "Gerät verbinden"},
		{speak("fr").Text("consent.deny"), "Refuser"},
		{speak("fr").Text("consent.allow"), "Yes"},
		{speak("fr").Text("device.title"), "Connect a device"},
		{speak("en").Text("consent.title", "app", "{app}"), "May {app} connect?"},
		{speak("en").Text("no.such.key"), "no.such.key"},
		{speak("de").Link("Link", "/x"), "Verweis"},
		{speak("en").Link("Link", "/x"), "Link"},
		{speak("de").Time(time.Date(2026, 9, 1, 14, 0, 0, 0, time.FixedZone("", 7200))), "1.9.2026, 12:00:00 UTC"},
		{speak("de").Scope(identity.Scope{Name: "invoices:read", Description: "Anything"}), "eigene Beschreibung"},
		{speak("de").Scope(identity.Scope{Name: "invoices:write", Description: "Create and change invoices"}), "Rechnungen anlegen und ändern"},
		{speak("de").Scope(identity.Scope{Name: "invoices:write", Description: "Create, change and delete invoices"}), "Create, change and delete invoices"},
		{speak("en").Scope(identity.Scope{Name: "till:open", Description: "Open the till"}), "Open the till"},
	} {
		if test.got != test.want {
			t.Errorf("%q, want %q", test.got, test.want)
		}
	}
	if !speak("en").IsEnglish() || speak("de-AT").IsEnglish() || !(locale.Language{}).IsEnglish() {
		t.Error("IsEnglish is wrong")
	}
}

func TestNewBookRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		languages locale.Languages
		want      string
	}{
		"no texts":     {locale.Languages{Offered: []string{"en", "fr"}}, `Languages.Offered[1] "fr" has no texts`},
		"no tag":       {locale.Languages{Offered: []string{"deutsch!"}}, `Languages.Offered[0] "deutsch!" is not a language tag`},
		"twice":        {locale.Languages{Offered: []string{"de", "DE"}}, `Languages.Offered[1] "DE" is listed twice`},
		"not offered":  {locale.Languages{Texts: map[string]locale.Texts{"de": {}}}, `add "de" to Languages.Offered`},
		"spellings":    {locale.Languages{Offered: []string{"de"}, Texts: map[string]locale.Texts{"de": {}, "DE": {}}}, "two spellings"},
		"key":          {locale.Languages{Texts: map[string]locale.Texts{"en": {"consent.alow": "x"}}}, `Languages.Texts["en"]["consent.alow"] is not a text of any page`},
		"scope":        {locale.Languages{Texts: map[string]locale.Texts{"en": {"scope:till:open": "x"}}}, "add the scope to Config.Scopes"},
		"placeholder":  {locale.Languages{Texts: map[string]locale.Texts{"en": {"consent.title": "Connect?"}}}, "must have the placeholders [app]"},
		"placeholders": {locale.Languages{Texts: map[string]locale.Texts{"en": {"consent.allow": "Yes, {app}"}}}, "must have the placeholders []"},
	} {
		_, err := locale.NewBook(test.languages, identity.DefaultScopes(), slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := locale.NewBook(locale.Languages{Offered: []string{"fr", "x"}, Texts: map[string]locale.Texts{"en": {"y": ""}}}, identity.DefaultScopes(), slog.New(slog.DiscardHandler))
	for _, want := range []string{`"fr"`, `"x"`, `"y"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not named: %v", want, err)
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	choose := func(tag string) *locale.Book {
		return book(t, locale.Languages{Offered: []string{"de", "en"}, Choose: func(*http.Request) string { return tag }})
	}
	for tag, want := range map[string]string{"en": "en", "EN-gb": "en", "fr": "de", "": "de", "de-CH": "de", "*": "de"} {
		if got := choose(tag).Choose(asking("fr")).Tag(); got != want {
			t.Errorf("%q: %s, want %s", tag, got, want)
		}
	}
	if choose("en").VariesByHeader() || !book(t, locale.Languages{Offered: []string{"de", "en"}}).VariesByHeader() ||
		book(t, locale.Languages{}).VariesByHeader() || book(t, locale.Languages{Offered: []string{"de"}}).VariesByHeader() {
		t.Error("VariesByHeader is wrong")
	}
	if got := book(t, locale.Languages{Offered: []string{"de"}}).Choose(asking("en")).Tag(); got != "de" {
		t.Errorf("German alone: %s", got)
	}
}

// A language that lacks texts says so once, with the keys.
func TestNewBookNamesMissingTexts(t *testing.T) {
	t.Parallel()
	scopes, err := identity.NewScopeCatalog(
		identity.Scope{Name: "invoices:read", Description: "See your invoices"},
		identity.Scope{Name: "till:open", Description: "Open the till"},
		identity.Scope{Name: "till:internal", Description: "Do anything", Internal: true},
	)
	if err != nil {
		t.Fatal(err)
	}
	almost := locale.German()
	for key := range almost {
		if strings.HasPrefix(key, "scope:") {
			delete(almost, key)
		}
	}
	delete(almost, "consent.allow")
	delete(almost, "consent.deny")
	almost["consent.business"] = "" // shown empty: the host wants it so
	almost["scope:till:open"] = "Ouvrir la caisse"
	for name, test := range map[string]struct {
		languages locale.Languages
		want      []string
	}{
		"built in":       {locale.Languages{Offered: []string{"de", "en", "de-AT"}}, []string{"language=de-AT keys=[scope:till:open]"}},
		"English alone":  {locale.Languages{}, nil},
		"first":          {locale.Languages{Offered: []string{"de"}}, nil},
		"other language": {locale.Languages{Offered: []string{"en", "fr"}, Texts: map[string]locale.Texts{"fr": almost}}, []string{`language=fr keys="[consent.allow consent.deny scope:invoices:read]"`}},
		"region":         {locale.Languages{Offered: []string{"en-GB", "fr-CH"}, Texts: map[string]locale.Texts{"fr": almost, "fr-CH": {"consent.allow": "Oui", "consent.deny": "Non"}}}, []string{"language=fr-CH keys=[scope:invoices:read]"}},
	} {
		var logged bytes.Buffer
		if _, err := locale.NewBook(test.languages, scopes, slog.New(slog.NewTextHandler(&logged, nil))); err != nil {
			t.Fatal(err)
		}
		if strings.Count(logged.String(), "\n") != len(test.want) {
			t.Errorf("%s: logged %s", name, &logged)
		}
		for _, want := range test.want {
			if !strings.Contains(logged.String(), `level=WARN msg="language lacks texts; they are shown in English" `+want) {
				t.Errorf("%s: logged %s, want %s", name, &logged, want)
			}
		}
	}
}

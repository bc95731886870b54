package locale_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/locale"
)

func book(t *testing.T, l locale.Languages) *locale.Book {
	t.Helper()
	b, err := locale.NewBook(l, identity.DefaultScopes(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asking(header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header["Accept-Language"] = header
	return r
}

func TestAcceptLanguage(t *testing.T) {
	t.Parallel()
	english := locale.Texts{}
	for _, test := range []struct {
		header  string
		offered string
		want    string
	}{
		{"", "en de", "en"},
		{"", "de en", "de"},
		{"de", "en de", "de"},
		{"DE", "en de", "de"},
		{"de-AT", "en de", "de"},
		{"de-AT-1996", "en de", "de"},
		{"de-DE,de;q=0.9,en;q=0.8", "en de", "de"},
		{"fr,en;q=0.5,de;q=0.7", "en de", "de"},
		{"en;q=0.7, de ; q=0.9", "en de", "de"},
		{"de;q=0.5,en;q=0.5", "en de", "de"},
		{"fr", "en de", "en"},
		{"fr", "de en", "de"},
		{"*", "en de", "en"},
		{"fr,*;q=0.1", "de en", "de"},
		{"en;q=0", "en de", "en"}, // something has to be shown
		{"de-AT", "en de de-AT", "de-AT"},
		{"de", "en de-AT", "de-AT"},
		{"de-CH", "en de-AT", "de-AT"}, // it is understood
		{"pt-AO", "en pt-BR pt-PT", "pt-PT"},
		{"zh-TW", "en zh-Hans zh-Hant", "zh-Hant"},
		{"de;q=0.x,en", "de en", "de"}, // cannot be read
		{";;,,de_AT,-,de-,\x00,ende", "en de", "en"},
		{strings.Repeat("fr,", 500) + "de", "en de", "en"}, // is not read that far
		{strings.Repeat("x", 2000) + ",de", "en de", "en"},
	} {
		offered := strings.Fields(test.offered)
		l := locale.Languages{Offered: offered, Texts: map[string]locale.Texts{}}
		for _, tag := range offered {
			l.Texts[tag] = english
		}
		if got := book(t, l).Choose(asking(test.header)).Tag(); got != test.want {
			t.Errorf("%.60q of %s: %s, want %s", test.header, test.offered, got, test.want)
		}
	}
	if got := book(t, locale.Languages{Offered: []string{"en", "de"}}).Choose(asking("fr", "de;q=0.5")).Tag(); got != "de" {
		t.Errorf("two headers: %s", got)
	}
}

func FuzzAcceptLanguage(f *testing.F) {
	for _, seed := range []string{"de-AT,de;q=0.9,*;q=0", ";q=", "en;q=0.5;x", "*"} {
		f.Add(seed)
	}
	b, err := locale.NewBook(locale.Languages{Offered: []string{"en", "de"}}, identity.DefaultScopes(), slog.New(slog.DiscardHandler))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if tag := b.Choose(asking(header)).Tag(); tag != "en" && tag != "de" {
			t.Errorf("%q: %q", header, tag)
		}
	})
}

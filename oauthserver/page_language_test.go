package oauthserver_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/partner"
)

// bilingual offers English and German.
func bilingual(cfg *oauthserver.Config) { cfg.Languages.Offered = []string{"en", "de"} }

// german makes a browser ask for German.
func (b *pageBrowser) german() *pageBrowser {
	b.header.Set("Accept-Language", "de-AT,de;q=0.9,en;q=0.5")
	return b
}

// shows checks that a page is in a language and has these texts.
func (p shownPage) shows(language string, texts ...string) {
	p.t.Helper()
	text := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(p.main(), ""))
	if !strings.Contains(p.Body, `<html lang="`+language+`">`) {
		p.t.Errorf("the page is not in %s:\n%s", language, p.Body)
	}
	for _, want := range texts {
		if !strings.Contains(text, want) {
			p.t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
}

func TestGermanPages(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, bilingual)
	app := e.app(t)

	t.Run("AZ-01 consent", func(t *testing.T) {
		b := e.browser(t).signIn("usr_owner", "biz_bakery").german()
		page := b.ask(app, withParam("scope", "invoices:read invoices:write")).wantOK()
		page.shows("de", "Ledger Sync verbinden?", "Die App darf dann", "Ihre Rechnungen sehen", "Rechnungen anlegen und ändern",
			"In diesem Unternehmen", "Zulassen", "Ablehnen", "Danach kehren Sie zu partner.example zurück.")
		if page.Header.Get("Vary") != "Accept-Language" {
			t.Errorf("Vary %q", page.Header.Values("Vary"))
		}
		b.submit(page, "allow").wantCallback(pageCallback)
	})
	t.Run("DEV-05 device", func(t *testing.T) {
		b := e.browser(t).signIn("usr_owner", "biz_bakery").german()
		b.get("/device").wantOK().shows("de", "Gerät verbinden", "Code, den Ihr Gerät anzeigt", "Weiter")
		page := b.post("/device", url.Values{"user_code": {e.device(t, app).UserCode}}).wantOK()
		page.shows("de", "Ihr Gerät zeigt den Code ", "Zulassen")
		b.submit(page, "allow").wantOK().shows("de", "Ledger Sync ist jetzt mit Corner Bakery verbunden.")
		page = b.post("/device", url.Values{"user_code": {"BCDF-GHJK"}})
		page.wantRefusal(http.StatusBadRequest, "This code is not valid, or it has expired. Check the code on your device and try again.")
		page.shows("de", "Dieser Code ist ungültig oder abgelaufen.")
	})
	t.Run("INST-01 connected apps", func(t *testing.T) {
		b := e.browser(t).signIn("usr_owner", "biz_bakery").german()
		b.get("/settings/apps").wantOK().shows("de", "Verbundene Apps", "Ledger Sync", "Ihre Rechnungen sehen", "Verbunden seit1.9.2026, 12:00:00 UTC",
			"Ledger Sync verliert sofort den Zugriff auf Corner Bakery", "Deinstallieren …")
	})
	t.Run("AZ-01 English", func(t *testing.T) {
		for _, header := range []string{"", "fr", "en-GB,de;q=0.5"} {
			b := e.browser(t).signIn("usr_owner", "biz_bakery")
			b.header.Set("Accept-Language", header)
			b.ask(app).wantOK().shows("en", "Connect Ledger Sync?", "See your invoices", "Allow")
		}
	})
}

// AZ-03: in every language the alert holds the text alone and unchanged; what it means
// stands beside it. A code identifies it.
func TestGermanRefusals_AZ03(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, bilingual)
	app := e.app(t)
	public := e.app(t, func(a *partner.App) { a.Type = partner.Public })
	unreviewed := e.app(t, func(a *partner.App) { a.Reviewed, a.OrganizationID = false, "org_none" })
	for name, test := range map[string]struct {
		app    partner.App
		change func(url.Values)
		user   string
		status int
		alert  string
		beside string
	}{
		"client":     {app, withParam("client_id", "nobody"), "usr_owner", 400, "Invalid client_id", "Diese App ist dem Dienst nicht bekannt"},
		"redirect":   {app, withParam("redirect_uri", "https://evil.example/cb"), "usr_owner", 400, "redirect_uri does not match any registered URI", "Die App wollte Sie an eine Adresse weiterleiten"},
		"scopes":     {app, withParam("scope", "journal:read"), "usr_owner", 400, "Requested scopes not permitted for this client", "Die App fordert Zugriffsrechte an"},
		"PKCE":       {public, withoutParams("code_challenge", "code_challenge_method"), "usr_owner", 400, "PKCE is required for public clients", "vorgeschriebene Sicherheitsprüfung"},
		"target":     {app, withParam("resource", "https://evil.example/"), "usr_owner", 400, "invalid_target", "die nicht zu diesem Dienst gehört"},
		"targets":    {app, withParam("resource", pageAPI, pageAPI), "usr_owner", 400, "invalid_target: resource must be one absolute URI of at most 512 characters", "die nicht zu diesem Dienst gehört"},
		"parameter":  {app, withoutParams("response_type"), "usr_owner", 400, "invalid_request: response_type is missing", "Der Dienst kann diese Anfrage nicht verarbeiten."},
		"expired":    {app, func(v url.Values) { clear(v); v.Set("request_id", "x") }, "usr_owner", 400, "invalid_request: authorization request not found or expired", "Die Anfrage ist abgelaufen"},
		"review":     {unreviewed, func(url.Values) {}, "usr_owner", 403, "This app has not completed review and can only connect to its own sandbox businesses", "noch nicht geprüft"},
		"permission": {app, func(url.Values) {}, "usr_guest", 403, "You do not have permission to connect apps to this business", "Sie dürfen mit diesem Unternehmen keine Apps verbinden."},
	} {
		t.Run("AZ-03 "+name, func(t *testing.T) {
			page := e.browser(t).signIn(test.user, "biz_bakery").german().ask(test.app, test.change)
			page.wantRefusal(test.status, test.alert)
			page.shows("de", test.beside)
			if strings.Count(page.Body, `role="alert"`) != 1 || !strings.Contains(page.Body, `role="alert" id="alert" lang="en"`) {
				t.Errorf("the alert is not marked as English:\n%s", page.main())
			}
			in := e.browser(t).signIn(test.user, "biz_bakery").ask(test.app, test.change)
			in.wantRefusal(test.status, test.alert)
			if strings.Contains(in.Body, `id="alert" lang=`) {
				t.Error("English is marked on a page in English")
			}
		})
	}
}

// The zero value is English, even if the browser asks for another language.
func TestEnglishAlone(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	page := e.browser(t).signIn("usr_owner", "biz_bakery").german().ask(e.app(t)).wantOK()
	page.shows("en", "Connect Ledger Sync?")
	if page.Header.Get("Vary") != "" {
		t.Errorf("Vary %q", page.Header.Get("Vary"))
	}
}

// The host decides by a function. If it panics, the page is an error page, and the log does
// not have the value.
func TestLanguageFunction(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t, bilingual, func(cfg *oauthserver.Config) {
		cfg.Languages.Texts = map[string]locale.Texts{"de": {"scope:invoices:read": "Ihre Rechnungen lesen", "consent.allow": "Ja, verbinden"}}
		cfg.Languages.Choose = func(r *http.Request) string {
			if r.URL.Query().Get("state") == "panic" {
				panic("no profile")
			}
			return "de-CH"
		}
	})
	app := e.app(t)
	b := e.browser(t).signIn("usr_owner", "biz_bakery")
	page := b.ask(app).wantOK()
	page.shows("de", "Ihre Rechnungen lesen", "Ja, verbinden", "Ablehnen")
	if page.Header.Get("Vary") != "" {
		t.Errorf("Vary %q", page.Header.Get("Vary"))
	}
	page = b.ask(app, withParam("state", "panic"))
	if page.Status != http.StatusInternalServerError || !strings.Contains(page.Body, "req_") || strings.Contains(page.Body, "no profile") {
		t.Error(page)
	}
	if text := e.log.String(); !strings.Contains(text, "panic") || strings.Contains(text, "no profile") {
		t.Errorf("log %s", e.log)
	}
}

// The page names the user who is signed in.
func TestPersonOnConsent(t *testing.T) {
	t.Parallel()
	e := newPageEnv(t)
	app := e.app(t)
	b := e.browser(t)
	b.signIn("usr_owner", "biz_bakery")
	e.host.ChangeSession(b.session, func(s *identity.Session) { s.DisplayName = "" })
	if strings.Contains(b.ask(app).wantOK().Body, "signed in") {
		t.Error("a person without a name is named")
	}
	e.host.ChangeSession(b.session, func(s *identity.Session) { s.DisplayName = hostileName })
	page := b.ask(app).wantOK()
	page.shows("en", "You are signed in as "+hostileName+".")
	if strings.Contains(page.Body, hostileName) {
		t.Error("the name is markup")
	}
}

const hostileName = `<b onclick="x">Ada</b>`

package pages_test

import (
	"flag"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/locale"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
	"github.com/partnerkit/partnerkit/theme"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const hostile = `"><script>alert(1)</script>{{.}}'`

// render is a page to be made.
type render func(p pages.Pages, w http.ResponseWriter, r *http.Request) error

func consent(view pages.ConsentView) render {
	return func(p pages.Pages, w http.ResponseWriter, r *http.Request) error { return p.Consent(w, r, view) }
}

func deviceForm(view pages.DeviceFormView) render {
	return func(p pages.Pages, w http.ResponseWriter, r *http.Request) error {
		return p.DeviceForm(w, r, view)
	}
}

func done(view pages.DoneView) render {
	return func(p pages.Pages, w http.ResponseWriter, r *http.Request) error { return p.Done(w, r, view) }
}

func failure(view pages.ErrorView) render {
	return func(p pages.Pages, w http.ResponseWriter, r *http.Request) error { return p.Error(w, r, view) }
}

var (
	plain  = pages.Frame{Service: "Service", Nonce: "N0NCE"}
	scopes = []pages.ScopeView{
		{Name: "invoices:read", Description: "See your invoices"},
		{Name: "invoices:write", Description: "Create and change invoices"},
	}
	hidden = []pages.HiddenField{{Name: "request_id", Value: "pk_req_1"}, {Name: "csrf_token", Value: "tok"}}
)

// german is a page in German with a theme that has everything.
var german = pages.Frame{Service: "Service", Nonce: "N0NCE", Person: "Ada Moreau", Language: inGerman(), Theme: theme.Theme{
	Logo: "/brand/logo.svg", StyleSheet: "/brand/pages.css", Light: theme.Colors{Accent: "#1d4ed8"}, Dark: theme.Colors{Accent: "#9cf"},
	Terms: "https://example.com/agb", Privacy: "/datenschutz", Support: "mailto:hilfe@example.com",
	Links: []theme.Link{{Text: "Connected apps", Href: "/settings/apps"}}, SignOut: "/logout",
}}

func inGerman() locale.Language {
	book, err := locale.NewBook(locale.Languages{Offered: []string{"de"}}, identity.DefaultScopes(), slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	return book.Choose(httptest.NewRequest(http.MethodGet, "/", nil))
}

// accountFrame is the frame of a person who can sign in with another account.
func accountFrame(f pages.Frame) pages.Frame {
	f.Person, f.SwitchAccount = "ada@example.com", "/login?return_to=%2Foauth%2Fauthorize%3Frequest_id%3Dpk_req_1"
	return f
}

func connectedApps(view pages.ConnectedAppsView) render {
	view.Path, view.RevokeAction, view.UninstallAction = "/settings/apps", "/settings/apps/revoke-access", "/settings/apps/uninstall"
	view.RedactHours = 48
	return func(p pages.Pages, w http.ResponseWriter, r *http.Request) error {
		return p.ConnectedApps(w, r, view)
	}
}

func takeOver(view pages.TakeOverView) render {
	view.Action, view.Hidden = "/settings/apps/take-over", hidden
	return func(p pages.Pages, w http.ResponseWriter, r *http.Request) error {
		return p.TakeOver(w, r, view)
	}
}

var orphaned = []pages.ConnectedApp{
	{ID: "app_1", ClientID: hostile, Name: hostile, Scopes: scopes, ConnectedAt: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC), IsOrphaned: true},
}

var connected = []pages.ConnectedApp{
	{ID: "app_1", ClientID: "sync", Name: "Ledger Sync", Scopes: scopes, OpenPath: "/embedded/sync", ConnectedAt: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC), ConnectedBy: []string{"Ada Moreau", hostile}},
	{
		ID: "app_2", ClientID: hostile, Name: hostile, OpenPath: hostile, ConnectedAt: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC),
		Scopes: []pages.ScopeView{{Description: hostile}}, Listing: pages.AppListing{IconPath: "/icons/" + hostile},
		LastUsedAt: time.Date(2026, 9, 2, 12, 0, 0, 0, time.UTC),
	},
}

var cases = map[string]render{
	"consent_listing": consent(pages.ConsentView{
		Frame: pages.Frame{Service: "Service", Nonce: "N0NCE", Person: "ada@example.com"}, AppName: "Ledger Sync", Scopes: scopes, ReturnsTo: "ledger.example", Action: "/oauth/authorize",
		Hidden: hidden, Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}},
		Listing: pages.AppListing{IconPath: "/app-icons/app_1/ast_1", Publisher: "Ledgerlink Ltd", TermsURL: "https://ledger.example/terms", PrivacyURL: "https://ledger.example/privacy"},
	}),
	"consent_german": consent(pages.ConsentView{
		Frame: german, AppName: "Ledger Sync", ClientHost: "agent.example", Unreviewed: true, LocalOnly: true, ReturnsTo: "127.0.0.1:9000", Action: "/oauth/authorize", Hidden: hidden,
		Scopes:     []pages.ScopeView{{Name: "invoices:read", Description: "Ihre Rechnungen sehen"}},
		Businesses: []pages.BusinessView{{ID: "biz_3", Name: "Versuch", Sandbox: true, Selected: true}},
		Listing:    pages.AppListing{Publisher: "Ledgerlink GmbH", TermsURL: "https://ledger.example/terms", PrivacyURL: "https://ledger.example/privacy"},
	}),
	// AZ-12: why a business cannot be chosen, and how to sign in with another account.
	"consent_missing": consent(pages.ConsentView{
		Frame: accountFrame(plain), AppName: "Ledger Sync", Scopes: scopes, ReturnsTo: "ledger.example", Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}},
		Missing: []pages.MissingBusiness{
			{Name: "Harbour Bikes", Reason: pages.PermissionRequired}, {Name: "Old Mill", Reason: pages.ReviewRequired},
		},
	}),
	"consent_missing_german": consent(pages.ConsentView{
		Frame: accountFrame(german), AppName: "Ledger Sync", Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}},
		Missing: []pages.MissingBusiness{
			{Name: "Harbour Bikes", Reason: pages.PermissionRequired}, {Name: "Old Mill", Reason: pages.ReviewRequired},
		},
	}),
	// AZ-10: what is new beside what the app may do already.
	"consent_connected": consent(pages.ConsentView{
		Frame: plain, AppName: "Ledger Sync", Scopes: scopes, ReturnsTo: "ledger.example", Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true, IsConnected: true, New: scopes[1:]}},
	}),
	"consent_connected_german": consent(pages.ConsentView{
		Frame: german, AppName: "Ledger Sync", Scopes: scopes, ReturnsTo: "ledger.example", Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []pages.BusinessView{
			{ID: "biz_1", Name: "Corner Bakery", IsConnected: true}, {ID: "biz_2", Name: "Old Mill", IsConnected: true, New: scopes}, {ID: "biz_3", Name: "Harbour Bikes"},
		},
	}),
	"consent_device_german": consent(pages.ConsentView{
		Frame: german, AppName: "Till", UserCode: "BCDF-GHJK", FixedTo: "biz_1", Action: "/device", Hidden: hidden,
		Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}},
	}),
	"device_problem_german": deviceForm(pages.DeviceFormView{
		Frame: german, Action: "/device", UserCode: "NOPE", Problem: "This code is not valid.", ProblemCode: "user_code_invalid",
	}),
	// IT-01.
	"consent_custom": consent(pages.ConsentView{
		Frame: plain, AppName: "Ledger Sync", Scopes: scopes, Action: "/connections/new", Hidden: hidden, ForInstallation: true, Unreviewed: true, Maker: "Maker Works",
		Permissions: []pages.ScopeView{{Name: "journal.post", Description: "Post journal entries"}, {Name: "stars.align", Description: "stars.align"}},
		Businesses:  []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}}, FixedTo: "biz_1",
	}),
	"consent_custom_german": consent(pages.ConsentView{
		Frame: german, AppName: "Ledger Sync", Action: "/connections/new", Hidden: hidden, ForInstallation: true, Maker: hostile,
		Scopes:     []pages.ScopeView{{Name: "invoices:read", Description: "Ihre Rechnungen sehen"}},
		Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}}, FixedTo: "biz_1",
	}),
	"done_custom":        done(pages.DoneView{Frame: plain, AppName: "Ledger Sync", Business: "Corner Bakery", Approved: true, ForInstallation: true, AppsPath: "/settings/apps"}),
	"done_german":        done(pages.DoneView{Frame: german, AppName: "Till", Business: "Corner Bakery", Approved: true}),
	"done_denied_german": done(pages.DoneView{Frame: german, AppName: "Till"}),
	"error_german":       failure(pages.ErrorView{Frame: german, Status: 400, Code: "invalid_client", Message: "Invalid client_id"}),
	"error_explained":    failure(pages.ErrorView{Frame: plain, Status: 400, Code: "invalid_client", Message: "Invalid client_id"}),
	"apps":               connectedApps(pages.ConnectedAppsView{Frame: plain, Business: "Corner Bakery", BusinessPath: "/businesses", MayChange: true, ShowsUse: true, Apps: connected}),
	"apps_german":        connectedApps(pages.ConnectedAppsView{Frame: german, Business: "Corner Bakery", MayChange: true, ShowsUse: true, Apps: connected, Done: audited.AccessRevoked}),
	"apps_none":          connectedApps(pages.ConnectedAppsView{Frame: plain, Business: "Corner Bakery", Done: audited.Uninstalled}),
	// INST-06: a person who connected the app has left.
	"apps_orphaned": connectedApps(pages.ConnectedAppsView{
		Frame: plain, Business: hostile, MayChange: true, Apps: orphaned, TakeOverAction: "/settings/apps/take-over", Done: audited.ConnectionTakenOver,
	}),
	"takeover": takeOver(pages.TakeOverView{
		Frame: accountFrame(plain), AppName: hostile, Business: hostile, Scopes: scopes, Permissions: []pages.ScopeView{{Name: hostile, Description: hostile}},
		Listing: pages.AppListing{IconPath: "/icons/" + hostile},
	}),
	"takeover_german": takeOver(pages.TakeOverView{Frame: german, AppName: "Ledger Sync", Business: "Corner Bakery", Scopes: scopes}),
	"theme_hostile": failure(pages.ErrorView{Message: "x", Frame: pages.Frame{Service: "Service", Nonce: "N0NCE", Theme: theme.Theme{
		Logo: hostile, StyleSheet: hostile, Terms: "javascript:alert(1)", Privacy: hostile, Support: "javascript:alert(1)",
		Light: theme.Colors{Ink: "#fff;}" + hostile, Paper: "red"},
	}}}),
	"consent": consent(pages.ConsentView{
		Frame: plain, AppName: "Ledger Sync", Scopes: scopes, ReturnsTo: "ledger.example", Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery"}, {ID: "biz_2", Name: "Harbour Bikes", Selected: true}},
	}),
	"consent_document": consent(pages.ConsentView{
		Frame: plain, AppName: "Agent", ClientHost: "agent.example", Scopes: scopes[:1], ReturnsTo: "127.0.0.1:9000",
		Unreviewed: true, LocalOnly: true, Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []pages.BusinessView{{ID: "biz_3", Name: "Try it out", Sandbox: true, Selected: true}},
	}),
	"consent_device": consent(pages.ConsentView{
		Frame: plain, AppName: "Till", UserCode: "BCDF-GHJK", Scopes: scopes, FixedTo: "biz_1", ChooseBusiness: "/businesses?return_to=%2Fdevice", Action: "/device", Hidden: hidden,
		Businesses: []pages.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}},
	}),
	"consent_hostile": consent(pages.ConsentView{
		Frame: pages.Frame{Service: hostile, Nonce: "N0NCE", Person: hostile, SwitchAccount: "javascript:alert(1)"}, AppName: hostile, ClientHost: hostile, UserCode: hostile, ReturnsTo: hostile, Action: "/device",
		Scopes:     []pages.ScopeView{{Name: hostile, Description: hostile}},
		Hidden:     []pages.HiddenField{{Name: "request_id", Value: hostile}},
		Businesses: []pages.BusinessView{{ID: hostile, Name: hostile}},
	}),
	"device":         deviceForm(pages.DeviceFormView{Frame: plain, Action: "/device"}),
	"device_filled":  deviceForm(pages.DeviceFormView{Frame: plain, Action: "/device", UserCode: "BCDF-GHJK"}),
	"device_problem": deviceForm(pages.DeviceFormView{Frame: plain, Action: "/device", UserCode: "NOPE", Problem: "This code is not valid."}),
	"device_hostile": deviceForm(pages.DeviceFormView{Frame: plain, Action: "/device", UserCode: hostile, Problem: hostile}),
	"done":           done(pages.DoneView{Frame: plain, AppName: "Till", Business: "Corner Bakery", Approved: true}),
	"done_denied":    done(pages.DoneView{Frame: plain, AppName: "Till"}),
	"error_400":      failure(pages.ErrorView{Frame: plain, Status: 400, Message: "Invalid client_id"}),
	"error_403":      failure(pages.ErrorView{Frame: plain, Status: 403, Message: "You do not have permission to connect apps to this business"}),
	"error_app": failure(pages.ErrorView{
		Frame: plain, Status: 400, Code: "invalid_redirect_uri", Message: "redirect_uri does not match any registered URI", AppName: "Ledger Sync",
	}),
	"error_permission": failure(pages.ErrorView{
		Frame: accountFrame(plain), Status: 403, Code: pages.PermissionRequired, AppName: "Ledger Sync", ChooseBusiness: "/businesses", Again: "/device",
		Message: "You do not have permission to connect apps to this business",
		Missing: []pages.MissingBusiness{{Name: "Harbour Bikes", Reason: pages.PermissionRequired}},
	}),
	"error_closed_german": failure(pages.ErrorView{
		Frame: accountFrame(german), Status: 400, Code: pages.RequestExpired, AppName: "Ledger Sync", Again: "/device",
		Message: "invalid_request: authorization request not found or expired",
	}),
	"error_429": failure(pages.ErrorView{Frame: plain, Status: 429, Message: "too many requests, retry after 7 seconds"}),
	"error_500": failure(pages.ErrorView{Frame: plain, Status: 500, Message: "something went wrong on our side; the request id is req_1"}),
}

// The pages as they are. AZ-01: app, business and scopes in plain words, Allow and
// Deny; DEV-05: the business is fixed.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, show := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := page(t, show)
			if strings.Contains(got, "<script") || strings.Contains(got, "style=") {
				t.Errorf("the content policy would be broken:\n%s", got)
			}
			wantGolden(t, name, got)
		})
	}
}

func page(t *testing.T, show render) string {
	t.Helper()
	w := httptest.NewRecorder()
	if err := show(pages.New(), w, httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
		t.Fatal(err)
	}
	return w.Body.String()
}

// wantGolden compares got with testdata/<name>.html; every page has the same
// style, which is cut out there.
func wantGolden(t *testing.T, name, got string) {
	t.Helper()
	before, rest, _ := strings.Cut(got, "/* One look")
	_, after, found := strings.Cut(rest, "</style>")
	if !found {
		t.Fatalf("no style in\n%s", got)
	}
	got = before + "</style>" + after
	file := filepath.Join("testdata", name+".html")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// A page that cannot be written says so.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	for name, show := range cases {
		if err := show(pages.New(), deaf{httptest.NewRecorder()}, httptest.NewRequest(http.MethodGet, "/", nil)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type deaf struct{ http.ResponseWriter }

func (deaf) Write([]byte) (int, error) { return 0, os.ErrClosed }

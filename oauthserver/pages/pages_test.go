package pages_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/oauthserver/pages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const hostile = `"><script>alert(1)</script>{{.}}'`

// render is a page to be made.
type render func(p oauthserver.Pages, w http.ResponseWriter, r *http.Request) error

func consent(view oauthserver.ConsentView) render {
	return func(p oauthserver.Pages, w http.ResponseWriter, r *http.Request) error { return p.Consent(w, r, view) }
}

func deviceForm(view oauthserver.DeviceFormView) render {
	return func(p oauthserver.Pages, w http.ResponseWriter, r *http.Request) error {
		return p.DeviceForm(w, r, view)
	}
}

func done(view oauthserver.DoneView) render {
	return func(p oauthserver.Pages, w http.ResponseWriter, r *http.Request) error { return p.Done(w, r, view) }
}

func failure(view oauthserver.ErrorView) render {
	return func(p oauthserver.Pages, w http.ResponseWriter, r *http.Request) error { return p.Error(w, r, view) }
}

var (
	scopes = []oauthserver.ScopeView{
		{Name: "invoices:read", Description: "See your invoices"},
		{Name: "invoices:write", Description: "Create and change invoices"},
	}
	hidden = []oauthserver.HiddenField{{Name: "request_id", Value: "pk_req_1"}, {Name: "csrf_token", Value: "tok"}}
)

var cases = map[string]render{
	"consent": consent(oauthserver.ConsentView{
		Service: "Service", Nonce: "N0NCE", AppName: "Ledger Sync", Scopes: scopes, ReturnsTo: "ledger.example", Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []oauthserver.BusinessView{{ID: "biz_1", Name: "Corner Bakery"}, {ID: "biz_2", Name: "Harbour Bikes", Selected: true}},
	}),
	"consent_document": consent(oauthserver.ConsentView{
		Service: "Service", Nonce: "N0NCE", AppName: "Agent", ClientHost: "agent.example", Scopes: scopes[:1], ReturnsTo: "127.0.0.1:9000",
		Unreviewed: true, Action: "/oauth/authorize", Hidden: hidden,
		Businesses: []oauthserver.BusinessView{{ID: "biz_3", Name: "Try it out", Sandbox: true, Selected: true}},
	}),
	"consent_device": consent(oauthserver.ConsentView{
		Service: "Service", Nonce: "N0NCE", AppName: "Till", UserCode: "BCDF-GHJK", Scopes: scopes, FixedTo: "biz_1", Action: "/device", Hidden: hidden,
		Businesses: []oauthserver.BusinessView{{ID: "biz_1", Name: "Corner Bakery", Selected: true}},
	}),
	"consent_hostile": consent(oauthserver.ConsentView{
		Service: hostile, Nonce: "N0NCE", AppName: hostile, ClientHost: hostile, UserCode: hostile, ReturnsTo: hostile, Action: "/device",
		Scopes:     []oauthserver.ScopeView{{Name: hostile, Description: hostile}},
		Hidden:     []oauthserver.HiddenField{{Name: "request_id", Value: hostile}},
		Businesses: []oauthserver.BusinessView{{ID: hostile, Name: hostile}},
	}),
	"device":         deviceForm(oauthserver.DeviceFormView{Service: "Service", Nonce: "N0NCE", Action: "/device"}),
	"device_filled":  deviceForm(oauthserver.DeviceFormView{Service: "Service", Nonce: "N0NCE", Action: "/device", UserCode: "BCDF-GHJK"}),
	"device_problem": deviceForm(oauthserver.DeviceFormView{Service: "Service", Nonce: "N0NCE", Action: "/device", UserCode: "NOPE", Problem: "This code is not valid."}),
	"device_hostile": deviceForm(oauthserver.DeviceFormView{Service: "Service", Nonce: "N0NCE", Action: "/device", UserCode: hostile, Problem: hostile}),
	"done":           done(oauthserver.DoneView{Service: "Service", Nonce: "N0NCE", AppName: "Till", Business: "Corner Bakery", Approved: true}),
	"done_denied":    done(oauthserver.DoneView{Service: "Service", Nonce: "N0NCE", AppName: "Till"}),
	"error_400":      failure(oauthserver.ErrorView{Service: "Service", Nonce: "N0NCE", Status: 400, Message: "Invalid client_id"}),
	"error_403":      failure(oauthserver.ErrorView{Service: "Service", Nonce: "N0NCE", Status: 403, Message: "You do not have permission to connect apps to this business"}),
	"error_429":      failure(oauthserver.ErrorView{Service: "Service", Nonce: "N0NCE", Status: 429, Message: "too many requests, retry after 7 seconds"}),
	"error_500":      failure(oauthserver.ErrorView{Service: "Service", Nonce: "N0NCE", Status: 500, Message: "something went wrong on our side; the request id is req_1"}),
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

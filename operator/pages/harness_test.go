package pages_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/operator"
	"github.com/partnerkit/partnerkit/partnertest"
)

// The people of the tests: Ada develops apps, Olga and Otto are operators.
const (
	ada  = partnertest.User
	olga = "usr_olga"
	otto = "usr_otto"
)

// harness is the operator's pages of a platform, with two operators.
type harness struct {
	*partnertest.Harness
	t *testing.T
}

func newHarness(t *testing.T, edits ...func(*partnerkit.Config)) *harness {
	t.Helper()
	h := &harness{Harness: partnertest.New(t, append(edits, func(c *partnerkit.Config) {
		c.Operators, _ = c.Developers.(*partnertest.Host)
	})...), t: t}
	h.Host.SetUser(operator.User{ID: olga, Name: "Olga", Email: "olga@example.com", IsOperator: true})
	h.Host.SetUser(operator.User{ID: otto, Name: "Otto", IsOperator: true})
	return h
}

// page sends a request to the app host with the session of a user; empty: without one. A
// form is sent as a browser does.
func (h *harness) page(userID, what string, form url.Values, headers ...string) *partnertest.Response {
	h.t.Helper()
	method, path, _ := strings.Cut(what, " ")
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.AppURL+path, strings.NewReader(form.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if userID != "" {
		r.AddCookie(h.Host.NewSession(userID, partnertest.Business))
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return partnertest.Serve(h.t, h.App(), r)
}

// done sends a form, and returns the page that it leads to.
func (h *harness) done(userID, path string, form url.Values) *partnertest.Response {
	h.t.Helper()
	led := h.page(userID, "POST "+path, form).Want(http.StatusSeeOther)
	return h.page(userID, "GET "+led.Header.Get("Location"), nil).Want(http.StatusOK)
}

// api sends JSON to the API host.
func (h *harness) api(userID, what, body string) *partnertest.Response {
	h.t.Helper()
	method, path, _ := strings.Cut(what, " ")
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.APIURL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.AddCookie(h.Host.NewSession(userID, partnertest.Business))
	return partnertest.Serve(h.t, h.API(), r)
}

// newApp makes an app of Ada's and returns its id.
func (h *harness) newApp(name string) string {
	h.t.Helper()
	return h.api(ada, "POST /developer/apps", `{"name": "`+name+`", "type": "CONFIDENTIAL", "redirectUris": ["https://partner.example/cb"], "scopes": ["invoices:read"]}`).
		Want(http.StatusCreated).Text("id")
}

// submitted makes an app with a submitted listing and returns its id.
func (h *harness) submitted(slug string) string {
	h.t.Helper()
	app := h.newApp("App of " + slug)
	h.api(ada, "POST /developer/apps/"+app+"/listing", `{"slug": "`+slug+`", "name": "Sync", "summary": "Syncs", "description": "All of it."}`).Want(http.StatusCreated)
	h.api(ada, "POST /developer/apps/"+app+"/listing/submit", "").Want(http.StatusOK)
	return app
}

// sees wants texts on a page.
func sees(t *testing.T, page *partnertest.Response, texts ...string) {
	t.Helper()
	body := html.UnescapeString(page.Body)
	for _, text := range texts {
		if !strings.Contains(body, text) {
			t.Errorf("%s: %d without %q:\n%s", page.Request, page.Status, text, main(body))
		}
	}
}

// lacks wants texts not to be on a page.
func lacks(t *testing.T, page *partnertest.Response, texts ...string) {
	t.Helper()
	body := html.UnescapeString(page.Body)
	for _, text := range texts {
		if strings.Contains(body, text) {
			t.Errorf("%s: %d with %q:\n%s", page.Request, page.Status, text, main(body))
		}
	}
}

// main is what a page is about.
func main(page string) string {
	if _, content, ok := strings.Cut(page, "<main"); ok {
		return content
	}
	return page
}

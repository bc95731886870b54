package partnertest

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/oauthserver/pages"
)

// consent is the consent page for the harness, in place of HTML.
type consent struct {
	view    pages.ConsentView
	shown   bool
	problem string // the text of an error page
}

type consentKey struct{}

// capturingPages passes the view of a page to a harness that requested it, and renders
// the page for all other requests.
type capturingPages struct{ pages.Pages }

func (p capturingPages) Consent(w http.ResponseWriter, r *http.Request, view pages.ConsentView) error {
	if c, ok := r.Context().Value(consentKey{}).(*consent); ok {
		c.view, c.shown = view, true
		return nil
	}
	return p.Pages.Consent(w, r, view)
}

func (p capturingPages) Error(w http.ResponseWriter, r *http.Request, view pages.ErrorView) error {
	if c, ok := r.Context().Value(consentKey{}).(*consent); ok {
		c.problem = view.Message
		return nil
	}
	return p.Pages.Error(w, r, view)
}

// Approve opens an authorization URL as a user, allows the app in a business and returns
// the query with which the browser returns to the app. An empty businessID means the
// business that the consent page offers first. It fails the test when the consent page
// is not shown or the decision is rejected.
func (h *Harness) Approve(authorizeURL, userID, businessID string) url.Values {
	h.t.Helper()
	page, decided := h.allow(authorizeURL, userID, businessID)
	back, err := url.Parse(decided.Header.Get("Location"))
	if err != nil || decided.Status != http.StatusSeeOther {
		page.fatal(h.t, "the decision was rejected", decided)
	}
	return back.Query()
}

// allow opens a consent page as a user, allows the app and returns the response to that.
func (h *Harness) allow(pageURL, userID, businessID string) (*consent, *Response) {
	h.t.Helper()
	page := new(consent)
	ctx := context.WithValue(h.t.Context(), consentKey{}, page)
	session := h.Host.NewSession(userID, businessID)
	defer h.Host.EndSession(session)
	open := httptest.NewRequestWithContext(ctx, http.MethodGet, pageURL, http.NoBody)
	open.AddCookie(session)
	opened := Serve(h.t, h.App(), open)
	if !page.shown {
		page.fatal(h.t, "the consent page was not shown", opened)
	}
	form := url.Values{"decision": {"allow"}, "business_id": {businessID}}
	if businessID == "" && len(page.view.Businesses) > 0 {
		form.Set("business_id", page.view.Businesses[0].ID)
	}
	for _, field := range page.view.Hidden {
		form.Set(field.Name, field.Value)
	}
	decide := httptest.NewRequestWithContext(ctx, http.MethodPost, h.AppURL+page.view.Action, strings.NewReader(form.Encode()))
	decide.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	decide.Header.Set("Origin", h.AppURL)
	decide.AddCookie(session)
	for _, cookie := range (&http.Response{Header: opened.Header}).Cookies() {
		decide.AddCookie(cookie)
	}
	return page, Serve(h.t, h.App(), decide)
}

// fatal ends the test with what the page said.
func (c *consent) fatal(t testing.TB, what string, r *Response) {
	t.Helper()
	if c.problem == "" {
		t.Fatalf("partnertest: %s: %s", what, r)
	}
	t.Fatalf("partnertest: %s: %d %s", what, r.Status, c.problem)
}

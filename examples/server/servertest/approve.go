package servertest

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)"`)

// Approve opens the consent page at the URL as a signed-in user, approves it for the
// user's business, and returns the query of the redirect back to the app.
func (s *Server) Approve(authorizeURL string) url.Values {
	s.t.Helper()
	browser := s.SignIn()
	page, _ := s.open(browser, http.MethodGet, authorizeURL, nil, http.StatusOK)
	form := filled(page)
	form.Set("business_id", s.business)
	form.Set("decision", "allow")
	_, location := s.open(browser, http.MethodPost, s.App+"/oauth/authorize", form, http.StatusSeeOther)
	back, err := url.Parse(location)
	if err != nil {
		s.t.Fatal(err)
	}
	return back.Query()
}

// DecideDevice enters a user code on the device page as the same person, and decides
// "allow" or "deny".
func (s *Server) DecideDevice(userCode, decision string) {
	s.t.Helper()
	browser := s.SignIn()
	page, _ := s.open(browser, http.MethodPost, s.App+"/device", url.Values{"user_code": {userCode}}, http.StatusOK)
	form := filled(page)
	form.Set("decision", decision)
	s.open(browser, http.MethodPost, s.App+"/device", form, http.StatusOK)
}

// SignIn returns a browser with a session, on both hosts.
func (s *Server) SignIn() *http.Client {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var session struct{ Cookie string }
	s.Dev("sessions", fmt.Sprintf(`{"userId": %q, "businessId": %q}`, s.user, s.business), &session)
	cookie, err := http.ParseSetCookie(session.Cookie)
	if err != nil {
		s.t.Fatal(err)
	}
	app, err := url.Parse(s.App)
	if err != nil {
		s.t.Fatal(err)
	}
	jar.SetCookies(app, []*http.Cookie{cookie})
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// filled returns the form of a page, with what the server filled in.
func filled(page string) url.Values {
	form := url.Values{}
	for _, match := range hiddenField.FindAllStringSubmatch(page, -1) {
		form.Add(html.UnescapeString(match[1]), html.UnescapeString(match[2]))
	}
	return form
}

func (s *Server) open(browser *http.Client, method, address string, form url.Values, want int) (page, location string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := browser.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != want {
		s.t.Fatalf("%s %s: %s, %v\n%s", method, r.URL.Path, res.Status, err, text)
	}
	return string(text), res.Header.Get("Location")
}

package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// person is a signed-in user with a browser who approves the requests of apps.
type person struct {
	server  *server
	browser *http.Client
}

func (s *server) person() (*person, error) {
	b, err := servertest.SignIn(http.DefaultClient, s.API, s.App, "usr_owner", "biz_live")
	if err != nil {
		return nil, err
	}
	return &person{s, b.Client}, nil
}

// allow opens the consent page and returns where the browser is sent from there.
func (p *person) allow(authorizeURL string) (string, error) {
	page, _, err := p.open(authorizeURL, nil)
	if err != nil {
		return "", err
	}
	_, location, err := p.open(p.server.App+"/oauth/authorize", decision(page))
	return location, err
}

// allowDevice enters a user code.
func (p *person) allowDevice(userCode string) error {
	page, _, err := p.open(p.server.App+"/device", url.Values{"user_code": {userCode}})
	if err != nil {
		return err
	}
	_, _, err = p.open(p.server.App+"/device", decision(page))
	return err
}

var business = regexp.MustCompile(`value="(biz_[a-z]+)"`)

// decision is what the button Allow sends, for the first business that is offered.
func decision(page string) url.Values {
	form := servertest.Form(page)
	form.Set("decision", "allow")
	if offered := business.FindStringSubmatch(page); offered != nil {
		form.Set("business_id", offered[1])
	}
	return form
}

// open gets a page, or posts a form.
func (p *person) open(address string, form url.Values) (page, location string, err error) {
	var res *http.Response
	if form == nil {
		res, err = p.browser.Get(address)
	} else {
		res, err = p.browser.PostForm(address, form)
	}
	if err != nil {
		return "", "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && !slices.Contains([]int{http.StatusOK, http.StatusSeeOther}, res.StatusCode) {
		err = fmt.Errorf("%s: %s\n%s", address, res.Status, text)
	}
	return string(text), res.Header.Get("Location"), err
}

// rotateSecret gives the webhook another secret, in the console.
func (p *person) rotateSecret() (string, error) {
	r, err := http.NewRequest(http.MethodPost, p.server.API+"/developer/apps/app_web/webhooks/whk_web/rotate-secret", nil)
	if err != nil {
		return "", err
	}
	res, err := p.browser.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var rotated struct{ Secret string }
	if err := json.NewDecoder(res.Body).Decode(&rotated); err != nil || rotated.Secret == "" {
		return "", fmt.Errorf("rotate the secret: %s, %w", res.Status, err)
	}
	return rotated.Secret, nil
}

// sessionToken is what the page of an embedded app gets.
func (s *server) sessionToken() (string, error) {
	var issued struct{ SessionToken string }
	err := s.dev("session-tokens", `{"clientId": "interop-web", "businessId": "biz_live", "userId": "usr_owner"}`, &issued)
	return issued.SessionToken, err
}

// hire lets programs ask a person: POST /allow with an authorize URL responds with where the
// browser is sent, POST /device takes a user code, POST /session-token is what the page
// of an embedded app does.
func (s *server) hire() string {
	person := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var p *person
		if err == nil {
			p, err = s.person()
		}
		var response string
		switch {
		case err != nil:
		case r.URL.Path == "/allow":
			response, err = p.allow(strings.TrimSpace(string(body)))
		case r.URL.Path == "/device":
			err = p.allowDevice(string(body))
		case r.URL.Path == "/session-token":
			response, err = s.sessionToken()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, response)
	}))
	s.t.Cleanup(person.Close)
	return person.URL
}

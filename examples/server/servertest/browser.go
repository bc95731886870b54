package servertest

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// Browser is the browser of a person who is signed in, on both hosts of a server. It keeps
// cookies and follows no redirect.
type Browser struct {
	*http.Client
	Cookie string // of the session, as in a request
	app    string
}

// SignIn signs a person in, in a business, and returns the browser, which uses the transport
// of the client.
func SignIn(client *http.Client, api, app, user, business string) (*Browser, error) {
	body := fmt.Sprintf(`{"userId": %q, "businessId": %q}`, user, business)
	r, err := NewRequest(context.Background(), http.MethodPost, api+"/dev/sessions", body, "Content-Type", "application/json")
	if err != nil {
		return nil, err
	}
	got, err := Send(client, r)
	if err != nil {
		return nil, err
	}
	if got.Status != http.StatusOK {
		return nil, fmt.Errorf("sign in: %v", got)
	}
	cookie, err := http.ParseSetCookie(got.Text("cookie"))
	if err != nil {
		return nil, err
	}
	host, err := url.Parse(app)
	if err != nil {
		return nil, err
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	jar.SetCookies(host, []*http.Cookie{cookie})
	pair, _, _ := strings.Cut(got.Text("cookie"), ";")
	own := &http.Client{Transport: client.Transport, Timeout: client.Timeout, Jar: jar, CheckRedirect: followNothing}
	return &Browser{own, pair, app}, nil
}

// Approve opens the consent page at the URL, approves it for a business, and returns the
// query of the redirect back to the app.
func (b *Browser) Approve(authorizeURL, business string) (url.Values, error) {
	page, err := b.open(http.MethodGet, authorizeURL, nil, http.StatusOK)
	if err != nil {
		return nil, err
	}
	form := Form(page.Body)
	form.Set("business_id", business)
	form.Set("decision", "allow")
	sent, err := b.open(http.MethodPost, b.app+"/oauth/authorize", form, http.StatusSeeOther)
	if err != nil {
		return nil, err
	}
	back, err := url.Parse(sent.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	return back.Query(), nil
}

// DecideDevice enters a user code on the device page, and decides "allow" or "deny".
func (b *Browser) DecideDevice(userCode, decision string) error {
	page, err := b.open(http.MethodPost, b.app+"/device", url.Values{"user_code": {userCode}}, http.StatusOK)
	if err != nil {
		return err
	}
	form := Form(page.Body)
	form.Set("decision", decision)
	_, err = b.open(http.MethodPost, b.app+"/device", form, http.StatusOK)
	return err
}

func (b *Browser) open(method, address string, form url.Values, want int) (Response, error) {
	var headers []string
	if form != nil {
		headers = []string{"Content-Type", FormType}
	}
	r, err := NewRequest(context.Background(), method, address, form.Encode(), headers...)
	if err != nil {
		return Response{}, err
	}
	got, err := Send(b.Client, r)
	if err == nil && got.Status != want {
		err = fmt.Errorf("%s %s: %d, want %d\n%s", method, r.URL.Path, got.Status, want, got.Body)
	}
	return got, err
}

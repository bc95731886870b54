package main

import (
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// person does what a person at a browser would do: open the page, sign in,
// allow. Apps never do this; it lets the story run by itself.
type person struct {
	email, password string
	business        string
	browser         *http.Client
}

func newPerson(o options, out *transcript) (*person, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	return &person{
		email: o.email, password: o.password, business: o.business,
		browser: &http.Client{Jar: jar, Transport: out.by("person"), Timeout: patience},
	}, nil
}

// page is the current page of the browser.
type page struct {
	url  *url.URL
	html string
}

var alertText = regexp.MustCompile(`(?s)role="alert"[^>]*>(.*?)<`)

// connect goes from the app's page to the service's, and back to the app.
func (p *person) connect(ctx context.Context, start string) error {
	shown, err := p.open(ctx, http.MethodGet, start, nil)
	if err != nil {
		return err
	}
	if strings.HasSuffix(shown.url.Path, "/login") { // not signed in from an earlier time
		if shown, err = p.submit(ctx, shown, "password", url.Values{"email": {p.email}, "password": {p.password}}); err != nil {
			return err
		}
	}
	_, err = p.submit(ctx, shown, "decision", url.Values{"business_id": {p.business}, "decision": {"allow"}})
	return err
}

// submit fills in the form of a page that has a certain field.
func (p *person) submit(ctx context.Context, shown page, field string, fields url.Values) (page, error) {
	f, err := findForm(shown.html, field)
	if err != nil {
		return page{}, fmt.Errorf("%s: %w", shown.url.Path, err)
	}
	maps.Copy(f.hidden, fields)
	target, err := shown.url.Parse(f.action)
	if err != nil {
		return page{}, err
	}
	return p.open(ctx, http.MethodPost, target.String(), f.hidden)
}

// open shows where a request leads, redirects followed.
func (p *person) open(ctx context.Context, method, address string, form url.Values) (page, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode())) //nolint:gosec // a browser goes where pages lead
	if err != nil {
		return page{}, err
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	res, err := p.browser.Do(r) //nolint:gosec // likewise
	if err != nil {
		return page{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return page{}, err
	}
	if alert := alertText.FindSubmatch(text); alert != nil {
		return page{}, fmt.Errorf("%s shows: %s", res.Request.URL.Path, html.UnescapeString(string(alert[1])))
	}
	if res.StatusCode != http.StatusOK {
		return page{}, fmt.Errorf("%s answers %s: %s", res.Request.URL.Path, res.Status, strings.TrimSpace(string(text)))
	}
	return page{res.Request.URL, string(text)}, nil
}

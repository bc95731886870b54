package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// The search of the page works as a plain form: it keeps the operations and shapes that have
// all the words, opens them, and shows their number.
func TestDescriptionSearch(t *testing.T) {
	t.Parallel()
	r := start(t)
	find := func(query string) string {
		return send(t, http.MethodGet, r.app+"/openapi?"+url.Values{"q": {query}}.Encode(), nil).want(t, http.StatusOK).body
	}
	page := find("DEVICE enter")
	if !strings.Contains(page, `#showDevice"`) || strings.Contains(page, `#listInvoices"`) {
		t.Errorf("a search for words of an operation:\n%s", page[strings.Index(page, "<main"):])
	}
	if !regexp.MustCompile(`role="status">\d+ match(es)? for “DEVICE enter”`).MatchString(page) {
		t.Error("the page lacks the number of matches")
	}
	if page := find("ResourceMetadata"); !strings.Contains(page, `#shape-ResourceMetadata"`) {
		t.Error("a search for a shape does not find it")
	}
	const hostile = `"><script>alert(1)</script>`
	if page := find(hostile); !strings.Contains(page, "Nothing matches “&#34;&gt;&lt;script&gt;") || strings.Contains(page, hostile) {
		t.Errorf("a search for nothing:\n%s", page[strings.Index(page, "<main"):])
	}
	if page := find(strings.Repeat("x", 201)); !strings.Contains(page, `#showDevice"`) {
		t.Error("a search that is too long hides operations")
	}
}

// topicPages returns the pages of all topics by their addresses.
func (r *harness) topicPages() map[string]string {
	r.t.Helper()
	pages := map[string]string{}
	index := send(r.t, http.MethodGet, r.app+"/openapi", nil).want(r.t, http.StatusOK).body
	for _, found := range regexp.MustCompile(`href="(/openapi/[^"#]+)"`).FindAllStringSubmatch(index, -1) {
		if _, ok := pages[found[1]]; !ok {
			pages[found[1]] = send(r.t, http.MethodGet, r.app+found[1], nil).want(r.t, http.StatusOK).body
		}
	}
	pages["/openapi"] = index
	return pages
}

// Every link of the pages among themselves leads somewhere, no id is there twice, and no page is
// too large.
func TestDescriptionAnchors(t *testing.T) {
	t.Parallel()
	r := start(t)
	pages, links := r.topicPages(), 0
	for address, body := range pages {
		if len(body) > 150<<10 {
			t.Errorf("%s has %d bytes", address, len(body))
		}
		ids := map[string]bool{}
		for _, found := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(body, -1) {
			if ids[found[1]] {
				t.Errorf("%s: two elements have the id %s", address, found[1])
			}
			ids[found[1]] = true
		}
		for _, found := range regexp.MustCompile(`href="(/openapi[^"#]*)#([^"]+)"`).FindAllStringSubmatch(body, -1) {
			if links++; !strings.Contains(pages[found[1]], ` id="`+found[2]+`"`) {
				t.Errorf("%s: a link leads to %s#%s, which is not there", address, found[1], found[2])
			}
		}
	}
	if len(pages) < 8 || links < 100 {
		t.Errorf("%d pages with %d links", len(pages), links)
	}
	send(t, http.MethodGet, r.app+"/openapi/none", nil).want(t, http.StatusNotFound)
}

// Operations have an example of the call and of the response.
func TestDescriptionExamples(t *testing.T) {
	t.Parallel()
	r := start(t)
	var body string
	for _, page := range r.topicPages() {
		body += page
	}
	for id, want := range map[string][]string{
		"showDevice": {"curl -s \\\n", "&#39;" + r.app + "/device&#39;", "-H &#39;Cookie: books_session=YOUR_SESSION&#39;"},
		"createApp":  {"curl -s -X POST", "&#39;" + r.api + "/developer/apps&#39;", "-H &#39;Content-Type: application/json&#39;", "-d &#39;{"},
	} {
		_, section, _ := strings.Cut(body, ` id="`+id+`"`)
		section, _, _ = strings.Cut(section, "</section>")
		for _, part := range want {
			if !strings.Contains(section, part) {
				t.Errorf("%s: no %q in\n%s", id, part, section)
			}
		}
	}
	if n := strings.Count(body, "<h3>Example of 20"); n < 50 {
		t.Errorf("%d examples of responses", n)
	}
	for _, not := range []string{"%!", "&lt;nil&gt;", "map["} {
		if strings.Contains(body, not) {
			t.Errorf("the page has %q", not)
		}
	}
}

// What everybody may read is compressed. A page with a secret or with the token of a form is
// not: its length would tell of it.
func TestOnlyOpenContentIsCompressed(t *testing.T) {
	t.Parallel()
	r := start(t)
	developer := r.session("usr_dev", "biz_ledgerlink_sandbox")
	asks := func(method, address, form string) response {
		one := request(t, method, address, "", form)
		if form != "" {
			one.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		one.Header.Set("Accept-Encoding", "gzip") // so that the client leaves the response as it is
		return do(t, developer, one).want(t, http.StatusOK)
	}
	style := regexp.MustCompile(`/assets/style[^"]*`).FindString(asks(http.MethodGet, r.app+"/businesses", "").body)
	for address, want := range map[string]string{
		r.app + "/openapi": "gzip", r.app + "/openapi/invoices": "gzip", r.app + style: "gzip", r.api + "/openapi.yaml": "gzip",
		r.app + "/developer/apps/app_sync/webhooks/whk_sync": "gzip", r.app + "/developer/apps/app_sync/webhooks/whk_sync?done=tested": "",
		r.app + "/openapi?q=invoice": "", r.app + "/login": "", r.app + "/device": "", r.app + "/settings/apps": "", r.app + "/businesses": "",
		r.app + "/developer/apps": "", r.app + "/developer/apps/app_sync/start": "", r.app + "/developer/apps/app_sync/secrets": "",
	} {
		if got := asks(http.MethodGet, address, ""); got.Header.Get("Content-Encoding") != want || (want != "") != (got.Header.Get("Vary") != "") {
			t.Errorf("%s: coding %q, vary %q; want coding %q", address, got.Header.Get("Content-Encoding"), got.Header.Get("Vary"), want)
		}
	}
	token := asks(http.MethodPost, r.app+"/developer/apps/app_sync/start/token", "business_id=biz_ledgerlink_sandbox")
	if coding := token.Header.Get("Content-Encoding"); coding != "" || !strings.Contains(token.body, "pk_at_") {
		t.Errorf("the page with a token: coding %q, %s", coding, token.body)
	}
}

package site_test

import (
	"net/url"
	"testing"
	"testing/fstest"

	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/site"
)

func newSite(t *testing.T) *site.Site {
	t.Helper()
	s, err := site.New(site.Config{Templates: fstest.MapFS{"templates/one.html": {Data: []byte(`{{define "content"}}{{end}}`)}}, Prefix: "/staff"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A pager keeps the filter of the list, and leaves out what is not part of it.
func TestPager(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	query := url.Values{"action": {"app.suspended"}, "actor": {""}, "after": {"aud_2"}, "done": {"saved"}}
	for name, c := range map[string]struct{ got, want string }{
		"first":   {s.Pager("/audit", query, "").First, "/staff/audit?action=app.suspended"},
		"next":    {s.Pager("/audit", query, "aud_1").Next, "/staff/audit?action=app.suspended&after=aud_1"},
		"last":    {s.Pager("/audit", query, "").Next, ""},
		"newest":  {s.Pager("/audit", nil, "").First, ""},
		"no more": {s.ListAt("/audit", nil, ""), "/staff/audit"},
		"path":    {s.Href("apps", "a/b"), "/staff/apps/a%2Fb"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		site.Grouped(0): "0", site.Grouped(999): "999", site.Grouped(1234567): "1,234,567", site.Grouped(-123456): "-123,456",
		site.InWords("webhook.created"): "Webhook created", site.InWords(audited.AssetAdded): "Image uploaded", site.InWords("x"): "X",
		site.UnixLines("a\r\nb"): "a\nb",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "staff", "/staff/", "/{id}"} {
		if _, err := site.New(site.Config{Prefix: prefix}); err == nil {
			t.Errorf("%q is a prefix", prefix)
		}
	}
}

package console_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

// extensionPaths are paths, and whether they are pages on the origin of extensionBase.
// Those that are taken stay there by new URL(path, base) of Node.js. Some are refused
// that do too: for their characters, for another spelling of the host, for user info,
// or as a blob.
var extensionPaths = []struct {
	path string
	ok   bool
}{
	{"/", true},
	{"/page", true},
	{"page", true},
	{"./page", true},
	{"../page", true},
	{"../../../../page", true},
	{"/a/../../b", true},
	{"/..//evil.example", true}, // a path of two slashes, still on this origin
	{"..//evil.example", true},
	{"/.//evil.example", true},
	{"/a//evil.example", true},
	{"?view=1", true},
	{"#part", true},
	{"/page?next=https://evil.example/", true},
	{"/page#//evil.example", true},
	{"/@evil.example", true},
	{"@evil.example", true},
	{"user@evil.example", true},
	{"page:1", false}, // a scheme
	{"./page:1", true},
	{"/page:1", true},
	{"1page:1", true}, // none: it begins with a digit
	{":80", true},
	{"/%2e%2e/page", true},
	{"/%2F%2Fevil.example", true},
	{"/%5Cevil.example", true},
	{"%2F%2Fevil.example", true},
	{"/%20", true},
	{"/%zz", true},
	{"/größe", true},
	{"/页面", true},
	{"https://app.partner.example/page", true},
	{"HTTPS://APP.Partner.Example/page", true},
	{"https://app.partner.example", true},
	{"https://app.partner.example?x", true},
	{"https://app.partner.example:443/page", true},
	{"https://app.partner.example:/page", true},
	{"//app.partner.example/page", true},
	{"///app.partner.example/page", true},
	{"https:page", true}, // relative
	{"https:/page", true},
	{"https:", true},
	{"https:?x", true},

	{"//evil.example", false},
	{"//evil.example/page", false},
	{"///evil.example", false},
	{"////evil.example", false},
	{"/\\evil.example", false},
	{"\\\\evil.example", false},
	{"\\/evil.example", false},
	{"/page\\", false},
	{"/page?x=\\", false},
	{"https:\\\\evil.example", false},
	{"https://evil.example/", false},
	{"https:///evil.example/", false},
	{"https:////evil.example", false},
	{"https://", false},
	{"//", false},
	{"///", false},
	{"https://app.partner.example.evil.example/", false},
	{"https://app.partner.example@evil.example/", false},
	{"//app.partner.example@evil.example", false},
	{"https://user@app.partner.example/", false},
	{"https://user:pw@app.partner.example/", false},
	{"//@app.partner.example/", false},
	{"https://app.partner.example:8443/", false},
	{"https://app.partner.example:80/", false},
	{"https://app.partner.example::443/", false},
	{"https://app.partner.example:443:443/", false},
	{"//app.partner.example:0443/", false}, // the same port in another spelling
	{"https://app.partner.example./", false},
	{"https://%61pp.partner.example/", false}, // the same host in another spelling
	{"https://partner.example/", false},
	{"http://app.partner.example/", false},
	{"http:page", false},
	{"http:", false},
	{"HTTP://app.partner.example/", false},
	{"ftp://app.partner.example/", false},
	{"wss://app.partner.example/", false},
	{"javascript:alert(1)", false},
	{"JavaScript:alert(1)", false},
	{"java\tscript:alert(1)", false},
	{"java\nscript:alert(1)", false},
	{"\x01javascript:alert(1)", false},
	{" javascript:alert(1)", false},
	{"data:text/html,x", false},
	{"blob:https://app.partner.example/1", false},
	{"file:///etc/passwd", false},
	{"about:blank", false},
	{"mailto:a@b.example", false},
	{"vbscript:x", false},
	{"x-y.z+1:page", false},
	{" /page", false},
	{"/page ", false},
	{"/pa ge", false},
	{"/pa\tge", false},
	{"/pa\nge", false},
	{"/pa\rge", false},
	{"/\t/evil.example", false},
	{"/\n/evil.example", false},
	{"/page\x00", false},
	{"/page\x7f", false},
	{"/page\u0085", false},
	{"/page\u00a0", false},
	{"/page\u2028", false},
	{"/page\u3000", false},
	{"\u00a0//evil.example", false},
	{"/page\u202e", false}, // CON-15
	{"/pa\u200bge", false},
}

const extensionBase = "https://app.partner.example/embed/home?x=1"

// CON-05: a page on the App URL's origin, and nothing that a browser would take for
// something else.
func TestExtensionPath_CON05(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(extensibleApp)
	for _, test := range extensionPaths {
		if got := console.IsPageOf(extensionBase, test.path); got != test.ok {
			t.Errorf("%q: %v", test.path, got)
		}
		body, err := json.Marshal(map[string]string{"resourceType": "invoice", "path": test.path, "label": "L"})
		d.must(err)
		got := d.ann("POST "+path+"/extensions", string(body))
		if !test.ok {
			got.wantCode(http.StatusBadRequest, "EXTENSION_PATH_INVALID")
			continue
		}
		if got.want(http.StatusCreated).text("path") != test.path {
			t.Errorf("%q came back as %s", test.path, got.Body)
		}
		d.ann("DELETE " + path + "/extensions/" + got.text("id")).want(http.StatusNoContent)
	}
}

// CON-05: bases that are not what they should be lead nowhere.
func TestExtensionBase_CON05(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		base, path string
		ok         bool
	}{
		{"", "/page", false},
		{"/embed", "/page", false},
		{"app.partner.example", "/page", false},
		{"https://", "/page", false},
		{"https:page", "/page", false},
		{"javascript:alert(1)", "page", false},
		{"ftp://app.partner.example/", "/page", false},
		{"https://a b/", "/page", false},
		{"http://localhost:3000/app", "/page", true},
		{"http://localhost:3000/app", "http://localhost:3000/page", true},
		{"http://localhost:3000/app", "//localhost:3000/page", true},
		{"http://localhost:3000/app", "//localhost/page", false},
		{"http://localhost:3000/app", "https://localhost:3000/page", false},
		{"http://localhost:80/app", "//localhost/page", true},
		{"https://[::1]/app", "//[::1]:443/page", true},
		{"https://[::1]/app", "//[::2]/page", false},
		{"https://APP.partner.example/", "//app.partner.example/", true},
	} {
		if got := console.IsPageOf(test.base, test.path); got != test.ok {
			t.Errorf("%q from %q: %v", test.path, test.base, got)
		}
	}
}

// FuzzExtensionPath compares with net/url, which agrees with browsers about all paths
// that have none of the beginnings on which they differ.
func FuzzExtensionPath(f *testing.F) {
	for _, test := range extensionPaths {
		f.Add(test.path)
	}
	base, err := url.Parse(extensionBase)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string) {
		ok := console.IsPageOf(extensionBase, path)
		if ok && strings.ContainsAny(path, "\\ \t\r\n\x00") {
			t.Fatalf("%q is taken", path)
		}
		parsed, err := base.Parse(path)
		if err != nil || strings.HasPrefix(path, "//") || strings.HasPrefix(strings.ToLower(path), "https:") {
			return
		}
		if isThere := parsed.Scheme == base.Scheme && parsed.Host == base.Host && parsed.User == nil; ok && !isThere {
			t.Fatalf("%q leads to %s", path, parsed)
		}
	})
}

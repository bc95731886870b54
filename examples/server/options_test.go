package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"development elsewhere", []string{"-dev", "-api-url", "https://api.example.com"}, "-dev refused: -api-url https://api.example.com is not loopback"},
		{"no key", []string{"-dev=false"}, "-key is required outside development mode"},
		{"short key", []string{"-key", "YWJj"}, "-key: keyring: key 1: has 3 bytes"},
		{"no address", []string{"-api", "8080", "-key", developmentKey}, "not an address"},
		{"no address and no key", []string{"-app", "nonsense"}, `-app "nonsense" is not an address`},
		{"empty address", []string{"-api", ""}, `-api "" is not an address`},
		{"scheme of a public URL", []string{"-api-url", "ftp://api.example.com"}, `-api-url "ftp://api.example.com" is not a URL`},
		{"host as public URL", []string{"-app-url", "localhost:8081"}, `-app-url "localhost:8081" is not a URL`},
		{"no public URL", []string{"-api", "0.0.0.0:0", "-key", developmentKey}, "-api-url"},
		{"plain http elsewhere", []string{"-api-url", "http://api.example.com", "-key", developmentKey}, "must be https"},
		{"cookie of all", []string{"-cookie-domain", "com", "-api-url", "https://api.example.com", "-app-url", "https://app.example.com", "-key", developmentKey}, `-cookie-domain "com" has no dot: browsers accept no cookie for a top-level domain (see -help)`},
		{"cookie of others", []string{"-cookie-domain", "example.net", "-api-url", "https://api.example.com", "-app-url", "https://app.example.com", "-key", developmentKey}, `-cookie-domain "example.net" is no parent domain of api.example.com`},
		{"cookie of one host", []string{"-cookie-domain", "api.example.com", "-api-url", "https://api.example.com", "-app-url", "https://app.example.com", "-key", developmentKey}, "no parent domain of app.example.com"},
		{"cookie of half a name", []string{"-cookie-domain", "ample.com", "-api-url", "https://api.example.com", "-app-url", "https://app.example.com", "-key", developmentKey}, "no parent domain"},
		{"redis", []string{"-redis", "http://user:hidden@x"}, "-redis"},
		{"postgres", []string{"-db", "postgres://u:hidden@127.0.0.1:1/x"}, "127.0.0.1:1"},
		{"past a pooler of SQLite", []string{"-db", ":memory:", "-db-direct", "postgres://u:hidden@127.0.0.1:1/x"}, "-db must be a postgres:// URL"},
		{"another database", []string{"-db", "mysql://u:hidden@127.0.0.1:1/x"}, "-db is neither an SQLite file nor a postgres:// URL (see -help)"},
		{"partitions of SQLite", []string{"-db", ":memory:", "-partitions"}, "-partitions is for PostgreSQL"},
		{"directory of the file", []string{"-db", "/nowhere/at/all.db"}, "/nowhere/at/all.db"},
		{"fixtures", []string{"-fixtures", "/nowhere.json"}, "/nowhere.json"},
	} {
		why := fails(t, test.args...)
		if !strings.Contains(why, test.want) || strings.Contains(why, "hidden") {
			t.Errorf("%s: %q, want %q", test.name, why, test.want)
		}
	}
}

// Outside development mode no user can sign in with the passwords in the source.
func TestDemoOutsideDevelopmentHasFreshSecrets(t *testing.T) {
	t.Parallel()
	r := start(t, "-dev=false", "-key", developmentKey)
	if text := r.stderr.String(); strings.Contains(text, "demo-ada") || !strings.Contains(text, "ada@example.com") {
		t.Errorf("greeting:\n%s", text)
	}
	post(t, browser(t), r.app+"/login", map[string][]string{"email": {"ada@example.com"}, "password": {"demo-ada"}}).want(t, 403)
	r.dev("clock", `{"advanceSeconds": 1}`).want(t, 401) // as any path that is not there
}

// A database is not opened with a keyring that cannot read its secrets, and nothing is
// lost by trying.
func TestKeyOfAnother(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "books.db")
	first, second := strings.Repeat("A", 43)+"=", strings.Repeat("B", 42)+"A="
	if err := start(t, "-db", db, "-key", first).stop(); err != nil {
		t.Fatal(err)
	}
	if why := fails(t, "-db", db, "-key", second); !strings.Contains(why, "-key must open what this database has sealed") {
		t.Errorf("refused because %s", why)
	}
	if err := start(t, "-db", db, "-key", second+","+first).stop(); err != nil {
		t.Error(err)
	}
}

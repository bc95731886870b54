package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzReturnTo: whoever is sent there stays on this host, as browsers read it.
func FuzzReturnTo(f *testing.F) {
	for _, seed := range []string{
		"/", "/a?b=c#d", "//evil.example", "/\\evil.example", "/\t/evil.example", "\\\\evil", "https://evil.example", "/a//b", "/%2f%2fevil.example", "/..//evil.example", "javascript:1", "",
		"/\x00", "/\u2028", "/a:b@c", "/?//evil", "/./\r\n/evil", "/;//evil",
	} {
		f.Add(seed)
	}
	base := &url.URL{Scheme: "https", Host: "app.example.com", Path: "/login"}
	f.Fuzz(func(t *testing.T, path string) {
		if !isOwnPath(path) {
			return
		}
		// What browsers do before they look (WHATWG URL 4.4): no tabs and line breaks, and \ is /.
		read := strings.NewReplacer("\t", "", "\r", "", "\n", "", "\\", "/").Replace(strings.TrimSpace(path))
		u, err := base.Parse(read)
		if err != nil || u.Host != base.Host || u.Scheme != "https" || u.User != nil || strings.HasPrefix(read, "//") {
			t.Fatalf("%q leads to %v: %v", path, u, err)
		}
		w := httptest.NewRecorder()
		http.Redirect(w, httptest.NewRequest(http.MethodPost, base.String(), http.NoBody), path, http.StatusSeeOther)
		if to := w.Header().Get("Location"); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, "/\\") || strings.ContainsAny(to, "\r\n\x00") {
			t.Fatalf("%q redirects to %q", path, to)
		}
	})
}

// FuzzFixtures: a file is taken or refused, and one that is taken is consistent.
func FuzzFixtures(f *testing.F) {
	f.Add(demo)
	for _, seed := range []string{
		``, `{}`, `null`, `{"users":null}`, `{"organizations":[{"id":"org_1","name":"A","members":["usr_1"]}],"users":[{"id":"usr_1","email":"a@b.c","password":"p","name":"A"}]}`,
		`{"apps":[{"id":"app_1","clientId":"c","type":"PUBLIC","name":"A","organizationId":"org_1","scopes":"invoices:read","redirectUris":["javascript:1"]}]}`,
		`{"businesses":[{"id":"biz_1","name":"B","members":[{"userId":"usr_9","role":"king"}]}]}`, `{"apps":[{"appDataFields":[{"min":1e999}]}]}`, `{"extra":1}`, `{"users":[],"users":[]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Parse(text, "fuzz")
		if err != nil {
			if err.Error() == "" {
				t.Fatal("refused without a reason")
			}
			return
		}
		users, seen := map[string]bool{}, map[string]bool{}
		for _, user := range got.Users {
			users[user.ID] = true
		}
		for _, b := range got.Businesses {
			if seen[b.ID] || b.ID == "" {
				t.Fatalf("business %q", b.ID)
			}
			seen[b.ID] = true
			for _, m := range b.Members {
				if !users[m.UserID] {
					t.Fatalf("%s has the member %q, who is nobody", b.ID, m.UserID)
				}
			}
		}
	})
}

// FuzzOptions: flags and variables are taken or refused with a usage error; a proxy that
// is trusted is a network.
func FuzzOptions(f *testing.F) {
	for _, seed := range [][2]string{
		{"-dev=false", ""}, {"-trusted-proxies=10.0.0.0/8,::1/128", ""}, {"-trusted-proxies=0.0.0.0/0", ""}, {"-trusted-proxies", "10.0.0.1"}, {"-x", ""}, {"--", "a"}, {"-api", "a:b:c"}, {"-help", ""}, {"-key=", "\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		args := []string{first}
		if second != "" {
			args = append(args, second)
		}
		variables := func(name string) string {
			if name == "PARTNERKIT_TRUSTED_PROXIES" {
				return second
			}
			return ""
		}
		o, err := parseOptions(args, variables, io.Discard)
		if err != nil {
			if !errors.Is(err, errUsage) && !strings.Contains(err.Error(), "help requested") {
				t.Fatalf("%q: %v", args, err)
			}
			return
		}
		for _, network := range o.proxies {
			if !network.IsValid() {
				t.Fatalf("%q trusts %v", args, network)
			}
		}
		if origin := normalOrigin(o.apiURL); normalOrigin(origin) != origin {
			t.Fatalf("%q has the normal form %q, and that %q", o.apiURL, origin, normalOrigin(origin))
		}
	})
}

// FuzzDevGuard: /dev answers this machine alone: no other name, no proxy, no page of
// another origin.
func FuzzDevGuard(f *testing.F) {
	for _, seed := range [][3]string{
		{"localhost:8080", "", ""}, {"127.0.0.1", "", ""}, {"[::1]:80", "http://localhost:8080", ""}, {"evil.example", "", ""}, {"localhost.evil.example", "", ""}, {"localhost:8080", "null", ""}, {"LOCALHOST", "", ""},
		{"127.0.0.1.nip.io", "", ""}, {"[::ffff:127.0.0.1]", "", ""}, {"localhost:8080", "", "cross-site"}, {"", "", ""}, {"[localhost]", "", ""}, {"localhost:8080:1", "", ""}, {"\xff", "", ""},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := &server{parts: parts{apiURL: "http://localhost:8080", appURL: "http://localhost:8081"}}
	f.Fuzz(func(t *testing.T, host, origin, site string) {
		r := httptest.NewRequest(http.MethodGet, "/dev/clock", http.NoBody)
		r.Host = host
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		if s.guardDev(r) != nil {
			return
		}
		name := (&url.URL{Host: host}).Hostname()
		if !strings.EqualFold(strings.TrimSuffix(name, "."), "localhost") && !strings.HasPrefix(name, "127.") && !strings.Contains(name, "::1") && !strings.Contains(name, ":127.") && !strings.Contains(name, ":7f") {
			t.Fatalf("the host %q passed", host)
		}
		if origin != "" && origin != s.apiURL && origin != s.appURL || origin == "" && site != "" && site != "none" && site != "same-origin" {
			t.Fatalf("origin %q, site %q passed", origin, site)
		}
		r.Header.Set("X-Forwarded-For", "127.0.0.1")
		if s.guardDev(r) == nil {
			t.Fatal("a proxy passed")
		}
	})
}

// FuzzCookies: whatever cookies come, at most four are looked for, and only of our form.
func FuzzCookies(f *testing.F) {
	for _, seed := range []string{"", "books_session=a", "books_session=" + "pk_ses_" + strings.Repeat("a", 43), strings.Repeat("books_session=pk_ses_"+strings.Repeat("b", 43)+"; ", 20), "books_session=\"\x00\"", ";;;=", "books_session"} {
		f.Add(seed)
	}
	s := newSessions(nil, nil, sessionCookie("http://localhost", ""), true)
	f.Fuzz(func(t *testing.T, cookies string) {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header["Cookie"] = []string{cookies}
		found := s.digests(r)
		if n := strings.Count(cookies, "pk_ses_"); len(found) > 4 || len(found) > n {
			t.Fatalf("%d sessions of %q", len(found), cookies)
		}
	})
}

// FuzzPasswordHash: no hash but the one of the password is taken for it, and a broken one
// is an error or nobody's.
func FuzzPasswordHash(f *testing.F) {
	const password = "correct horse" //nolint:gosec // of the test
	hash := HashPassword(password)
	for _, seed := range []string{hash, "", hash[:len(hash)-1], phcPrefix, phcPrefix + "$", phcPrefix + "AAAA$AAAA", strings.Replace(hash, "t=2", "t=999999", 1), strings.Replace(hash, "m=", "m=9", 1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, given string) {
		ok, _ := isPassword(given, password)
		if given == hash && !ok {
			t.Fatal("the hash of the password is not taken")
		}
		// Other processes that fuzz have hashed the same, each with its own salt.
		if also, _ := isPassword(given, password+"x"); ok && (also || !strings.HasPrefix(given, phcPrefix)) {
			t.Fatalf("%q passed", given)
		}
	})
}

package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// ERR-02: a request that the HTTP server rejects before it calls a handler gets an error of
// the standard shape too, and not an internal error.
func TestRefusedBeforeItIsARequest_ERR02(t *testing.T) {
	t.Parallel()
	r := start(t)
	const host = "Host: localhost\r\n"
	for name, test := range map[string]struct {
		request string
		want    int
	}{
		"no host":                   {"GET / HTTP/1.1\r\n\r\n", http.StatusBadRequest},
		"no HTTP":                   {"hello\r\n\r\n", http.StatusBadRequest},
		"a header without a name":   {"GET / HTTP/1.1\r\n" + host + ": x\r\n\r\n", http.StatusBadRequest},
		"a header too large":        {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("x", 100_000) + "\r\n\r\n", http.StatusRequestHeaderFieldsTooLarge},
		"a path too long":           {"GET /" + strings.Repeat("x", 100_000) + " HTTP/1.1\r\n" + host + "\r\n", http.StatusRequestHeaderFieldsTooLarge},
		"an unknown coding":         {"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n", http.StatusBadRequest},
		"two lengths":               {"POST / HTTP/1.1\r\n" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n12", http.StatusBadRequest},
		"a version that is not yet": {"GET / HTTP/3.0\r\n" + host + "\r\n", http.StatusBadRequest},
		"an unknown expectation":    {"POST /oauth/token HTTP/1.1\r\n" + host + "Expect: tea\r\nContent-Length: 1\r\n\r\n", http.StatusExpectationFailed},
		"the second of two":         {"GET /healthz HTTP/1.1\r\n" + host + "\r\nGET / HTTP/1.1\r\n\r\n", http.StatusBadRequest},
	} {
		for _, origin := range []string{r.api, r.app} {
			res, body := rawResponse(t, strings.TrimPrefix(origin, "http://"), test.request)
			var got struct {
				StatusCode     int
				Message, Error string
			}
			if err := json.Unmarshal(body, &got); err != nil || res.StatusCode != test.want || got.StatusCode != test.want || got.Error != http.StatusText(test.want) || got.Message == "" {
				t.Errorf("%s: %s %s, %v", name, res.Status, body, err)
			}
			if res.Header.Get("Content-Type") != "application/json" || res.Header.Get("Cache-Control") != "no-store" || !res.Close {
				t.Errorf("%s: %v, and it is closed: %v", name, res.Header, res.Close)
			}
		}
	}
	const smuggled = "POST /oauth/token HTTP/1.1\r\n" + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n" + host + "\r\n"
	if res, body := rawResponse(t, strings.TrimPrefix(r.api, "http://"), smuggled); res.StatusCode != http.StatusUnauthorized || !res.Close {
		t.Errorf("a request behind one with two lengths was answered: %s %s", res.Status, body)
	}
	if strings.Contains(r.stderr.String(), "level=ERROR") {
		t.Errorf("the log: %s", r.stderr)
	}
}

// rawResponse sends bytes and returns the last response before the connection is closed.
func rawResponse(t *testing.T, address, request string) (last *http.Response, body []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, request) }() // the server may stop reading
	for in := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			if last == nil {
				t.Fatalf("%.60q: %v", request, err)
			}
			return last, body
		}
		if body, err = io.ReadAll(res.Body); err != nil {
			t.Fatalf("%.60q: %v", request, err)
		}
		if last = res; res.Close {
			return last, body
		}
	}
}

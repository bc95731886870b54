//go:build linux

package hostile_test

import (
	"fmt"
	"strings"
)

// end makes the server close the connection after its response.
const end = "Host: localhost\r\nConnection: close\r\n\r\n"

// oddRequests are requests that no client should send, as bytes on the wire.
func oddRequests() map[string]string {
	const host = "Host: localhost\r\n"
	post := "POST /oauth/token HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
	odd := map[string]string{
		// Two readers could see two requests.
		"length and coding":                 post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n" + host + "\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\n" + end,
		"coding and length":                 post + "Transfer-Encoding: chunked\r\nContent-Length: 100\r\n" + host + "Connection: close\r\n\r\n5\r\na=b&c\r\n0\r\n\r\n",
		"two codings":                       post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" + end,
		"hidden coding":                     post + "Transfer-Encoding:\x0bchunked\r\n" + end,
		"coding in another case":            post + "Transfer-Encoding: cHuNkEd\r\n" + host + "Connection: close\r\n\r\n0\r\n\r\n",
		"two lengths":                       post + "Content-Length: 3\r\nContent-Length: 4\r\n" + end + "a=bc",
		"a list of lengths":                 post + "Content-Length: 3, 3\r\n" + end + "a=b",
		"a signed length":                   post + "Content-Length: +3\r\n" + end + "a=b",
		"a negative length":                 post + "Content-Length: -1\r\n" + end,
		"a length of many digits":           post + "Content-Length: 99999999999999999999\r\n" + end,
		"a length in hexadecimal":           post + "Content-Length: 0x3\r\n" + end + "a=b",
		"a chunk of many digits":            post + "Transfer-Encoding: chunked\r\n" + host + "Connection: close\r\n\r\nfffffffffffffffff\r\na=b\r\n0\r\n\r\n",
		"a negative chunk":                  post + "Transfer-Encoding: chunked\r\n" + host + "Connection: close\r\n\r\n-1\r\na\r\n0\r\n\r\n",
		"a chunk with a long extension":     post + "Transfer-Encoding: chunked\r\n" + host + "Connection: close\r\n\r\n3;" + strings.Repeat("x", 100_000) + "\r\na=b\r\n0\r\n\r\n",
		"chunks of one byte and extensions": post + "Transfer-Encoding: chunked\r\n" + host + "Connection: close\r\n\r\n" + strings.Repeat("1;"+strings.Repeat("x", 100)+"\r\na\r\n", 5000) + "0\r\n\r\n",
		"many trailers":                     post + "Transfer-Encoding: chunked\r\n" + host + "Connection: close\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", 50_000) + "\r\n",
		"bare line feeds":                   "GET /invoices HTTP/1.1\nHost: localhost\nConnection: close\n\n",
		"bare carriage returns":             "GET /invoices HTTP/1.1\rHost: localhost\rConnection: close\r\r",
		"a folded header":                   "GET /invoices HTTP/1.1\r\nX: a\r\n b\r\n" + end,
		"a folded coding":                   post + "Transfer-Encoding:\r\n chunked\r\n" + host + "Connection: close\r\n\r\n0\r\n\r\n",
		"a space before the colon":          post + "Content-Length : 3\r\n" + end + "a=b",
		"a space before the first header":   "GET /invoices HTTP/1.1\r\n X: y\r\n" + end,
		"pipelining":                        strings.Repeat("GET /healthz HTTP/1.1\r\n"+host+"\r\n", 200) + "GET /invoices HTTP/1.1\r\n" + end,
		"a body where none belongs":         "GET /healthz HTTP/1.1\r\nContent-Length: 30\r\n" + host + "\r\nGET /invoices HTTP/1.1\r\nX: xxxxGET /invoices HTTP/1.1\r\n" + end,

		// Input that is not a request.
		"nothing":                      "\r\n\r\n",
		"HTTP/0.9":                     "GET /invoices\r\n\r\n",
		"HTTP/1.0":                     "GET /invoices HTTP/1.0\r\n\r\n",
		"HTTP/1.2":                     "GET /invoices HTTP/1.2\r\n" + end,
		"HTTP/9.9":                     "GET /invoices HTTP/9.9\r\n" + end,
		"the preface of HTTP/2":        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00",
		"TLS":                          "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + strings.Repeat("\x00", 100) + "\r\n\r\n",
		"binary":                       strings.Repeat("\x00\xff", 5000) + "\r\n\r\n",
		"no host":                      "GET /invoices HTTP/1.1\r\n\r\n",
		"two hosts":                    "GET /invoices HTTP/1.1\r\nHost: a\r\n" + end,
		"a host with a path":           "GET /invoices HTTP/1.1\r\nHost: a/b@c\r\nConnection: close\r\n\r\n",
		"a NUL in a header":            "GET /invoices HTTP/1.1\r\nX: a\x00b\r\n" + end,
		"a NUL in the method":          "G\x00T /invoices HTTP/1.1\r\n" + end,
		"a header not of ASCII":        "GET /invoices HTTP/1.1\r\nX-\xc3\xbc: a\r\n" + end,
		"a large header":               "GET /invoices HTTP/1.1\r\nX: " + strings.Repeat("x", 200_000) + "\r\n" + end,
		"many headers":                 "GET /invoices HTTP/1.1\r\n" + strings.Repeat("X: y\r\n", 50_000) + end,
		"a long path":                  "GET /" + strings.Repeat("x", 200_000) + " HTTP/1.1\r\n" + end,
		"a query of 100k":              "GET /invoices?" + strings.Repeat("a=b&", 15_000) + " HTTP/1.1\r\n" + end,
		"many cookies":                 "GET /developer/apps HTTP/1.1\r\nCookie: " + strings.Repeat("books_session=x; ", 3000) + "\r\n" + end,
		"an unknown expectation":       post + "Expect: tea\r\nContent-Length: 3\r\n" + end + "a=b",
		"an expectation without body":  post + "Expect: 100-continue\r\nContent-Length: 0\r\n" + end,
		"an expectation of too much":   post + "Expect: 100-continue\r\nContent-Length: 999999999\r\n" + end,
		"upgrade to a websocket":       "GET /invoices HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\nSec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n" + host + "\r\n",
		"upgrade to HTTP/2":            "GET /invoices HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings, close\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n" + host + "\r\n",
		"credentials in two headers":   "GET /invoices HTTP/1.1\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n" + end,
		"a bearer without a token":     "GET /invoices HTTP/1.1\r\nAuthorization: Bearer\r\n" + end,
		"a token of 60k":               "GET /invoices HTTP/1.1\r\nAuthorization: Bearer " + strings.Repeat("a", 60_000) + "\r\n" + end,
		"a token of dots":              "GET /invoices HTTP/1.1\r\nAuthorization: Bearer " + strings.Repeat(".", 60_000) + "\r\n" + end,
		"a forwarded address":          "GET /invoices HTTP/1.1\r\nX-Forwarded-For: " + strings.Repeat("1.2.3.4, ", 5000) + "\r\nForwarded: for=\"[::1\"\r\n" + end,
		"a range of many":              "GET /openapi.yaml HTTP/1.1\r\nRange: bytes=" + strings.Repeat("0-,", 5000) + "0-\r\n" + end,
		"a list of entity tags":        "GET /openapi.yaml HTTP/1.1\r\nIf-None-Match: " + strings.Repeat(`"a", `, 5000) + "W/\r\n" + end,
		"a preflight of many":          "OPTIONS /invoices HTTP/1.1\r\nOrigin: null\r\nAccess-Control-Request-Method: " + strings.Repeat("X", 5000) + "\r\nAccess-Control-Request-Headers: " + strings.Repeat("x,", 9000) + "\r\n" + end,
		"options of everything":        "OPTIONS * HTTP/1.1\r\n" + end,
		"a content type of parameters": post + "Content-Type: application/json" + strings.Repeat("; a=b", 5000) + "\r\nContent-Length: 2\r\n" + end + "{}",
	}
	for _, method := range []string{"CONNECT", "TRACE", "PROPFIND", "get", "DELETE", "PATCH", "X-" + strings.Repeat("Y", 1000)} {
		for _, path := range []string{"/oauth/token", "/invoices", "/healthz", "/developer/apps", "/oauth/authorize", "/login", "/dev/clock"} {
			odd[fmt.Sprintf("%.10s %s", method, path)] = method + " " + path + " HTTP/1.1\r\n" + end
		}
	}
	for _, path := range []string{
		"//", "///invoices", "//evil.example/%2f..", "/./invoices", "/invoices/..", "/../../etc/passwd", "/..;/dev/clock", "/invoices;a=b", "/%2e%2e/%2e%2e/dev/clock", "/%2e/", "/invoices%00", "/%00", "/%ff%fe", "/%c0%af",
		"/%u0041", "/%", "/%zz", "/inv%6fices", "/invoices/%2f", "/invoices/" + strings.Repeat("%2f..", 2000), "/" + strings.Repeat("a/", 10_000), "/invoices?%00=%ff&%", "/invoices?;;", "/oauth//token", "/oauth/token/", "/OAUTH/TOKEN",
		"/developer/apps/%00/webhooks", "/developer/apps/../../dev/clock", "/events/%ff", "/app-data/%00", "/dev/../dev/clock", "/.well-known/%2e%2e/jwks.json", "/\\..\\dev", "/login?return_to=//evil.example", "/device?user_code=%00",
		"/oauth/authorize?" + strings.Repeat("a=b&", 5000), "/oauth/authorize?client_id=%00&redirect_uri=%ff", "/assets/../login", "/assets/%2e%2e/login", "/embedded/%00", "/embedded/%2e%2e%2f",
		"http://evil.example/invoices", "http://evil.example:99999/", "https://user:pass@localhost/invoices", "*", "invoices", "?", "#", "/invoices#x", "javascript:alert(1)", "http://[::1", "/ü",
	} {
		odd["GET "+path] = "GET " + path + " HTTP/1.1\r\n" + end
	}
	return odd
}

//go:build linux

package hostile_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"sync"
)

// oddBodies are JSON bodies and forms that no client should send. No endpoint accepts any
// of them.
func oddBodies() map[string]struct{ contentType, encoding, body string } {
	const jsonType = "application/json"
	bodies := map[string]struct{ contentType, encoding, body string }{}
	add := func(name, contentType, body string) {
		bodies[name] = struct{ contentType, encoding, body string }{contentType, "", body}
	}
	add("100k levels of arrays", jsonType, strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))
	add("100k levels of objects", jsonType, strings.Repeat(`{"a":`, 100_000)+"1"+strings.Repeat("}", 100_000))
	add("100k open brackets", jsonType, strings.Repeat("[", 100_000))
	add("members twice", jsonType, `{"name":"a","name":"b"}`)
	add("members in another case", jsonType, `{"NAME":"a","Name":"b","client_ID":"c"}`)
	add("100k members", jsonType, `{`+strings.Repeat(`"a":1,`, 100_000)+`"b":1}`)
	add("a number of 100k digits", jsonType, `{"total":`+strings.Repeat("9", 100_000)+`}`)
	add("a number beyond floats", jsonType, `{"total":1e400000,"amount":-1e-400000}`)
	add("a name of 500k", jsonType, `{"`+strings.Repeat("n", 500_000)+`":1}`)
	add("a text of 900k", jsonType, `{"name":"`+strings.Repeat("n", 900_000)+`"}`)
	add("escapes of 600k", jsonType, `{"name":"`+strings.Repeat(`\u0041`, 100_000)+`"}`)
	add("bytes that are no UTF-8", jsonType, "{\"name\":\"\xff\xfe\",\"\xc0\xaf\":1}")
	add("a NUL", jsonType, "{\"name\":\"a\x00b\"}")
	add("an escaped NUL", jsonType, `{"name":"a\u0000b","number":"\u0000","url":"\u0000"}`)
	add("half a pair of surrogates", jsonType, `{"name":"\ud800"}`)
	add("a byte order mark", jsonType, "\xef\xbb\xbf{}")
	add("more after the value", jsonType, `{} {}`)
	add("null", jsonType, `null`)
	add("nothing", jsonType, ``)
	add("wrong types", jsonType, `{"name":[],"redirectUris":{},"scopes":1,"values":"x","invoices":{"a":1},"userId":[null],"client_id":{},"redirect_uris":[[[]]]}`)
	add("another charset", jsonType+"; charset=utf-16", `{}`)
	add("no type", "", `{}`)
	add("10k parameters", formType, manyParameters(10_000))
	add("one parameter 10k times", formType, strings.Repeat("client_id=a&", 10_000))
	add("a parameter of 1 MiB", formType, "grant_type="+strings.Repeat("a", 1<<20))
	add("bad percent-encoding", formType, "grant_type=%zz&%=%&a=%0")
	add("NULs in a form", formType, "grant_type=%00&client_id=%00&email=%00&password=%00&user_code=%00&request_id=%00")
	add("bytes in a form", formType, "grant_type=%ff&client_id=%c0%af&email=%ff&return_to=%ff")
	add("semicolons", formType, "a=b;c=d;grant_type=x")
	add("a multipart form", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n"+strings.Repeat("a", 100_000)+"\r\n--x--\r\n")
	add("a multipart form of headers", "multipart/form-data; boundary=x", "--x\r\n"+strings.Repeat("A: b\r\n", 20_000)+"\r\n\r\n--x--\r\n")
	add("a multipart form without end", "multipart/form-data; boundary=x", strings.Repeat("--x\r\nContent-Disposition: form-data; name=kind\r\n\r\na\r\n", 5000))
	add("XML", "application/xml", `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`)
	for _, contentType := range []string{jsonType, formType} {
		bodies["a gzip bomb as "+contentType] = struct{ contentType, encoding, body string }{contentType, "gzip", gzipBomb()}
		bodies["an unknown encoding of "+contentType] = struct{ contentType, encoding, body string }{contentType, "br, zstd", "{}"}
	}
	return bodies
}

func manyParameters(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "p%d=&", i)
	}
	return b.String()
}

// gzipBomb returns 50 KiB that decompress to 50 MiB.
var gzipBomb = sync.OnceValue(func() string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	zeros := make([]byte, 1<<20)
	for range 50 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	return b.String()
})

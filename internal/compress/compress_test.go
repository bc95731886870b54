package compress_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/compress"
)

var content = strings.Repeat("what is said again and again. ", 100)

// request sends a request with headers and returns the response.
func request(h http.Handler, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// Only a client that takes gzip gets it, and caches are told that others do not.
func TestWrite(t *testing.T) {
	t.Parallel()
	file := compress.NewFile([]byte(content))
	for name, h := range map[string]http.Handler{
		"page": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { compress.Write(w, r, []byte(content)) }),
		"file": file,
	} {
		for accepted, want := range map[string]bool{
			"": false, "gzip": true, "br, GZIP": true, "gzip;q=0.5": true, "gzip; q=1": true,
			"gzip;q=0": false, "gzip; q=0.000": false, "br": false, "gzipped": false, "*": false,
		} {
			w := request(h, "Accept-Encoding", accepted)
			body := io.Reader(w.Body)
			if got := w.Header().Get("Content-Encoding") == "gzip"; got != want {
				t.Errorf("%s, %q: compressed %t, want %t", name, accepted, got, want)
			} else if got {
				if w.Body.Len() > len(content)/10 {
					t.Errorf("%s: %d bytes of %d", name, w.Body.Len(), len(content))
				}
				body, _ = gzip.NewReader(w.Body)
			}
			if text, err := io.ReadAll(body); err != nil || string(text) != content {
				t.Errorf("%s, %q: %v, %q", name, accepted, err, text)
			}
			if w.Header().Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s, %q: %v", name, accepted, w.Header())
			}
		}
	}
}

// A client that has a file does not get it again; the two forms of a file have different tags.
func TestFileIsCached(t *testing.T) {
	t.Parallel()
	file := compress.NewFile([]byte(content))
	plain, packed := request(file).Header().Get("Etag"), request(file, "Accept-Encoding", "gzip").Header().Get("Etag")
	if plain == packed || plain == "" {
		t.Errorf("tags %s and %s", plain, packed)
	}
	for tag, want := range map[string]int{plain: 304, "W/" + plain: 304, `"a", ` + plain: 304, "*": 304, packed: 200, `"a"`: 200} {
		w := request(file, "If-None-Match", tag)
		if w.Code != want || want == 304 && w.Body.Len() > 0 {
			t.Errorf("If-None-Match %s: %d with %d bytes, want %d", tag, w.Code, w.Body.Len(), want)
		}
	}
}

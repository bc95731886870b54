package signature_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/partnerkit/partnerkit/webhooks/signature"
)

// receiver responds 204 and remembers the body that got through.
type receiver struct {
	http.Handler
	calls int
	body  string
}

func newReceiver(t testing.TB, maxBody int64) *receiver {
	t.Helper()
	verifier, err := signature.NewVerifier(signature.Config{
		Secrets: []string{newSecret}, MaxBody: maxBody, Now: func() time.Time { return sentAt },
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{}
	r.Handler = verifier.Handler(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		read, err := io.ReadAll(req.Body)
		if err != nil || req.ContentLength != int64(len(read)) {
			t.Errorf("the handler reads %d of %d bytes, %v", len(read), req.ContentLength, err)
		}
		r.calls, r.body = r.calls+1, string(read)
		w.WriteHeader(http.StatusNoContent)
	}))
	return r
}

// unsized hides how long a body is, as a chunked request does.
type unsized struct{ io.Reader }

// SIG-03: what gets through, and what is answered to everything else.
func TestHandler(t *testing.T) {
	t.Parallel()
	signer := newSigner(t, newSecret)
	signed := signer.Sign(sentAt, []byte(body))
	full, over := strings.Repeat("x", len(body)+1), strings.Repeat("x", len(body)+2)
	for name, test := range map[string]struct {
		method  string
		headers []string
		body    io.Reader
		status  int
		text    string
	}{
		"signed":               {"POST", []string{signed}, strings.NewReader(body), 204, ""},
		"chunked":              {"POST", []string{signed}, unsized{strings.NewReader(body)}, 204, ""},
		"any method":           {"PUT", []string{signed}, strings.NewReader(body), 204, ""},
		"empty":                {"POST", []string{signer.Sign(sentAt, nil)}, http.NoBody, 204, ""},
		"in two lines":         {"POST", strings.SplitN(signed, ",", 2), strings.NewReader(body), 204, ""},
		"as large as may be":   {"POST", []string{signer.Sign(sentAt, []byte(full))}, unsized{strings.NewReader(full)}, 204, ""},
		"too large":            {"POST", []string{signer.Sign(sentAt, []byte(over))}, strings.NewReader(over), 413, "body too large"},
		"too large, chunked":   {"POST", []string{signer.Sign(sentAt, []byte(over))}, unsized{strings.NewReader(over)}, 413, "body too large"},
		"unsigned":             {"POST", nil, strings.NewReader(body), 401, "no X-Webhook-Signature header"},
		"unsigned, any method": {"GET", nil, http.NoBody, 401, "no X-Webhook-Signature header"},
		"another body":         {"POST", []string{signed}, strings.NewReader("{}"), 401, "signature does not match"},
		"old":                  {"POST", []string{signer.Sign(sentAt.Add(-time.Hour), []byte(body))}, strings.NewReader(body), 401, "signature is too old"},
		"new":                  {"POST", []string{signer.Sign(sentAt.Add(time.Hour), []byte(body))}, strings.NewReader(body), 401, "signature is from the future"},
		"malformed":            {"POST", []string{"v1"}, strings.NewReader(body), 400, "malformed X-Webhook-Signature header: an element is not name=value"},
		"twice":                {"POST", []string{signed, signed}, strings.NewReader(body), 400, "malformed X-Webhook-Signature header: t is given twice"},
		"broken off":           {"POST", []string{signed}, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader(body))), 400, "body not readable"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, int64(len(full)))
			request := httptest.NewRequestWithContext(t.Context(), test.method, "/hooks", test.body)
			for _, value := range test.headers {
				request.Header.Add("x-webhook-signature", value)
			}
			length, w := request.ContentLength, httptest.NewRecorder()
			r.ServeHTTP(w, request)
			if request.ContentLength != length {
				t.Error("the caller's request was changed")
			}
			if text := strings.TrimSuffix(w.Body.String(), "\n"); w.Code != test.status || text != test.text {
				t.Errorf("%d %q, want %d %q", w.Code, text, test.status, test.text)
			}
			if passed := r.calls == 1; passed != (test.status == 204) {
				t.Errorf("the handler was called %d times", r.calls)
			}
			if challenged := w.Header().Get("WWW-Authenticate") != ""; challenged != (test.status == 401) {
				t.Errorf("challenge %q", w.Header().Get("WWW-Authenticate"))
			}
		})
	}
}

// A mebibyte passes by default, and a byte more does not.
func TestHandlerDefaultMaxBody(t *testing.T) {
	t.Parallel()
	r, signer := newReceiver(t, 0), newSigner(t, newSecret)
	for size, want := range map[int]int{1 << 20: 204, 1<<20 + 1: 413} {
		large := strings.Repeat("x", size)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(large))
		request.Header.Set(signature.Header, signer.Sign(sentAt, []byte(large)))
		w := httptest.NewRecorder()
		if r.ServeHTTP(w, request); w.Code != want {
			t.Errorf("%d bytes: %d, want %d", size, w.Code, want)
		}
	}
}

// The handler does not read the body of a request without a well-formed header or with
// too large a Content-Length.
func TestHandlerReadsNothingInVain(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*http.Request){
		"unsigned":  func(*http.Request) {},
		"malformed": func(r *http.Request) { r.Header.Set(signature.Header, "t=1") },
		"too large": func(r *http.Request) {
			r.Header.Set(signature.Header, sign(t, newSecret))
			r.ContentLength = 1 << 30
		},
	} {
		r := newReceiver(t, 0)
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		request.Body = io.NopCloser(readerFunc(func([]byte) (int, error) {
			t.Errorf("%s: the body was read", name)
			return 0, errors.New("read")
		}))
		prepare(request)
		r.ServeHTTP(httptest.NewRecorder(), request)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Over a real connection, with a length and in chunks.
func TestHandlerOverHTTP(t *testing.T) {
	t.Parallel()
	r := newReceiver(t, 0)
	server := httptest.NewServer(r)
	defer server.Close()
	for _, sent := range []io.Reader{strings.NewReader(body), unsized{strings.NewReader(body)}} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, sent)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(signature.Header, sign(t, newSecret))
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNoContent || r.body != body {
			t.Errorf("%d, body %q", response.StatusCode, r.body)
		}
	}
}

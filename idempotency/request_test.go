package idempotency_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/idempotency"
	"github.com/partnerkit/partnerkit/internal/testdb"
)

// IDEM-01: a key has 1 to 255 characters, once.
func TestKeySyntax(t *testing.T) {
	onBoth(t, func(s *shop) {
		for name, test := range map[string]struct {
			values []string
			status int
		}{
			"one character":   {[]string{"x"}, 201},
			"255 characters":  {[]string{strings.Repeat("k", 255)}, 201},
			"256 characters":  {[]string{strings.Repeat("k", 256)}, 400},
			"all printable":   {[]string{`a b"c'd\e,f;g%00~`}, 201},
			"empty":           {[]string{""}, 400},
			"twice":           {[]string{"y", "y"}, 400},
			"tab":             {[]string{"a\tb"}, 400},
			"NUL":             {[]string{"a\x00b"}, 400},
			"DEL":             {[]string{"a\x7fb"}, 400},
			"UTF-8":           {[]string{"Schlüssel"}, 400},
			"not UTF-8":       {[]string{"a\xffb"}, 400},
			"line separators": {[]string{"a\u2028b"}, 400},
		} {
			r := keyed("", "hello")
			r.Header["Idempotency-Key"] = test.values
			got := s.serve(s.create, r)
			if got.Status != test.status {
				s.Errorf("%s: answered %d", name, got.Status)
			}
			got.is(test.status, "")
		}
		s.wantInvoices(3)
	})
}

// ERR-02: a body beyond the limit is a 413 and one that breaks off a 400, before
// anything is claimed; one at the limit reaches the handler as it was sent.
func TestBodies(t *testing.T) {
	onBoth(t, func(s *shop) {
		binary := []byte{0, 0xff, 0xfe, '\r', '\n', 0x80}
		exact := bytes.Repeat(binary, 100)[:512]
		for name, test := range map[string]struct {
			body   io.Reader
			length int64
			status int
		}{
			"too large":                  {bytes.NewReader(make([]byte, 513)), 513, 413},
			"too large, length unknown":  {bytes.NewReader(make([]byte, 513)), -1, 413},
			"limited from outside":       {http.MaxBytesReader(nil, io.NopCloser(bytes.NewReader(exact)), 100), -1, 413},
			"breaks off":                 {io.MultiReader(strings.NewReader("half"), broken{}), -1, 400},
			"at the limit":               {bytes.NewReader(exact), 512, 200},
			"at the limit, of no length": {bytes.NewReader(exact), -1, 200},
		} {
			r := keyed("k", "")
			r.Body, r.ContentLength = io.NopCloser(test.body), test.length
			var seen []byte
			got := s.serve(func(_ http.ResponseWriter, r *http.Request) (err error) {
				seen, err = io.ReadAll(r.Body)
				return err
			}, r)
			if got.Status != test.status {
				s.Errorf("%s: answered %d", name, got.Status)
			}
			if test.status == 200 && !got.isReplayed() && !bytes.Equal(seen, exact) {
				s.Errorf("%s: the handler saw %d bytes", name, len(seen))
			}
		}
	}, func(cfg *idempotency.Config) { cfg.MaxBody = 512 })
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestIdempotencyConfig(t *testing.T) {
	t.Parallel()
	store := newShop(t, testdb.SQLite).Store
	for name, cfg := range map[string]idempotency.Config{
		"no store":               {},
		"a short lease":          {Store: store, Lease: 999e6},
		"a negative lease":       {Store: store, Lease: -1},
		"a negative MaxBody":     {Store: store, MaxBody: -1},
		"a negative MaxResponse": {Store: store, MaxResponse: -1},
	} {
		if _, err := idempotency.New(cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

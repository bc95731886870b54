package strictjson_test

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// FuzzDecodeJSON compares with encoding/json: what is accepted here is accepted
// there, with the same value, and ignoring unknown members changes nothing when
// there are none.
func FuzzDecodeJSON(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `[]`, `{"name":"a","Name":"b"}`, `{"name":"\ud83d\ude00","note":null}`, `{"name":"\ud800"}`,
		`{"count":127,"size":65535,"price":-1.5e3,"ratio":1e38,"exact":1e999}`, `{"lines":[{"key":"k","value":{"a":[1,"b",null]}}]}`,
		`{"pair":[1,2],"data":"aGk=","at":"2026-01-02T03:04:05Z","level":"low","optional":{"a":1}}`, `{"quoted":"1","byNumber":{"1":"a"}}`,
		`{"parent":{"parent":{"tags":["a"],"labels":{"":"b"}}}} x`, "{\"\u212aame\":1}", `{"raw":[[[{}]]],"any":{"a":1,"a":2}}`, `{"name":"\u0000"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var got order
		err := strictjson.Decode(postJSON(body), &got, strictjson.Limits{})
		wantOwnError(t, err)

		var lenient order
		lenientErr := strictjson.Decode(postJSON(body), &lenient, strictjson.Limits{IgnoreUnknown: true})
		wantOwnError(t, lenientErr)
		if err != nil {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(body))
		decoder.DisallowUnknownFields()
		var want order
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("encoding/json refuses what was accepted: %v", err)
		}
		options := cmp.AllowUnexported(order{}, base{})
		if diff := cmp.Diff(want, got, options); diff != "" {
			t.Errorf("value (-encoding/json +got):\n%s", diff)
		}
		if diff := cmp.Diff(got, lenient, options); diff != "" || lenientErr != nil {
			t.Errorf("with unknown members ignored: %v\n%s", lenientErr, diff)
		}
		if strings.Contains(got.Name, "\x00") || !utf8.ValidString(got.Name) {
			t.Errorf("name %q", got.Name)
		}
	})
}

// FuzzContentType: a body is decoded as JSON only if the headers declare JSON in UTF-8
// without a content encoding.
func FuzzContentType(f *testing.F) {
	for _, seed := range [][2]string{
		{"application/json", ""}, {"APPLICATION/JSON; charset=UTF-8", "identity"}, {"application/json; charset=utf-16", ""}, {"application/json", "gzip"}, {"application/json", "identity, gzip"},
		{"application/json, text/plain", ""}, {"application/json;charset=utf-8;charset=latin1", ""}, {"application/json; charset*=utf-8''utf-16", ""}, {"text/json", ""}, {"", ""}, {"application/jsonp", ""}, {"application/json;charsetu=f", ""}, {"\xff", "\xff"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, contentType, encoding string) {
		r := post(contentType, `{"name":"a"}`)
		if encoding != "" {
			r.Header.Set("Content-Encoding", encoding)
		}
		var got order
		err := strictjson.Decode(r, &got, strictjson.Limits{})
		wantOwnError(t, err)
		if err != nil {
			var e *apierror.Error
			if errors.As(err, &e); e.Status() != http.StatusUnsupportedMediaType {
				t.Fatalf("%q, %q: %v", contentType, encoding, err)
			}
			return
		}
		media, params, err := mime.ParseMediaType(contentType)
		if got.Name != "a" || err != nil || media != "application/json" || !slices.Contains([]string{"", "utf-8"}, strings.ToLower(params["charset"])) ||
			!slices.Contains([]string{"", "identity"}, strings.ToLower(strings.TrimSpace(encoding))) {
			t.Fatalf("%q, %q was read", contentType, encoding)
		}
		if _, err := bodies.DecodeForm(r, bodies.FormLimits{}); err == nil {
			t.Fatalf("%q is a form too", contentType)
		}
	})
}

func wantOwnError(t *testing.T, err error) {
	t.Helper()
	var e *apierror.Error
	if err != nil && (!errors.As(err, &e) || e.Status() >= 500 || len(e.Messages()) == 0) {
		t.Fatalf("not a client error of ours: %v", err)
	}
}

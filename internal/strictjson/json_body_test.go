package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// ERR-02, OERR-03, REG-03: bodies that are not read at all.
func TestBodyRefusals_ERR02_OERR03_REG03(t *testing.T) {
	t.Parallel()
	long := `{"name": "` + strings.Repeat("a", 100) + `"}`
	compressed := postJSON(`{}`)
	compressed.Header.Set("Content-Encoding", "gzip")
	identity := postJSON(`{}`)
	identity.Header.Set("Content-Encoding", "identity")
	twoTypes := postJSON(`{}`)
	twoTypes.Header.Add("Content-Type", "text/plain")
	broken := postJSON("")
	broken.ContentLength = -1
	broken.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{`), errReader{}))
	capped := postJSON(long)
	capped.ContentLength = -1
	capped.Body = http.MaxBytesReader(nil, capped.Body, 20)
	chunked := postJSON(long)
	chunked.ContentLength = -1
	noBody := postJSON("")
	noBody.Body = nil

	tests := []struct {
		name   string
		r      *http.Request
		status int
	}{
		{"JSON", postJSON(`{}`), 0},
		{"charset", post("application/json; charset=UTF-8", `{}`), 0},
		{"other case", post("Application/JSON", `{}`), 0},
		{"other parameter", post("application/json; version=1", `{}`), 0},
		{"identity", identity, 0},
		{"other charset", post("application/json; charset=latin1", `{}`), 415},
		{"form", post("application/x-www-form-urlencoded", `{}`), 415},
		{"like JSON", post("application/problem+json", `{}`), 415},
		{"none", post("", `{}`), 415},
		{"malformed", post("application/json; charset", `{}`), 415},
		{"two types", twoTypes, 415},
		{"compressed", compressed, 415},
		{"none and empty", post("", ""), 400},
		{"no body", noBody, 400},
		{"cut", broken, 400},
		{"at the limit", postJSON(`{"name": "` + strings.Repeat("a", 38) + `"}`), 0},
		{"over the limit", postJSON(`{"name": "` + strings.Repeat("a", 39) + `"}`), 413},
		{"far over the limit", postJSON(long), 413},
		{"chunked", chunked, 413},
		{"capped by the host", capped, 413},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got order
			err := strictjson.Decode(test.r, &got, strictjson.Limits{MaxBytes: 50})
			var e *apierror.Error
			if errors.As(err, &e) != (test.status != 0) || e != nil && e.Status() != test.status {
				t.Fatalf("status %d wanted: %v", test.status, err)
			}
			if err == nil {
				return
			}
			response := httptest.NewRecorder()
			apierror.Writer{}.WriteOAuth(response, postJSON(""), err)
			var body map[string]string
			if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			if response.Code != 400 || body["error"] != "invalid_request" {
				t.Errorf("OAuth: %d %v", response.Code, body)
			}
		})
	}
}

// ERR-02: the default limit is 1 MiB, and no more than one byte over a limit is
// read.
func TestBodyLimit_ERR02(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1 << 20, 1<<20 + 1} {
		var got string
		err := strictjson.Decode(postJSON(`"`+strings.Repeat("a", size-2)+`"`), &got, strictjson.Limits{})
		if (err == nil) != (size <= 1<<20) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	endless := &counter{}
	r := postJSON("")
	r.ContentLength, r.Body = -1, io.NopCloser(endless)
	if err := strictjson.Decode(r, new(any), strictjson.Limits{MaxBytes: 10}); err == nil || endless.read > 11 {
		t.Errorf("%d bytes read: %v", endless.read, err)
	}
	announced := &counter{}
	r.ContentLength, r.Body = 11, io.NopCloser(announced)
	if err := strictjson.Decode(r, new(any), strictjson.Limits{MaxBytes: 10}); err == nil || announced.read > 0 {
		t.Errorf("%d bytes read of a body that announces its size: %v", announced.read, err)
	}
}

// ERR-04: a long list of problems is cut, and the rest is counted.
func TestProblemsAreBounded_ERR04(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	for i := range 900 {
		fmt.Fprintf(&body, `"%s%d": 1,`, strings.Repeat("x", 100), i)
	}
	var got order
	decoded := strictjson.Decode(postJSON("{"+strings.TrimSuffix(body.String(), ",")+"}"), &got, strictjson.Limits{})
	problems := make([]string, 900)
	var added, included apierror.Validation
	for i := range problems {
		problems[i] = fmt.Sprintf("%d %s", i, strings.Repeat("ü", 400))
		added.Add("", "%d %s", i, strings.Repeat("x", 1<<20))
	}
	included.Add("", "one")
	if err := errors.Join(included.Include(apierror.Invalid(problems[:50]...)), included.Include(apierror.Invalid(problems[51:]...))); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"decoded": decoded, "given": apierror.Invalid(problems...), "added": added.Err(), "included": included.Err()} {
		var e *apierror.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", name, err)
		}
		told := e.Messages()
		if len(told) != 51 || told[50] != "and 850 more" {
			t.Errorf("%s: %d problems, the last %q", name, len(told), told[len(told)-1])
		}
		response := httptest.NewRecorder()
		apierror.Writer{}.WriteStandard(response, postJSON(""), err)
		var shown struct{ Message []string }
		if err := json.Unmarshal(response.Body.Bytes(), &shown); err != nil || response.Body.Len() > 30_000 || !slices.Equal(shown.Message, told) {
			t.Errorf("%s: %v, %d bytes, %d messages", name, err, response.Body.Len(), len(shown.Message))
		}
	}
	if e := apierror.Invalid(problems[:50]...); len(e.Messages()) != 50 {
		t.Errorf("%d problems, of 50", len(e.Messages()))
	}
}

// endlessly repeats a text and counts the bytes that were read of it.
type endlessly struct {
	text string
	read int
}

func (e *endlessly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[(e.read+i)%len(e.text)]
	}
	e.read += len(p)
	return len(p), nil
}

// ERR-04: arrays and objects are counted while they are read, and reading stops at the
// bound.
func TestEntriesAreCountedWhileRead_ERR04(t *testing.T) {
	t.Parallel()
	refusal := codes.InvalidChoices.New()
	limits := strictjson.Limits{
		MaxBytes: 1 << 30, MaxEntries: 100,
		Lists: map[string]strictjson.List{"lines": {Most: 20}, "tags": {Most: 30, Refusal: refusal}, "labels": {Most: 2}},
	}
	for _, test := range []struct {
		name, start, rest string
		want              string
		most              int // bytes read
	}{
		{"a list", `{"lines": [{}`, ",{}", "lines must have at most 20 entries", 5000},
		{"its elements have commas", `{"lines": [{"key": "a,b", "value": [1, 2]}`, `,{"key": "a,b", "value": [1, 2]}`, "lines must have at most 20 entries", 5000},
		{"a list with its own error", `{"tags": ["a"`, `,"a"`, "choices takes 1 to 50 different texts of 1 to 60 characters", 5000},
		{"a list after another", `{"lines": [{}, {}], "tags": ["a"], "lines": [{}`, ",{}", "lines must have at most 20 entries", 5000},
		{"a name in escapes", `{"l\u0069nes": [{}`, ",{}", `"l\\u0069nes" must have at most 100 entries`, 5000},
		{"another array", `{"raw": [1`, ",1", "raw must have at most 100 entries", 5000},
		{"a deep array", `{"raw": {"lines": [1`, ",1", "nothing in raw may have more than 100 entries", 5000},
		{"an object for an array", `{"lines": {"a": 1`, `, "a": 1`, "lines must have at most 100 members", 5000},
		{"the body's members", `{"a": 1`, `, "a": 1`, "the body must have at most 100 members", 5000},
		{"the body is an array", `[1`, `,1`, "the body must have at most 100 entries", 5000},
		{"nested", `[`, `[`, "the body nests deeper than 32 levels", 5000},
		{"quotes in strings", `{"lines": ["\",\",\",\",\\\"]"`, `, "]"`, "lines must have at most 20 entries", 5000},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			rest := &endlessly{text: test.rest}
			r := postJSON("")
			r.ContentLength, r.Body = -1, io.NopCloser(io.MultiReader(strings.NewReader(test.start), rest))
			var got order
			err := strictjson.Decode(r, &got, limits)
			var e *apierror.Error
			if !errors.As(err, &e) || e.Status() != 400 || e.Messages()[0] != test.want || rest.read > test.most {
				t.Errorf("%d bytes read: %v", rest.read, err)
			}
		})
	}
	for body, isGood := range map[string]bool{
		`{"tags": [` + strings.Repeat(`"a", `, 29) + `"a"]}`:                                                      true,
		`{"tags": [` + strings.Repeat(`"a", `, 30) + `"a"]}`:                                                      false,
		`{"lines": [` + strings.Repeat(`{"value": [1, 2]}, `, 19) + `{}], "labels": {"a": "", "b": "", "c": ""}}`: true,
		`{"any": [` + strings.Repeat(`[1, 2], `, 99) + `[]]}`:                                                     true,
		`{"any": [` + strings.Repeat(`[1, 2], `, 100) + `[]]}`:                                                    false,
	} {
		var got order
		if err := strictjson.Decode(postJSON(body), &got, limits); (err == nil) != isGood {
			t.Errorf("%.50s: %v", body, err)
		}
	}
	var got order
	err := strictjson.Decode(postJSON(`{"lines": [{"key": "`+strings.Repeat("k", 18)+`"}, {"key": "`+strings.Repeat("k", 19)+`"}]}`), &got, strictjson.Limits{MaxText: 20})
	wantProblems(t, err, "lines[1].key takes more than 20 bytes")
}

// A body that was buffered is decoded from the same bytes, and can be read again.
func TestBufferBody(t *testing.T) {
	t.Parallel()
	const text = `{"name": "a"}`
	for _, length := range []int64{-1, int64(len(text))} {
		r := postJSON(text)
		r.ContentLength = length
		again, body, err := bodies.Buffer(r, 100)
		if err != nil || string(body) != text {
			t.Fatalf("%q: %v", body, err)
		}
		if _, _, err := bodies.Buffer(again, int64(len(text))-1); err == nil {
			t.Error("a limit below its size")
		}
		var got order
		if err := strictjson.Decode(again, &got, strictjson.Limits{}); err != nil || got.Name != "a" {
			t.Errorf("%+v: %v", got, err)
		}
		if read, err := io.ReadAll(again.Body); err != nil || string(read) != text {
			t.Errorf("%q: %v", read, err)
		}
	}
	if _, _, err := bodies.Buffer(postJSON(text), int64(len(text))-1); err == nil {
		t.Error("a limit below its size")
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

type counter struct{ read int }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '1'
	}
	c.read += len(p)
	return len(p), nil
}

package strictjson_test

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

type level int

func (l *level) UnmarshalText(text []byte) error {
	switch string(text) {
	case "low":
		*l = 1
	case "high":
		*l = 2
	default:
		return errors.New("secret of the type")
	}
	return nil
}

type rawMember struct {
	IsSet bool
	Value json.RawMessage
}

func (o *rawMember) UnmarshalJSON(raw []byte) error {
	o.IsSet, o.Value = true, append([]byte(nil), raw...)
	return nil
}

type base struct {
	ID     string `json:"id"`
	Hidden int    `json:"name"` // the outer name wins
}

// order has a field of every sort that bodies are decoded into.
type order struct {
	base
	Name     string            `json:"name"`
	Count    int8              `json:"count"`
	Size     uint16            `json:"size"`
	Price    float64           `json:"price"`
	Ratio    float32           `json:"ratio"`
	Paid     bool              `json:"paid"`
	Note     *string           `json:"note"`
	Tags     []string          `json:"tags"`
	Labels   map[string]string `json:"labels"`
	Lines    []line            `json:"lines"`
	Pair     [2]int            `json:"pair"`
	Any      any               `json:"any"`
	Raw      json.RawMessage   `json:"raw"`
	Exact    json.Number       `json:"exact"`
	At       time.Time         `json:"at"`
	Data     []byte            `json:"data"`
	Level    level             `json:"level"`
	Optional rawMember         `json:"optional"`
	Quoted   int               `json:"quoted,string"`
	ByNumber map[int]string    `json:"byNumber"`
	Parent   *order            `json:"parent"`
	Default  string
	Ignored  string `json:"-"`
	private  string
}

type line struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

func post(contentType, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/?name=query", strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	return r
}

func postJSON(body string) *http.Request { return post("application/json", body) }

// wantProblems compares err with the problems of a 400; none means success.
func wantProblems(t *testing.T, err error, want ...string) {
	t.Helper()
	if len(want) == 0 {
		if err != nil {
			t.Errorf("refused: %v", err)
		}
		return
	}
	var e *apierror.Error
	if !errors.As(err, &e) {
		t.Fatalf("accepted, or another error: %v", err)
	}
	if diff := cmp.Diff(want, e.Messages()); diff != "" || e.Status() != 400 || e.Code() != "" {
		t.Errorf("%d %s problems (-want +got):\n%s", e.Status(), e.Code(), diff)
	}
}

// ERR-01: one error reports every problem of a body, each with its path.
func TestDecodeJSONProblems_ERR01(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 31) + strings.Repeat("]", 31)
	tests := []struct {
		name, body string
		want       []string
	}{
		{"empty", "", []string{"the body must not be empty"}},
		{"blank", " \n\t", []string{"the body must not be empty"}},
		{"syntax", `{"name": }`, []string{"the body is not valid JSON: invalid character '}' looking for beginning of value, at byte 10"}},
		{"cut", `{"name": "a`, []string{"the body is not valid JSON: unexpected end of JSON input, at byte 11"}},
		{"trailing data", `{} {}`, []string{"the body goes on after its JSON value, at byte 4"}},
		{"trailing space", "{} \n", nil},
		{"byte order mark", "\ufeff{}", []string{"the body is not valid JSON: invalid character 'ï' looking for beginning of value, at byte 1"}},
		{"null", ` null`, []string{"the body must be an object"}},
		{"array", `[]`, []string{"the body must be an object"}},
		{"string", `"a"`, []string{"the body must be an object"}},
		{"empty object", `{}`, nil},
		{"unknown", `{"nane": 1}`, []string{"nane is not a known member"}},
		{"unknown, deep", `{"lines": [{}, {"kee": 1}]}`, []string{"lines[1].kee is not a known member"}},
		{"other case", `{"Name": "a"}`, []string{"Name is not a known member"}},
		{"other case of Unicode", "{\"\u212aey\": 1, \"lines\": [{\"\u212aey\": \"a\"}]}", []string{"\"\\u212aey\" is not a known member", "lines[0].\"\\u212aey\" is not a known member"}},
		{"skipped field", `{"-": "a", "Ignored": "a", "private": "a", "base": {}}`, []string{"- is not a known member", "Ignored is not a known member", "private is not a known member", "base is not a known member"}},
		{"duplicate", `{"name": "a", "name": "a"}`, []string{"name is given more than once"}},
		{"duplicate by escape", `{"name": "a", "n\u0061me": "b"}`, []string{"name is given more than once"}},
		{"duplicate, deep", `{"any": [{"a": {"b": 1, "b": 2}}]}`, []string{"any[0].a.b is given more than once"}},
		{"duplicate in raw", `{"raw": {"b": 1, "b": 2}}`, []string{"raw.b is given more than once"}},
		{"duplicate in a map", `{"labels": {"b": "1", "b": "2"}}`, []string{"labels.b is given more than once"}},
		{"same name in two objects", `{"name": "a", "parent": {"name": "a"}}`, nil},
		{"all at once", `{"name": 1, "nane": 2, "paid": "yes", "paid": true, "lines": [{"key": false}]}`, []string{
			"name must be a string", "nane is not a known member", "paid must be a boolean", "paid is given more than once", "lines[0].key must be a string",
		}},
		{"types", `{"count": "1", "size": "1", "price": "1", "paid": 1, "tags": {}, "labels": [], "lines": [1], "note": 1, "parent": 1, "id": 1}`, []string{
			"count must be an integer", "size must be an integer of at least 0", "price must be a number", "paid must be a boolean",
			"tags must be an array", "labels must be an object", "lines[0] must be an object", "note must be a string",
			"parent must be an object", "id must be a string",
		}},
		{"null where Go has none", `{"name": null, "count": null, "size": null, "paid": null, "price": null, "at": null, "level": null, "pair": null, "lines": [null]}`, []string{
			"name must be a string", "count must be an integer", "size must be an integer of at least 0", "paid must be a boolean",
			"price must be a number", "at must be an RFC 3339 time", "level must be a string", "pair must be an array", "lines[0] must be an object",
		}},
		{"null where Go has nil", `{"note": null, "tags": null, "labels": null, "any": null, "raw": null, "parent": null, "data": null, "optional": null}`, nil},
		{"overflow", `{"count": 128, "size": 65536, "price": 1e400, "ratio": 1e39, "any": {"a": [1e400]}}`, []string{
			"count is out of range", "size is out of range", "price is out of range", "ratio is out of range", "any.a[0] is out of range",
		}},
		{"fractions", `{"count": 1.0, "size": -1, "price": 1.5}`, []string{"count must be an integer", "size must be an integer of at least 0"}},
		{"exponent", `{"count": 1e1}`, []string{"count must be an integer"}},
		{"limits", `{"count": -128, "size": 65535, "ratio": 1e38}`, nil},
		{"exact number", `{"exact": "1"}`, []string{"exact must be a number"}},
		{"self-decoding", `{"level": "secret", "at": "yesterday", "data": "!"}`, []string{"level does not have a valid value", "at must be an RFC 3339 time", "data must be a base64 string"}},
		{"quoted", `{"quoted": 1}`, []string{"the body does not have the expected form"}},
		{"number keys", `{"byNumber": {"a": "b"}}`, []string{"byNumber does not have a valid value"}},
		{"fixed array", `{"pair": [1]}`, []string{"pair must have 2 entries"}},
		{"NUL", `{"name": "a\u0000b"}`, []string{"name has a NUL character"}},
		{"NUL in a name", `{"labels": {"a\u0000": "b"}}`, []string{"labels has a NUL character"}},
		{"NUL in raw", `{"raw": ["\u0000"]}`, []string{"raw[0] has a NUL character"}},
		{"escaped backslash", `{"name": "\\u0000"}`, nil},
		{"raw NUL", "{\"name\": \"\x00\"}", []string{"the body is not valid JSON: invalid character '\\x00' in string literal, at byte 11"}},
		{"high surrogate", `{"name": "\ud800"}`, []string{"name has half of a surrogate pair"}},
		{"low surrogate", `{"name": "\udc00"}`, []string{"name has half of a surrogate pair"}},
		{"surrogates in the wrong order", `{"name": "\udc00\ud800"}`, []string{"name has half of a surrogate pair"}},
		{"surrogate and a letter", `{"name": "\ud800\u0041"}`, []string{"name has half of a surrogate pair"}},
		{"pair", `{"name": "\ud83d\ude00"}`, nil},
		{"not UTF-8", "{\"name\": \"\xff\"}", []string{"the body must be UTF-8"}},
		{"just deep enough", `{"any": ` + deep + `}`, nil},
		{"too deep", `{"any": [` + deep + `]}`, []string{"the body nests deeper than 32 levels"}},
		{"brackets in a string", `{"name": "` + strings.Repeat(`[\"`, 100) + `"}`, nil},
		{"far too deep", strings.Repeat("[", 20_000), []string{"the body nests deeper than 32 levels"}},
		{"strange name", `{"a b\"": 1}`, []string{`"a b\"" is not a known member`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got order
			wantProblems(t, strictjson.Decode(postJSON(test.body), &got, strictjson.Limits{}), test.want...)
		})
	}
}

func TestDecodeJSONValues(t *testing.T) {
	t.Parallel()
	const body = ` {"id": "1", "name": "n", "count": -1, "size": 2, "price": 1.5, "ratio": 0.5, "paid": true, "note": "x",
		"tags": ["a", "b"], "labels": {"k": "v"}, "lines": [{"key": "k", "value": {"a": [1]}}], "pair": [1, 2], "any": [null],
		"raw": {"a":1}, "exact": 12345678901234567890, "at": "2026-01-02T03:04:05Z", "data": "aGk=", "level": "high",
		"optional": null, "quoted": "7", "byNumber": {"1": "a"}, "parent": {"name": "p"}, "Default": "d"} `
	note := "x"
	want := order{
		base: base{ID: "1"}, Name: "n", Count: -1, Size: 2, Price: 1.5, Ratio: 0.5, Paid: true, Note: &note,
		Tags: []string{"a", "b"}, Labels: map[string]string{"k": "v"},
		Lines: []line{{Key: "k", Value: map[string]any{"a": []any{1.0}}}}, Pair: [2]int{1, 2}, Any: []any{nil},
		Raw: json.RawMessage(`{"a":1}`), Exact: "12345678901234567890", At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Data: []byte("hi"), Level: 2, Optional: rawMember{IsSet: true, Value: json.RawMessage("null")}, Quoted: 7,
		ByNumber: map[int]string{1: "a"}, Parent: &order{Name: "p"}, Default: "d", Ignored: "kept",
	}
	got := order{Ignored: "kept"}
	if err := strictjson.Decode(postJSON(body), &got, strictjson.Limits{}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(order{}, base{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// CON-05: a caller that refuses control characters with a code of its own sees them.
func TestDecodeJSONAllowsNUL_CON05(t *testing.T) {
	t.Parallel()
	var got order
	err := strictjson.Decode(postJSON(`{"name": "a\u0000b"}`), &got, strictjson.Limits{AllowNUL: true})
	if err != nil || got.Name != "a\x00b" {
		t.Errorf("%q, %v", got.Name, err)
	}
}

// REG-02: unknown members can be ignored; one that differs in case only is
// unknown and must not be taken for the real one.
func TestDecodeJSONIgnoresUnknown_REG02(t *testing.T) {
	t.Parallel()
	limits := strictjson.Limits{IgnoreUnknown: true}
	var got order
	err := strictjson.Decode(postJSON(`{"NAME": "b", "name": "a", "Name": "c", "n\u0061ME": 1, "x": {"name": "d"}, "lines": [{"KEY": "e", "key": "f", "": 1}], "Count": "no number"}`), &got, limits)
	if err != nil {
		t.Fatal(err)
	}
	want := order{Name: "a", Lines: []line{{Key: "f"}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(order{}, base{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantProblems(t, strictjson.Decode(postJSON(`{"x": {"y": 1, "y": 2}, "name": 1}`), &got, limits), "x.y is given more than once", "name must be a string")
}

// A destination that cannot be filled is a mistake of ours.
func TestDecodeJSONDestination(t *testing.T) {
	t.Parallel()
	for _, dst := range []any{nil, order{}, (*order)(nil)} {
		var e *apierror.Error
		if err := strictjson.Decode(postJSON(`{}`), dst, strictjson.Limits{}); !errors.As(err, &e) || e.Status() != 500 {
			t.Errorf("%T: %v", dst, err)
		}
	}
	var number float64
	if err := strictjson.Decode(postJSON(`1e308`), &number, strictjson.Limits{}); err != nil || math.IsInf(number, 0) {
		t.Errorf("%v %v", number, err)
	}
	wantProblems(t, strictjson.Decode(postJSON(`null`), new(any), strictjson.Limits{}), "the body must not be null")
}

// Embedded structs follow encoding/json, even where it hides ambiguous names.
func TestDecodeJSONEmbedded(t *testing.T) {
	t.Parallel()
	type Inner struct{ A, B string }
	type Other struct {
		B string
		C string `json:"c"`
	}
	type Tagged struct {
		X string `json:"C2"`
	}
	type outer struct {
		Inner
		*Other
		Tagged `json:"tagged"`
	}
	var got outer
	err := strictjson.Decode(postJSON(`{"A": "a", "c": "c", "tagged": {"C2": "x"}}`), &got, strictjson.Limits{})
	if diff := cmp.Diff(outer{Inner: Inner{A: "a"}, Other: &Other{C: "c"}, Tagged: Tagged{X: "x"}}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	wantProblems(t, strictjson.Decode(postJSON(`{"B": "b"}`), &got, strictjson.Limits{}), "B is not a known member")
}

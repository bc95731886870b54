package appdata_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// APD-06: checking never fails with an internal error, and accepted values follow the rules
// as the standard library implements them.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`"a"`, `""`, `"\ud83d\ude00"`, `1`, `-0`, `1.50`, `1e2`, `3e-1`, `0.30000000000000001`, `1e99999999999999999999`, `0e999`, `0e9227000000000000000`, `true`, `null`, `[]`, `{"a":1}`, `"2026-02-29"`, `"2024-02-29"`,
		`"http://a"`, `"https://a:99999"`, `"javascript:alert(1)"`, `"new"`, "\"\xff\"", `"\u0000"`, ` 1 `, `1 2`, "",
	} {
		f.Add([]byte(seed))
	}
	fields := map[valuestore.Type]valuestore.Field{
		valuestore.Text:    {Type: valuestore.Text, Rules: valuestore.Rules{MinLength: new(1), MaxLength: new(5)}},
		valuestore.Number:  {Type: valuestore.Number, Rules: valuestore.Rules{Min: new(json.Number("-0.5")), Max: new(json.Number("1e3")), Decimals: new(2)}},
		valuestore.Boolean: {Type: valuestore.Boolean},
		valuestore.Date:    {Type: valuestore.Date, Rules: valuestore.Rules{From: new("2000-01-01"), To: new("2030-12-31")}},
		valuestore.URL:     {Type: valuestore.URL},
		valuestore.Choice:  {Type: valuestore.Choice, Rules: valuestore.Rules{Choices: []string{"new", "done"}}},
	}
	low, high, hundred := big.NewRat(-1, 2), big.NewRat(1000, 1), big.NewRat(100, 1)
	f.Fuzz(func(t *testing.T, value []byte) {
		for typ, field := range fields {
			if appdata.CheckValue(field, value) != "" {
				continue
			}
			if !json.Valid(value) || !utf8.Valid(value) {
				t.Fatalf("%s takes %q", typ, value)
			}
			var text string
			if err := json.Unmarshal(value, &text); err != nil && typ != valuestore.Number && typ != valuestore.Boolean || strings.Contains(text, "\x00") {
				t.Fatalf("%s takes %q", typ, value)
			}
			switch typ {
			case valuestore.Text:
				if n := utf8.RuneCountInString(text); n < 1 || n > 5 {
					t.Errorf("%q has %d characters", value, n)
				}
			case valuestore.Number:
				significand, _, _ := strings.Cut(strings.ToLower(string(value)), "e")
				if strings.Trim(significand, "-0.") == "" {
					continue // zero, with any exponent; big.Rat limits it
				}
				n, ok := new(big.Rat).SetString(string(value))
				if !ok || n.Cmp(low) < 0 || n.Cmp(high) > 0 || !new(big.Rat).Mul(n, hundred).IsInt() {
					t.Errorf("NUMBER takes %q", value)
				}
			case valuestore.Boolean:
				if s := string(value); s != "true" && s != "false" {
					t.Errorf("BOOLEAN takes %q", value)
				}
			case valuestore.Date:
				if day, err := time.Parse(time.DateOnly, text); err != nil || day.Year() < 2000 || day.Year() > 2030 || day.Format(time.DateOnly) != text {
					t.Errorf("DATE takes %q", value)
				}
			case valuestore.URL:
				if r, err := http.NewRequest(http.MethodGet, text, http.NoBody); err != nil || r.URL.Host == "" || !strings.HasPrefix(strings.ToLower(text), "http") {
					t.Errorf("URL takes %q: %v", value, err)
				}
			case valuestore.Choice:
				if text != "new" && text != "done" {
					t.Errorf("CHOICE takes %q", value)
				}
			}
		}
	})
}

// APD-02: any body at all is answered, with the values or with a 400; what was written
// can be read, and writing it once more changes nothing.
func FuzzPut(f *testing.F) {
	for _, seed := range []string{
		`{"values":[{"resourceType":"invoice","resourceId":"inv_1","key":"t","value":"a"}]}`,
		`{"values":[{"resourceType":"invoice","resourceId":"inv_1","key":"n","value":1.50},{"resourceType":"invoice","resourceId":"\u0000","key":"t","value":"\u2028<\/"}]}`,
		`{"values":[{"resourceType":"invoice","resourceId":"a,b","key":"t","value":"` + strings.Repeat("x", 4094) + `"}]}`, `{"values":[]}`, `{"values":null}`, `[]`, `{`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	k := newAPI(f, func(c *appdata.Config) { c.Respond = nil })
	app := k.NewApp(allScopes)
	k.declare(app, `{"resourceType":"invoice","key":"t","type":"TEXT"}`)
	k.declare(app, `{"resourceType":"invoice","key":"n","type":"NUMBER"}`)
	put := apierror.Writer{}.Standard(k.data.PutValues)
	f.Fuzz(func(t *testing.T, body []byte) {
		send := func() *httptest.ResponseRecorder {
			p := identity.Principal{AppID: app.ID, BusinessID: "biz_1", Scopes: allScopes}
			r := httptest.NewRequestWithContext(identity.WithPrincipal(t.Context(), p), http.MethodPut, "/app-data", bytes.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			put.ServeHTTP(w, r)
			return w
		}
		first := send()
		switch first.Code {
		case http.StatusOK:
			if again := send(); again.Code != http.StatusOK || again.Body.String() != first.Body.String() {
				t.Errorf("%q: %s, then %d %s", body, first.Body, again.Code, again.Body)
			}
		case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		default:
			t.Errorf("%q: %d %s", body, first.Code, first.Body)
		}
	})
}

// APD-01: any query at all is answered, with values or with a 400 that has its code.
func FuzzListQuery(f *testing.F) {
	for _, seed := range []string{
		"", "resourceId=inv_1", "resourceIds=a,b&resourceIds=c", "resourceIds=,,", "resourceId=a&resourceId=b", "resourceId=%00", "resourceId=%ff", "resourceId=a&key=", "resourceId=a&key=A",
		"resourceId=a&resourceType=x", "resourceId=a&resourceType=invoice&key=t", "resourceIds=" + strings.Repeat("a,", 60), strings.Repeat("resourceIds=a&", 60), "a;b", "%", "resourceId=" + strings.Repeat("a", 300),
	} {
		f.Add(seed)
	}
	k := newAPI(f)
	app := k.NewApp(allScopes)
	list := apierror.Writer{}.Standard(k.data.ListValues)
	f.Fuzz(func(t *testing.T, query string) {
		p := identity.Principal{AppID: app.ID, BusinessID: "biz_1", Scopes: allScopes}
		r := httptest.NewRequestWithContext(identity.WithPrincipal(t.Context(), p), http.MethodGet, "/app-data", http.NoBody)
		r.URL.RawQuery = query
		w := httptest.NewRecorder()
		list.ServeHTTP(w, r)
		switch body := w.Body.String(); {
		case w.Code == http.StatusOK && body == `{"data":[]}`:
		case w.Code == http.StatusBadRequest && strings.HasPrefix(body, `{"statusCode":400,`):
		case w.Code == http.StatusForbidden && strings.Contains(body, string(codes.AppCannotAccessType.Code)):
		default:
			t.Errorf("%q: %d %s", query, w.Code, body)
		}
	})
}

// APD-06, APD-07: an accepted field reads back as it was written, and checking its values
// never fails with an internal error.
func FuzzDeclareField(f *testing.F) {
	for _, seed := range []string{
		`{"resourceType":"invoice","key":"a","type":"TEXT","minLength":2,"maxLength":1}`, `{"resourceType":"invoice","key":"a","type":"NUMBER","min":-1e2,"max":0.10,"decimals":0}`,
		`{"resourceType":"invoice","key":"a","type":"NUMBER","min":1e999999999}`, `{"resourceType":"invoice","key":"a","type":"DATE","from":"2026-02-30"}`, `{"resourceType":"invoice","key":"a","type":"CHOICE","choices":null}`,
		`{"resourceType":"invoice","key":"a","type":"CHOICE","choices":[" a ","a"]}`, `{"resourceType":"invoice","key":"a","type":"URL","maxLength":99999999999999999999}`, `{"key":null,"type":1}`, `[]`, `{"key":"\u0000"}`,
	} {
		f.Add([]byte(seed))
	}
	k := newAPI(f)
	app := k.NewApp(allScopes)
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		var d appdata.Declaration
		if strictjson.Decode(r, &d, strictjson.Limits{}) != nil {
			return
		}
		made, err := k.data.DeclareField(t.Context(), app.ID, d)
		if err != nil {
			if e, ok := errors.AsType[*apierror.Error](err); !ok || e.Status() != http.StatusBadRequest {
				t.Fatalf("%s: %v", body, err)
			}
			return
		}
		read, err := k.data.Field(t.Context(), app.ID, made.ID)
		if diff := cmp.Diff(made, read); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", body, err, diff)
		}
		for _, value := range []string{`"a"`, `1.5`, `true`, `"2026-09-01"`, `"https://a.example"`, `null`} {
			_ = appdata.CheckValue(read, json.RawMessage(value))
		}
		if err := k.data.DeleteField(t.Context(), app.ID, made.ID); err != nil {
			t.Fatal(err)
		}
	})
}

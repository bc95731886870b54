package appdata_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/optional"
)

const (
	notText   = "must be a string"
	notNumber = "must be a number"
	tooMany   = "must have at most 40 digits before and after the decimal point"
	notBool   = "must be true or false"
	notDate   = "must be a date such as 2026-09-01"
	notURL    = "must be an absolute URL of http or https"
	notChoice = "must be one of the choices"
)

// APD-06, APD-03: nasty values, each with its response: the reason why it is refused, or
// nothing when it is kept as it was sent.
func TestValues(t *testing.T) {
	t.Parallel()
	nines := strings.Repeat("9", 40)
	for rules, values := range map[string]map[string]string{
		`"type":"TEXT"`: {
			`""`: "", `" "`: "", `"a\nb\t"`: "", `"'; DROP TABLE invoice; --"`: "", `"</script>"`: "", `"😀"`: "", `"\"\\"`: "", `"null"`: "",
			`1`: notText, `true`: notText, `[]`: notText, `{}`: notText, `["a"]`: notText, `{"value":"a"}`: notText,
		},
		`"type":"TEXT","minLength":2,"maxLength":3`: {
			`"ab"`: "", `"abc"`: "", `"ü😀"`: "", `"😀😀😀"`: "", `"  "`: "", `"e\u0301"`: "", // two code points
			`""`: "must have at least 2 characters", `"😀"`: "must have at least 2 characters", `"é"`: "must have at least 2 characters",
			`"abcd"`: "must have at most 3 characters", `"👨‍👩‍👧"`: "must have at most 3 characters", // five code points
		},
		`"type":"NUMBER"`: {
			`0`: "", `-0`: "", `0.0`: "", `1.50`: "", `1e2`: "", `1E+2`: "", `-1.5e-3`: "", `9007199254740993`: "", `0.1`: "", `0e99999999999999999999`: "", `0.000e-999`: "",
			nines: "", `-` + nines + `.` + nines: "", `1e39`: "", `1e-40`: "", `0.` + strings.Repeat("0", 39) + `1`: "", `1` + strings.Repeat("0", 39): "",
			`1.` + strings.Repeat("0", 3000): "", `0.` + strings.Repeat("0", 3000) + `1e3001`: "", `10000000000e-50`: "",
			`1e40`: tooMany, `1e-41`: tooMany, nines + `9`: tooMany, `0.` + nines + `9`: tooMany, `1e400`: tooMany, `1e-400`: tooMany, `1e999999999`: tooMany,
			`1e99999999999999999999`: tooMany, `1e9223372036854775807`: tooMany, `1e-9223372036854775808`: tooMany, strings.Repeat("7", 4000): tooMany,
			`"1"`: notNumber, `""`: notNumber, `true`: notNumber, `[1]`: notNumber, `{}`: notNumber,
		},
		`"type":"NUMBER","min":0,"max":0.3,"decimals":2`: {
			`0`: "", `-0.0`: "", `0.30`: "", `0.3000000`: "", `3e-1`: "", `30E-2`: "", `0.29`: "", `12e-2`: "",
			`0.30000000000000001`: "must be at most 0.3", `0.3000000000000000000000000000000000000001`: "must be at most 0.3", `1`: "must be at most 0.3",
			`-0.0000000000000000000000000000000000000001`: "must be at least 0", `-1e-9`: "must be at least 0",
			`0.125`: "must have at most 2 decimals", `1e-3`: "must have at most 2 decimals", `0.2999999999999999999999`: "must have at most 2 decimals",
		},
		`"type":"NUMBER","min":9007199254740993,"max":1e16,"decimals":0`: {
			`9007199254740993`: "", `9007199254740994.0`: "", `1e16`: "", `9.007199254740993e15`: "",
			`9007199254740992`: "must be at least 9007199254740993", `9007199254740992.9`: "must be at least 9007199254740993",
			`10000000000000001`: "must be at most 1e16", `9007199254740993.5`: "must have at most 0 decimals",
		},
		`"type":"BOOLEAN"`: {
			`true`: "", `false`: "", `0`: notBool, `1`: notBool, `"true"`: notBool, `""`: notBool, `[]`: notBool, `{}`: notBool, `[true]`: notBool,
		},
		`"type":"DATE"`: {
			`"2026-09-01"`: "", `"2024-02-29"`: "", `"0001-01-01"`: "", `"9999-12-31"`: "", `"2000-02-29"`: "",
			`"2026-02-29"`: notDate, `"1900-02-29"`: notDate, `"2026-13-01"`: notDate, `"2026-00-10"`: notDate, `"2026-04-31"`: notDate, `"2026-01-00"`: notDate, `"0000-01-01"`: notDate,
			`"2026-9-1"`: notDate, `"26-09-01"`: notDate, `"12026-09-01"`: notDate, `"-2026-09-01"`: notDate, `"2026-09-01T00:00:00.000Z"`: notDate, `" 2026-09-01"`: notDate, `"2026-09-01\n"`: notDate,
			`"2026/09/01"`: notDate, `"20260901"`: notDate, `"٢٠٢٦-٠٩-٠١"`: notDate, `""`: notDate, `"today"`: notDate, `20260901`: notText, `true`: notText,
		},
		`"type":"DATE","from":"2026-01-01","to":"2026-12-31"`: {
			`"2026-01-01"`: "", `"2026-12-31"`: "", `"2025-12-31"`: "must be 2026-01-01 or later", `"2027-01-01"`: "must be 2026-12-31 or earlier",
			`"0999-01-01"`: "must be 2026-01-01 or later", `"2026-12-32"`: notDate,
		},
		`"type":"URL"`: {
			`"http://a"`: "", `"https://example.com/a?b=c#d"`: "", `"HTTPS://EXAMPLE.com"`: "", `"http://[::1]:8080/"`: "", `"http://127.0.0.1"`: "", `"https://bücher.example/ä"`: "",
			`"http://a:65535"`: "", `"http://a/%20"`: "", `"https://a//b"`: "", `"http://` + strings.Repeat("a", 2041) + `"`: "",
			`"http://` + strings.Repeat("a", 2042) + `"`: "must have at most 2048 characters",
			`""`: notURL, `"example.com"`: notURL, `"//example.com"`: notURL, `"/path"`: notURL, `"http:"`: notURL, `"http://"`: notURL, `"http:///path"`: notURL, `"http://:80"`: notURL,
			`"http:example.com"`: notURL, `"ftp://a"`: notURL, `"javascript:alert(1)"`: notURL, `"javascript://a/%0aalert(1)"`: notURL, `"data:text/html,x"`: notURL, `"mailto:a@b"`: notURL, `"file:///etc/passwd"`: notURL,
			`" http://a"`: notURL, `"http://a "`: notURL, `"http://a/b c"`: notURL, `"http://a/\n"`: notURL, `"http://a/\u00a0"`: notURL, `"http://a\\b"`: notURL, `"http:\\\\a"`: notURL, `"http://a/\\..\\b"`: notURL,
			`"http://a:0"`: notURL, `"http://a:65536"`: notURL, `"http://a:080"`: notURL, `"http://a:b"`: notURL, `"http://a:-1"`: notURL, `"http://[::1"`: notURL, `"http://user:pw@a"`: notURL, `"https://good.example@evil.example"`: notURL,
			`"http://%zz"`: notURL, `"java\tscript:alert(1)"`: notURL, `1`: notText, `["http://a"]`: notText,
		},
		`"type":"URL","maxLength":9`: {`"http://ab"`: "", `"http://üä"`: "", `"http://abc"`: "must have at most 9 characters"},
		`"type":"CHOICE","choices":["new"," done ","ü","e\u0301"]`: {
			`"new"`: "", `"done"`: "", `"ü"`: "", `"\u00fc"`: "", `"e\u0301"`: "",
			`" done "`: notChoice, `"New"`: notChoice, `"new "`: notChoice, `""`: notChoice, `"é"`: notChoice, `"u\u0308"`: notChoice, `"NEW"`: notChoice, `0`: notText, `["new"]`: notText, `true`: notText,
		},
	} {
		t.Run(rules, func(t *testing.T) {
			t.Parallel()
			p := newAPI(t).connected()
			p.declare(p.app, `{"resourceType":"invoice","key":"k",`+rules+`}`)
			n := 0
			for value, reason := range values {
				n++
				p.Clock.Advance(time.Second)
				resource := fmt.Sprintf("inv_%d", n)
				response := p.put(on(resource, "k", value))
				if reason == "" {
					response.values()
					kept := p.list("resourceId=" + resource).values()
					if len(kept) != 1 || plain(t, string(kept[0].Value)) != plain(t, value) {
						t.Errorf("%s is kept as %v", value, kept)
					}
					continue
				}
				want := []codes.ValueDetail{{ResourceType: "invoice", ResourceID: resource, Key: "k", Reason: reason}}
				if diff := cmp.Diff(want, response.refused(http.StatusBadRequest, codes.InvalidAppDataValue.Code).Details); diff != "" {
					t.Errorf("%s (-want +got)\n%s", value, diff)
				}
			}
		})
	}
}

// plain undoes the escapes of a string; anything else must be the same to the letter.
func plain(t *testing.T, value string) string {
	t.Helper()
	if !strings.HasPrefix(value, `"`) {
		return value
	}
	var text string
	if err := json.Unmarshal([]byte(value), &text); err != nil {
		t.Fatal(err)
	}
	return text
}

// Changing rules leaves values alone until they are written again.
func TestRulesChange(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	field := p.declare(p.app, `{"resourceType":"invoice","key":"state","type":"CHOICE","choices":["a","b"]}`)
	p.put(on("inv_1", "state", `"a"`)).values()
	_, err := p.data.ChangeField(t.Context(), p.app.ID, field.ID, appdata.Declaration{Choices: optional.Of(appdata.Choices{"b", "c"})})
	p.Must(err)
	p.list("resourceId=inv_1").shows(`inv_1 state "a"`)
	p.put(on("inv_1", "state", `"a"`)).refused(http.StatusBadRequest, codes.InvalidAppDataValue.Code)
	p.put(on("inv_1", "state", `"c"`)).shows(`inv_1 state "c"`)
}

// A deleted field loses its values; a new field of the same name has none.
func TestFieldDeleted(t *testing.T) {
	t.Parallel()
	p := newAPI(t).connected()
	field := p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"TEXT"}`)
	value := p.put(on("inv_1", "note", `"a"`)).values()[0]
	p.Must(p.data.DeleteField(t.Context(), p.app.ID, field.ID))
	p.list("resourceId=inv_1").shows()
	p.put(on("inv_1", "note", `"b"`)).refused(http.StatusBadRequest, codes.UnknownAppDataField.Code)
	p.call("DELETE /app-data/"+value.ID, "").refused(http.StatusNotFound, codes.AppDataValueNotFound.Code)
	p.declare(p.app, `{"resourceType":"invoice","key":"note","type":"NUMBER"}`)
	p.list("resourceId=inv_1").shows()
	p.put(on("inv_1", "note", "1")).shows("inv_1 note 1")
	if told := p.told(); len(told) != 2 {
		t.Errorf("told %v", told)
	}
}

// A field of a type that this code does not know, from a newer node, takes nothing.
func TestUnknownType(t *testing.T) {
	t.Parallel()
	if got := appdata.CheckValue(valuestore.Field{Type: "COLOUR"}, []byte(`"red"`)); got == "" {
		t.Error("a value of an unknown type is taken")
	}
}

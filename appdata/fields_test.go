package appdata_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/optional"
	"github.com/partnerkit/partnerkit/partner"
)

// messages are what a validation error says; nil for any other error.
func messages(err error) []string {
	if e, ok := errors.AsType[*apierror.Error](err); ok && e.Code() == "" {
		return e.Messages()
	}
	return nil
}

// APD-06: a field in JSON, with its rules as members.
func TestFieldShape(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	for text, want := range map[string]string{
		`{"resourceType":"invoice","key":"a","type":"TEXT"}`:                                                  `"key":"a","type":"TEXT"`,
		`{"resourceType":"invoice","key":"b","type":"TEXT","label":"B & <b>","minLength":0,"maxLength":4096}`: `"key":"b","type":"TEXT","label":"B & <b>","minLength":0,"maxLength":4096`,
		`{"resourceType":"invoice","key":"c","type":"NUMBER","min":-1e2,"max":0.10,"decimals":0}`:             `"key":"c","type":"NUMBER","min":-1e2,"max":0.10,"decimals":0`,
		`{"resourceType":"invoice","key":"d","type":"BOOLEAN","label":null,"min":null}`:                       `"key":"d","type":"BOOLEAN"`,
		`{"resourceType":"invoice","key":"e","type":"DATE","from":"2026-01-01","to":"2026-01-01"}`:            `"key":"e","type":"DATE","from":"2026-01-01","to":"2026-01-01"`,
		`{"resourceType":"invoice","key":"f","type":"URL","maxLength":100,"choices":null}`:                    `"key":"f","type":"URL","maxLength":100`,
		`{"resourceType":"invoice","key":"g","type":"CHOICE","choices":[" a ","b\t"]}`:                        `"key":"g","type":"CHOICE","choices":["a","b"]`,
	} {
		field := k.declare(app, text)
		stored, err := k.data.Field(t.Context(), app.ID, field.ID)
		k.Must(err)
		for _, f := range []valuestore.Field{field, stored} {
			got, err := apierror.EncodeJSON(f)
			k.Must(err)
			full := fmt.Sprintf(`{"id":%q,"resourceType":"invoice",%s,"version":1,"createdAt":"2026-09-01T12:00:00.000Z","updatedAt":"2026-09-01T12:00:00.000Z"}`, field.ID, want)
			if string(got) != full || !id.Valid(id.AppDataField, f.ID) || f.AppID != app.ID {
				t.Errorf("%s\nis %s\nwant %s", text, got, full)
			}
		}
	}
	if all, err := k.data.Fields(t.Context(), app.ID); err != nil || len(all) != 7 {
		t.Errorf("%d fields, %v", len(all), err)
	}
}

// APD-06: what is wrong with a declaration is said, all of it, by name.
func TestDeclareRefuses(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	const (
		resource = "resourceType must be one of account, customer, invoice, journal_entry, payment, supplier"
		key      = "key must be a letter and up to 63 letters, digits, dots, hyphens and underscores"
		typ      = "type must be one of TEXT, NUMBER, BOOLEAN, DATE, URL, CHOICE"
		label    = "label must be a text of at most 120 characters"
		minimum  = "minLength must be a whole number from 0 to 4096"
		maximum  = "maxLength must be a whole number from 1 to 4096"
		number   = " must be a number of at most 40 digits before and after the decimal point"
		decimals = "decimals must be a whole number from 0 to 40"
		day      = " must be a date such as 2026-09-01"
	)
	field := func(rest string) string { return `{"resourceType":"invoice","key":"k",` + rest + `}` }
	named := func(name string) string { return `{"resourceType":"invoice","type":"TEXT","key":"` + name + `"}` }
	for text, want := range map[string][]string{
		`{}`: {resource, key, typ},
		`{"resourceType":"Invoice","key":"","type":"text","label":"\n` + strings.Repeat("x", 120) + `"}`: {resource, key, typ, label},
		`{"resourceType":null,"key":null,"type":null}`:                                                   {resource, key, typ},
		`{"resourceType":5,"key":1,"type":["TEXT"],"minLength":"x","label":1}`: {
			"resourceType must be a string", "key must be a string", "type must be a string", "minLength must be an integer", "label must be a string"},
		named("1a"): {key}, named("a b"): {key}, named("ä"): {key}, named("_a"): {key}, named("a/b"): {key}, named(strings.Repeat("a", 65)): {key}, named(`a\n`): {key},
		field(`"type":"TEXT","label":"` + strings.Repeat("ü", 121) + `"`):                  {label},
		field(`"type":"TEXT","minLength":-1,"maxLength":0`):                                {minimum, maximum},
		field(`"type":"TEXT","minLength":4097,"maxLength":4097`):                           {minimum, maximum},
		field(`"type":"TEXT","minLength":"1","maxLength":1.5`):                             {"minLength must be an integer", "maxLength must be an integer"},
		field(`"type":"TEXT","minLength":1e99,"maxLength":[]`):                             {"minLength must be an integer", "maxLength must be an integer"},
		field(`"type":"TEXT","minLength":3,"maxLength":2`):                                 {"minLength must not be greater than maxLength"},
		field(`"type":"TEXT","min":1,"decimals":1,"from":"x","choices":["a"]`):             {"min is not a rule of TEXT", "decimals is not a rule of TEXT", "from is not a rule of TEXT", "choices is not a rule of TEXT"},
		field(`"type":"NUMBER","minLength":1,"maxLength":1,"to":"2026-01-01"`):             {"minLength is not a rule of NUMBER", "maxLength is not a rule of NUMBER", "to is not a rule of NUMBER"},
		field(`"type":"NUMBER","min":"1","max":true,"decimals":41`):                        {"min must be a number", "max must be a number"},
		field(`"type":"NUMBER","min":1e99,"max":1e-99,"decimals":41`):                      {"min" + number, "max" + number, decimals},
		field(`"type":"NUMBER","min":0.3000000000000000000001,"max":0.3`):                  {"min must not be greater than max"},
		field(`"type":"BOOLEAN","min":1,"maxLength":1,"choices":[]`):                       {"maxLength is not a rule of BOOLEAN", "min is not a rule of BOOLEAN", "choices is not a rule of BOOLEAN"},
		field(`"type":"DATE","from":"2026-02-30","to":"20260101"`):                         {"from" + day, "to" + day},
		field(`"type":"DATE","from":"2026-01-02","to":"2026-01-01"`):                       {"from must not be later than to"},
		field(`"type":"URL","minLength":1`):                                                {"minLength is not a rule of URL"},
		field(`"type":"CHOICE","choices":null,"label":"` + strings.Repeat("x", 121) + `"`): {label}, // the rest first
		field(`"type":"CHOICE","choices":["a"],"maxLength":1`):                             {"maxLength is not a rule of CHOICE"},
	} {
		_, err := k.tryDeclare(app.ID, text)
		if diff := cmp.Diff(want, messages(err)); diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", text, err, diff)
		}
	}
	for _, text := range []string{named("a"), named("Z.9_-"), named(strings.Repeat("a", 64)), field(`"type":"TEXT","label":"` + strings.Repeat("ü", 120) + `"`)} {
		k.declare(app, text)
	}
	// From Go, without the decoder that refuses such texts.
	for name, d := range map[string]appdata.Declaration{
		"label": {Label: optional.Of("a\x00")}, "label ": {Label: optional.Of("\xff")}, "min": {Type: optional.Of(valuestore.Number), Min: optional.Of(json.Number("1_0"))},
		"choices": {Type: optional.Of(valuestore.Choice), Choices: optional.Of(appdata.Choices{"a\x00"})},
	} {
		d.ResourceType, d.Key = optional.Of("invoice"), optional.Of("go")
		if name == "label" || name == "label " {
			d.Type = optional.Of(valuestore.Text)
		}
		if _, err := k.data.DeclareField(t.Context(), app.ID, d); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := k.tryDeclare("app_absent", named("a")); !errors.Is(err, partner.ErrNotFound) {
		t.Errorf("an absent app: %v", err)
	}
}

// APD-07, CON-06: lists of choices, each with its response.
func TestChoices(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	many := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`"option %d"`, i)
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	sixty := strings.Repeat("x", 60)
	for list, want := range map[string][]string{ // nil: INVALID_CHOICES
		`["a"]`: {"a"}, `["a","b"]`: {"a", "b"}, `["b","a"]`: {"b", "a"}, `["a","A"]`: {"a", "A"}, `[" a "]`: {"a"}, `["\ta\n"]`: {"a"}, `["a b"]`: {"a b"}, `["\u00a0a\u2003"]`: {"a"},
		`["` + sixty + `"]`: {sixty}, `["  ` + sixty + `  "]`: {sixty}, `["` + strings.Repeat("😀", 60) + `"]`: {strings.Repeat("😀", 60)}, `["é","e\u0301"]`: {"é", "e\u0301"},
		`["a\nb"]`: {"a\nb"}, `["<b>","\"","'"]`: {"<b>", `"`, "'"}, `["null","true","1"]`: {"null", "true", "1"}, `["ﬁ","fi"]`: {"ﬁ", "fi"}, `["\u200b"]`: {"\u200b"},
		`null`: nil, `[]`: nil, `[""]`: nil, `[" "]`: nil, `["\t\n\u00a0"]`: nil, `["a",""]`: nil, `["a","a"]`: nil, `["a"," a"]`: nil, `["a ","b","\ta"]`: nil,
		`["` + sixty + `x"]`: nil, `["` + strings.Repeat("ü", 61) + `"]`: nil, `["a",null]`: nil, `[null]`: nil, `[1]`: nil, `["a",1]`: nil, `[["a"]]`: nil, `[{}]`: nil, `[true]`: nil,
		`"a"`: nil, `"a,b"`: nil, `1`: nil, `true`: nil, `{}`: nil, `{"0":"a"}`: nil,
		many(51): nil, strings.TrimSuffix(many(50), "]") + `," "]`: nil, strings.TrimSuffix(many(49), "]") + `,"option 7 "]`: nil,
	} {
		field, err := k.tryDeclare(app.ID, `{"resourceType":"invoice","key":"k","type":"CHOICE","choices":`+list+`}`)
		if want == nil {
			if !apierror.HasCode(err, codes.InvalidChoices.Code) {
				t.Errorf("%s: %v", list, err)
			}
			continue
		}
		k.Must(err)
		if stored, err := k.data.Field(t.Context(), app.ID, field.ID); err != nil || !slices.Equal(stored.Choices, want) {
			t.Errorf("%s: %q, %v", list, stored.Choices, err)
		}
		k.Must(k.data.DeleteField(t.Context(), app.ID, field.ID))
	}
	if f := k.declare(app, `{"resourceType":"invoice","key":"many","type":"CHOICE","choices":`+many(50)+`}`); len(f.Choices) != 50 {
		t.Errorf("%d choices", len(f.Choices))
	}
	if _, err := k.tryDeclare(app.ID, `{"resourceType":"invoice","key":"none","type":"CHOICE"}`); !apierror.HasCode(err, codes.InvalidChoices.Code) {
		t.Errorf("without choices: %v", err)
	}
}

// A change sets what it names; null takes it away; key and types are for good.
func TestChangeField(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	for name, test := range map[string]struct{ declared, change, want string }{
		"nothing":         {`"type":"TEXT","label":"l","minLength":1`, `{}`, `{"label":"l","minLength":1}`},
		"label":           {`"type":"TEXT","label":"l","minLength":1`, `{"label":"m"}`, `{"label":"m","minLength":1}`},
		"no label":        {`"type":"TEXT","label":"l","minLength":1`, `{"label":null}`, `{"minLength":1}`},
		"a rule":          {`"type":"TEXT","minLength":1`, `{"maxLength":2}`, `{"minLength":1,"maxLength":2}`},
		"no rule":         {`"type":"TEXT","minLength":1,"maxLength":2`, `{"minLength":null,"maxLength":null}`, `{}`},
		"both at once":    {`"type":"TEXT","maxLength":2`, `{"minLength":5,"maxLength":null}`, `{"minLength":5}`},
		"numbers":         {`"type":"NUMBER","min":1,"decimals":0`, `{"min":null,"max":2.50,"decimals":2}`, `{"max":2.50,"decimals":2}`},
		"dates":           {`"type":"DATE","from":"2026-01-01"`, `{"from":null,"to":"2025-01-01"}`, `{"to":"2025-01-01"}`},
		"foreign null":    {`"type":"DATE"`, `{"choices":null,"min":null}`, `{}`},
		"choices":         {`"type":"CHOICE","choices":["a"]`, `{"choices":[" b "]}`, `{"choices":["b"]}`},
		"what it is":      {`"type":"TEXT"`, `{"resourceType":"invoice","key":"k","type":"TEXT","maxLength":1}`, `{"maxLength":1}`},
		"crossed":         {`"type":"TEXT","minLength":5`, `{"maxLength":2}`, `["minLength must not be greater than maxLength"]`},
		"crossed numbers": {`"type":"NUMBER","max":5`, `{"min":5.1}`, `["min must not be greater than max"]`},
		"crossed dates":   {`"type":"DATE","to":"2026-01-01"`, `{"from":"2026-01-02"}`, `["from must not be later than to"]`},
		"foreign":         {`"type":"BOOLEAN"`, `{"min":1,"label":"` + strings.Repeat("x", 121) + `"}`, `["label must be a text of at most 120 characters","min is not a rule of BOOLEAN"]`},
		"choices: null":   {`"type":"CHOICE","choices":["a"]`, `{"choices":null}`, `INVALID_CHOICES`},
		"choices: none":   {`"type":"CHOICE","choices":["a"]`, `{"choices":[]}`, `INVALID_CHOICES`},
		"choices: twice":  {`"type":"CHOICE","choices":["a"]`, `{"choices":["b","b "]}`, `INVALID_CHOICES`},
		"choices: wrong":  {`"type":"CHOICE","choices":["a"]`, `{"choices":"b"}`, `INVALID_CHOICES`},
		"fixed": {`"type":"TEXT"`, `{"resourceType":"customer","key":"other","type":"URL"}`,
			`["resourceType cannot be changed; declare another field","key cannot be changed; declare another field","type cannot be changed; declare another field"]`},
		"fixed, null": {`"type":"TEXT"`, `{"key":null,"type":""}`, `["key cannot be changed; declare another field","type cannot be changed; declare another field"]`},
	} {
		before := k.declare(app, `{"resourceType":"invoice","key":"k",`+test.declared+`}`)
		k.Clock.Advance(time.Second)
		d, err := declaration(test.change)
		changed := before
		if err == nil {
			changed, err = k.data.ChangeField(t.Context(), app.ID, before.ID, d)
		}
		stored, readErr := k.data.Field(t.Context(), app.ID, before.ID)
		k.Must(readErr)
		got := string(codes.InvalidChoices.Code)
		if list := messages(err); list != nil {
			text, _ := json.Marshal(list)
			got = string(text)
		}
		want := before // when it was refused
		if err == nil {
			text, _ := json.Marshal(struct {
				Label string `json:"label,omitempty"`
				valuestore.Rules
			}{changed.Label, changed.Rules})
			got, want = string(text), changed
			if !changed.UpdatedAt.Equal(k.Clock.Now()) || changed.CreatedAt != before.CreatedAt {
				t.Errorf("%s: %+v", name, changed)
			}
		}
		if diff := cmp.Diff(want, stored); diff != "" {
			t.Errorf("%s (-want +stored)\n%s", name, diff)
		}
		if got != test.want {
			t.Errorf("%s: %s, %v, want %s", name, got, err, test.want)
		}
		k.Must(k.data.DeleteField(t.Context(), app.ID, before.ID))
	}
}

// A field is its app's: for others it is not there.
func TestFieldsOfOtherApps(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	mine, theirs := k.NewApp(allScopes), k.NewApp(allScopes)
	field := k.declare(mine, `{"resourceType":"invoice","key":"k","type":"TEXT"}`)
	_, read := k.data.Field(t.Context(), theirs.ID, field.ID)
	_, changed := k.data.ChangeField(t.Context(), theirs.ID, field.ID, appdata.Declaration{Label: optional.Member[string]{IsSent: true}})
	for name, err := range map[string]error{"read": read, "change": changed, "delete": k.data.DeleteField(t.Context(), theirs.ID, field.ID)} {
		if !errors.Is(err, partner.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k.declare(theirs, `{"resourceType":"invoice","key":"k","type":"NUMBER"}`) // the same key
}

// One field for a key and a type of record, and at most 100.
func TestFieldLimits(t *testing.T) {
	t.Parallel()
	k := newAPI(t)
	app := k.NewApp(allScopes)
	text := func(n int) string { return fmt.Sprintf(`{"resourceType":"invoice","key":"k%d","type":"TEXT"}`, n) }
	for n := range appdata.MaxFields {
		k.declare(app, text(n))
	}
	_, err := k.tryDeclare(app.ID, text(100))
	if diff := cmp.Diff([]string{"an app has at most 100 fields"}, messages(err)); diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	all, err := k.data.Fields(t.Context(), app.ID)
	k.Must(err)
	k.Must(k.data.DeleteField(t.Context(), app.ID, all[0].ID))
	_, err = k.tryDeclare(app.ID, `{"resourceType":"invoice","key":"`+all[1].Key+`","type":"URL"}`)
	if diff := cmp.Diff([]string{"key " + all[1].Key + " is declared for invoice already"}, messages(err)); diff != "" || !errors.Is(err, valuestore.ErrTaken) {
		t.Errorf("%v\n%s", err, diff)
	}
	k.declare(app, `{"resourceType":"customer","key":"`+all[1].Key+`","type":"URL"}`)
}

package pages

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/optional"
)

func fieldRoutes() []route {
	const all, one = "/apps/{appId}/fields", "/apps/{appId}/fields/{fieldId}"
	return []route{
		{"GET", all, (*visit).showFields},
		{"GET", all + "/new", withFields((*visit).showNewField)},
		{"POST", all + "/new", withFields((*visit).declareField)},
		{"GET", one, withFields((*visit).showField)},
		{"POST", one, withFields((*visit).changeField)},
		{"POST", one + "/delete", withFields((*visit).deleteField)},
	}
}

const (
	fieldsTitle   = "App data"
	newFieldTitle = "New field"
)

// withFields is for what only a console with app data has.
func withFields(handle func(*visit) error) func(*visit) error {
	return func(v *visit) error {
		if v.cfg.Console.FieldTypes() == nil {
			return apierror.NotFound("field")
		}
		return handle(v)
	}
}

type fieldsView struct {
	AppID      string
	ReadOnly   bool
	HasAppData bool
	Fields     []fieldRow
	Bound      bound
}

type fieldRow struct {
	valuestore.Field
	Rules string // in words
}

func (v *visit) showFields() error {
	data := fieldsView{AppID: v.app.ID, ReadOnly: v.isReadOnly(), HasAppData: v.cfg.Console.FieldTypes() != nil}
	if data.HasAppData {
		fields, err := v.cfg.Console.Fields(v.r.Context(), v.by, v.app.ID)
		if err != nil {
			return err
		}
		data.Bound = bound{len(fields), appdata.MaxFields, "fields"}
		for _, field := range fields {
			data.Fields = append(data.Fields, fieldRow{Field: field, Rules: rulesInWords(field)})
		}
	}
	return v.show("fields", fieldsTitle, data)
}

type fieldView struct {
	AppID         string
	Field         valuestore.Field // the zero value: a new one
	ReadOnly      bool
	ResourceTypes []string
	Types         []valuestore.Type
	Form          filled
}

func (v *visit) field(f valuestore.Field, form filled) fieldView {
	return fieldView{
		AppID: v.app.ID, Field: f, ReadOnly: v.isReadOnly(), ResourceTypes: slices.Sorted(maps.Keys(v.cfg.Console.FieldTypes())), Form: form,
		Types: []valuestore.Type{valuestore.Text, valuestore.Number, valuestore.Boolean, valuestore.Date, valuestore.URL, valuestore.Choice},
	}
}

func (v *visit) showNewField() error {
	return v.show("field", newFieldTitle, v.field(valuestore.Field{}, filled{}))
}

func (v *visit) declareField() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	d := declaration(form)
	d.ResourceType, d.Key, d.Type = optional.Of(form.Get("resource_type")), optional.Of(form.Get("key")), optional.Of(valuestore.Type(form.Get("type")))
	if _, err := v.cfg.Console.DeclareField(v.r.Context(), v.by, v.app.ID, d); err != nil {
		return v.again(err, "field", newFieldTitle, v.field(valuestore.Field{}, v.mark(err, form, fieldFields)))
	}
	return v.to(path("apps", v.app.ID, "fields"), "field-declared")
}

// theField returns the declared field of the path.
func (v *visit) theField() (valuestore.Field, error) {
	return v.cfg.Console.Field(v.r.Context(), v.by, v.app.ID, v.r.PathValue("fieldId"))
}

func (v *visit) showField() error {
	field, err := v.theField()
	if err != nil {
		return err
	}
	return v.show("field", field.Key, v.field(field, filled{Form: fieldForm(field)}))
}

// changeField sets the label and all rules of the type: what is left empty is taken
// away.
func (v *visit) changeField() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	field, err := v.theField()
	if err != nil {
		return err
	}
	change := declaration(form)
	change.Version = sentVersion(form)
	if _, err := v.cfg.Console.ChangeField(v.r.Context(), v.by, v.app.ID, field.ID, change); err != nil {
		err = conflict(err, form, "the field", field.Version)
		return v.again(err, "field", field.Key, v.field(field, v.mark(err, form, fieldFields)))
	}
	return v.to(path("apps", v.app.ID, "fields"), "field-changed")
}

func (v *visit) deleteField() error {
	field, err := v.theField()
	if err != nil {
		return err
	}
	if err := v.cfg.Console.DeleteField(v.r.Context(), v.by, v.app.ID, field.ID); err != nil {
		return v.again(err, "field", field.Key, v.field(field, filled{Form: fieldForm(field)}))
	}
	return v.to(path("apps", v.app.ID, "fields"), "field-deleted")
}

// fieldFields are the fields of the form of a declared field.
var fieldFields = formFields{
	{Name: "resource_type", Member: "resourceType", Label: "Records"}, {Name: "type", Label: "Type"}, {Name: "key", Label: "Key"}, {Name: "label", Label: "Label"},
	{Name: "min_length", Member: "minLength", Label: "Shortest"}, {Name: "max_length", Member: "maxLength", Label: "Longest"},
	{Name: "min", Label: "Smallest"}, {Name: "max", Label: "Largest"}, {Name: "decimals", Label: "Decimals"},
	{Name: "from", Label: "First day"}, {Name: "to", Label: "Last day"},
	{Name: "choices", Label: "Choices", Entry: lineEntry, Codes: []apierror.Code{codes.InvalidChoices.Code}},
}

// declaration reads the label and the rules from a form. An empty field is null, which
// means no rule. The service checks whether a rule is allowed for the type.
func declaration(form bodies.Form) appdata.Declaration {
	d := appdata.Declaration{
		Label:     orNull(form.Get("label")),
		MinLength: numberOrNull(form.Get("min_length")), MaxLength: numberOrNull(form.Get("max_length")),
		Min: exactOrNull(form.Get("min")), Max: exactOrNull(form.Get("max")), Decimals: numberOrNull(form.Get("decimals")),
		From: orNull(form.Get("from")), To: orNull(form.Get("to")),
		Choices: optional.Member[appdata.Choices]{IsSent: true},
	}
	if choices := lines(form.Get("choices")); len(choices) > 0 {
		d.Choices = optional.Of(appdata.Choices(choices))
	}
	return d
}

func orNull(text string) optional.Member[string] {
	return optional.Member[string]{IsSent: true, Value: ifGiven(text)}
}

func exactOrNull(text string) optional.Member[json.Number] {
	return optional.Member[json.Number]{IsSent: true, Value: (*json.Number)(ifGiven(text))}
}

// numberOrNull returns -1 for a text that is not a whole number: no rule allows -1, so the
// service rejects it with a message that describes the rule.
func numberOrNull(text string) optional.Member[int] {
	given := ifGiven(text)
	if given == nil {
		return optional.Member[int]{IsSent: true}
	}
	n, err := strconv.Atoi(*given)
	if err != nil {
		n = -1
	}
	return optional.Of(n)
}

// fieldForm returns a form that is filled with what a field is.
func fieldForm(f valuestore.Field) bodies.Form {
	form := bodies.Form{
		"label": {f.Label}, "min_length": {shown(f.MinLength)}, "max_length": {shown(f.MaxLength)},
		"min": {shown(f.Min)}, "max": {shown(f.Max)}, "decimals": {shown(f.Decimals)}, "from": {shown(f.From)}, "to": {shown(f.To)},
		"choices": {strings.Join(f.Choices, "\n")},
	}
	setVersion(form, f.Version)
	return form
}

// shown returns a rule as it is entered; empty for none.
func shown[T any](rule *T) string {
	if rule == nil {
		return ""
	}
	return fmt.Sprint(*rule)
}

// rulesInWords describes the rules for values; empty if every value of the type is allowed.
func rulesInWords(f valuestore.Field) string {
	var all []string
	add := func(lead, rule, rest string) {
		if rule != "" {
			all = append(all, lead+rule+rest)
		}
	}
	add("at least ", shown(f.MinLength), " characters")
	add("at most ", shown(f.MaxLength), " characters")
	add("from ", shown(f.Min), "")
	add("up to ", shown(f.Max), "")
	add("decimals: ", shown(f.Decimals), "")
	add("from ", shown(f.From), "")
	add("until ", shown(f.To), "")
	add("one of ", text.Line(strings.Join(f.Choices, ", ")), "") // choices may have line breaks
	return strings.Join(all, ", ")
}

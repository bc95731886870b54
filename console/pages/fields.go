package pages

import (
	"maps"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/console"
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
func (v *visit) theField() (console.Ref, valuestore.Field, error) {
	ref := console.Ref{AppID: v.app.ID, FieldID: v.r.PathValue("fieldId")}
	field, err := v.cfg.Console.Field(v.r.Context(), v.by, ref)
	return ref, field, err
}

func (v *visit) showField() error {
	_, field, err := v.theField()
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
	ref, field, err := v.theField()
	if err != nil {
		return err
	}
	change := declaration(form)
	change.Version = sentVersion(form)
	if _, err := v.cfg.Console.ChangeField(v.r.Context(), v.by, ref, change); err != nil {
		err = conflict(err, form, "the field", field.Version)
		return v.again(err, "field", field.Key, v.field(field, v.mark(err, form, fieldFields)))
	}
	return v.to(path("apps", v.app.ID, "fields"), "field-changed")
}

func (v *visit) deleteField() error {
	ref, field, err := v.theField()
	if err != nil {
		return err
	}
	if err := v.cfg.Console.DeleteField(v.r.Context(), v.by, ref); err != nil {
		return v.again(err, "field", field.Key, v.field(field, filled{Form: fieldForm(field)}))
	}
	return v.to(path("apps", v.app.ID, "fields"), "field-deleted")
}

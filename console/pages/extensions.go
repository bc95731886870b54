package pages

import (
	"maps"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/optional"
)

func extensionRoutes() []route {
	const all, one = "/apps/{appId}/extensions", "/apps/{appId}/extensions/{extensionId}"
	return []route{
		{"GET", all, (*visit).showExtensions},
		{"GET", all + "/new", (*visit).showNewExtension},
		{"POST", all + "/new", (*visit).addExtension},
		{"GET", one, (*visit).showExtension},
		{"POST", one, (*visit).changeExtension},
		{"POST", one + "/delete", (*visit).deleteExtension},
	}
}

const (
	extensionsTitle   = "Extensions"
	newExtensionTitle = "New extension"
)

type extensionsView struct {
	AppID      string
	AppURL     string
	ReadOnly   bool
	Extensions []consolestore.Extension
	Bound      bound
}

func (v *visit) showExtensions() error {
	extensions, err := v.cfg.Console.Extensions(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return err
	}
	return v.show("extensions", extensionsTitle, extensionsView{v.app.ID, v.app.AppURL, v.isReadOnly(), extensions, bound{len(extensions), console.MaxExtensions, "extensions"}})
}

type extensionView struct {
	AppID         string
	AppURL        string
	ReadOnly      bool
	Extension     consolestore.Extension // the zero value: a new one
	ResourceTypes []typeChoice
	NoSaving      string // why an extension cannot be saved; empty: it can
	Form          filled
}

// extensionFields are the fields of the form of an extension.
var extensionFields = formFields{
	{Name: "label", Label: "Label"},
	{Name: "resource_type", Member: "resourceType", Label: "Records", Codes: []apierror.Code{codes.ExtensionScopeRequired.Code}},
	{Name: "path", Label: "Path", Codes: []apierror.Code{codes.ExtensionPathInvalid.Code}},
}

// typeChoice is a type of records, and whether the app may read them.
type typeChoice struct {
	Name, Scope string
	MayRead     bool
}

func (v *visit) extension(e consolestore.Extension, form filled) extensionView {
	view := extensionView{AppID: v.app.ID, AppURL: v.app.AppURL, ReadOnly: v.isReadOnly(), Extension: e, Form: form}
	types := v.cfg.Console.ResourceTypes()
	for _, name := range slices.Sorted(maps.Keys(types)) {
		view.ResourceTypes = append(view.ResourceTypes, typeChoice{name, types[name], v.app.Scopes.Has(types[name])})
	}
	switch {
	case v.app.AppURL == "":
		view.NoSaving = "An extension needs the App URL."
	case !slices.ContainsFunc(view.ResourceTypes, func(c typeChoice) bool { return c.MayRead }):
		view.NoSaving = "An extension needs a scope to read records."
	}
	return view
}

func (v *visit) showNewExtension() error {
	return v.show("extension", newExtensionTitle, v.extension(consolestore.Extension{}, filled{}))
}

func (v *visit) addExtension() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	n := console.NewExtension{ResourceType: form.Get("resource_type"), Path: strings.TrimSpace(form.Get("path")), Label: form.Get("label")}
	if _, err := v.cfg.Console.AddExtension(v.r.Context(), v.by, v.app.ID, n); err != nil {
		return v.again(err, "extension", newExtensionTitle, v.extension(consolestore.Extension{}, v.mark(err, form, extensionFields)))
	}
	return v.to(path("apps", v.app.ID, "extensions"), "extension-added")
}

// theExtension returns the extension of the path.
func (v *visit) theExtension() (consolestore.Extension, error) {
	return v.cfg.Console.Extension(v.r.Context(), v.by, v.app.ID, v.r.PathValue("extensionId"))
}

// extensionForm returns a form that is filled with what an extension is.
func extensionForm(e consolestore.Extension) bodies.Form {
	return bodies.Form{"resource_type": {e.ResourceType}, "path": {e.Path}, "label": {e.Label}}
}

func (v *visit) showExtension() error {
	extension, err := v.theExtension()
	if err != nil {
		return err
	}
	return v.show("extension", extension.Label, v.extension(extension, filled{Form: extensionForm(extension)}))
}

func (v *visit) changeExtension() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	extension, err := v.theExtension()
	if err != nil {
		return err
	}
	change := console.ExtensionChange{
		ResourceType: optional.Of(form.Get("resource_type")), Path: optional.Of(strings.TrimSpace(form.Get("path"))), Label: optional.Of(form.Get("label")),
	}
	if _, err := v.cfg.Console.UpdateExtension(v.r.Context(), v.by, v.app.ID, extension.ID, change); err != nil {
		return v.again(err, "extension", extension.Label, v.extension(extension, v.mark(err, form, extensionFields)))
	}
	return v.to(path("apps", v.app.ID, "extensions"), "extension-changed")
}

func (v *visit) deleteExtension() error {
	extension, err := v.theExtension()
	if err != nil {
		return err
	}
	if err := v.cfg.Console.DeleteExtension(v.r.Context(), v.by, v.app.ID, extension.ID); err != nil {
		return v.again(err, "extension", extension.Label, v.extension(extension, filled{Form: extensionForm(extension)}))
	}
	return v.to(path("apps", v.app.ID, "extensions"), "extension-deleted")
}

func functionRoutes() []route {
	const all, one = "/apps/{appId}/functions", "/apps/{appId}/functions/{functionId}"
	return []route{
		{"GET", all, (*visit).showFunctions},
		{"GET", all + "/new", (*visit).showNewFunction},
		{"POST", all + "/new", (*visit).addFunction},
		{"GET", one, (*visit).showFunction},
		{"POST", one + "/delete", (*visit).deleteFunction},
	}
}

const (
	functionsTitle   = "Functions"
	newFunctionTitle = "New function"
)

type functionsView struct {
	AppID     string
	ReadOnly  bool
	Functions []consolestore.Function
	Bound     bound
}

func (v *visit) showFunctions() error {
	functions, err := v.cfg.Console.Functions(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return err
	}
	return v.show("functions", functionsTitle, functionsView{v.app.ID, v.isReadOnly(), functions, bound{len(functions), v.cfg.Console.MaxFunctions(), "functions"}})
}

// functionFields are the fields of the form of a function.
var functionFields = formFields{{Name: "name", Label: "Name"}, {Name: "source", Label: "Source", Codes: []apierror.Code{codes.FunctionSourceNoHandler.Code}}}

type newFunctionView struct {
	AppID    string
	ReadOnly bool
	Form     filled
}

func (v *visit) newFunction(form filled) newFunctionView {
	return newFunctionView{v.app.ID, v.isReadOnly(), form}
}

func (v *visit) showNewFunction() error {
	return v.show("function_new", newFunctionTitle, v.newFunction(filled{}))
}

func (v *visit) addFunction() error {
	form, err := v.form()
	if err != nil {
		return err
	}
	n := console.NewFunction{Name: form.Get("name"), Source: site.UnixLines(form.Get("source"))}
	if _, err := v.cfg.Console.AddFunction(v.r.Context(), v.by, v.app.ID, n); err != nil {
		return v.again(err, "function_new", newFunctionTitle, v.newFunction(v.mark(err, form, functionFields)))
	}
	return v.to(path("apps", v.app.ID, "functions"), "function-added")
}

type functionView struct {
	AppID    string
	ReadOnly bool
	Function consolestore.Function
}

// theFunction returns the function of the path.
func (v *visit) theFunction() (functionView, error) {
	function, err := v.cfg.Console.Function(v.r.Context(), v.by, v.app.ID, v.r.PathValue("functionId"))
	return functionView{v.app.ID, v.isReadOnly(), function}, err
}

func (v *visit) showFunction() error {
	view, err := v.theFunction()
	if err != nil {
		return err
	}
	return v.show("function", view.Function.Name, view)
}

func (v *visit) deleteFunction() error {
	view, err := v.theFunction()
	if err != nil {
		return err
	}
	if err := v.cfg.Console.DeleteFunction(v.r.Context(), v.by, v.app.ID, view.Function.ID); err != nil {
		return v.again(err, "function", view.Function.Name, view)
	}
	return v.to(path("apps", v.app.ID, "functions"), "function-deleted")
}

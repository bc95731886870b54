package pages

import (
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/site"
)

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
func (v *visit) theFunction() (console.Ref, functionView, error) {
	ref := console.Ref{AppID: v.app.ID, FunctionID: v.r.PathValue("functionId")}
	function, err := v.cfg.Console.Function(v.r.Context(), v.by, ref)
	return ref, functionView{v.app.ID, v.isReadOnly(), function}, err
}

func (v *visit) showFunction() error {
	_, view, err := v.theFunction()
	if err != nil {
		return err
	}
	return v.show("function", view.Function.Name, view)
}

func (v *visit) deleteFunction() error {
	ref, view, err := v.theFunction()
	if err != nil {
		return err
	}
	if err := v.cfg.Console.DeleteFunction(v.r.Context(), v.by, ref); err != nil {
		return v.again(err, "function", view.Function.Name, view)
	}
	return v.to(path("apps", v.app.ID, "functions"), "function-deleted")
}

// Package pages is what the OAuth server shows to people: the consent page, device approval,
// connected apps and errors. The server hands each page a view, and [Pages] renders it.
//
// The default pages ([New]) are plain HTML forms without script, work with a keyboard and a
// screen reader, follow the browser's light or dark scheme, and show the theme and the language
// of their view. A host with a front end of its own implements [Pages] instead; the default
// ones show what such pages have to contain.
package pages

import (
	"embed"
	"html/template"
	"net/http"

	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/theme"
)

//go:embed all:templates
var files embed.FS

// defaultPages implements [Pages] with the templates of the package.
type defaultPages struct{ set *look.Set }

// New returns the default pages. They are safe for concurrent use.
func New() Pages {
	set, err := look.Parse(files, "templates", template.FuncMap{"byReason": byReason, "power": power, "held": held})
	if err != nil {
		panic(err) // they were there, and whole, at compile time
	}
	return &defaultPages{set: set}
}

// Consent implements [Pages].
func (p *defaultPages) Consent(w http.ResponseWriter, r *http.Request, view ConsentView) error {
	return p.focus(w, "consent", newConsentPage(r, view), frame(r, view.Frame, view.Language.Text("consent.title", "app", view.AppName)))
}

// DeviceForm implements [Pages].
func (p *defaultPages) DeviceForm(w http.ResponseWriter, r *http.Request, view DeviceFormView) error {
	f := frame(r, view.Frame, view.Language.Text("device.title"))
	if view.Problem != "" {
		f.Alerts = []string{view.Problem}
		f.Explanation = explanation(view.Frame, view.ProblemCode)
	}
	return p.focus(w, "device", view, f)
}

// Done implements [Pages].
func (p *defaultPages) Done(w http.ResponseWriter, r *http.Request, view DoneView) error {
	title := "done.not_connected"
	if view.Approved {
		title = "done.connected"
	}
	return p.focus(w, "done", view, frame(r, view.Frame, view.Language.Text(title)))
}

// ConnectedApps implements [Pages].
func (p *defaultPages) ConnectedApps(w http.ResponseWriter, r *http.Request, view ConnectedAppsView) error {
	f := frame(r, view.Frame, view.Language.Text("apps.title"))
	f.Person, f.SignOut, f.Path = view.Person, view.Theme.SignOut, view.Path
	for _, link := range view.Theme.Links {
		f.Links = append(f.Links, look.Link{Text: view.Language.Link(link.Text, link.Href), Href: link.Href, Current: link.Href == view.Path})
	}
	switch view.Done {
	case audited.AccessRevoked:
		f.Notice = view.Language.Text("apps.revoked")
	case audited.Uninstalled:
		f.Notice = view.Language.Text("apps.uninstalled")
	case audited.ConnectionTakenOver:
		f.Notice = view.Language.Text("apps.taken_over")
	}
	return p.set.Render(w, "apps", look.Page{Frame: f, Data: view})
}

// TakeOver implements [Pages].
func (p *defaultPages) TakeOver(w http.ResponseWriter, r *http.Request, view TakeOverView) error {
	return p.focus(w, "takeover", view, frame(r, view.Frame, view.Language.Text("takeover.title", "app", view.AppName)))
}

// Error implements [Pages].
func (p *defaultPages) Error(w http.ResponseWriter, r *http.Request, view ErrorView) error {
	f := frame(r, view.Frame, errorTitle(view))
	f.Alerts, f.Explanation = []string{view.Message}, explanation(view.Frame, view.Code)
	return p.focus(w, "error", view, f)
}

// errorTitle names the app, if the page is about one and nothing is wrong with the service.
func errorTitle(view ErrorView) string {
	l, status := view.Language, view.Status
	switch {
	case status == http.StatusTooManyRequests:
		return l.Text("error.title.wait")
	case status >= http.StatusInternalServerError:
		return l.Text("error.title.internal")
	case view.AppName != "" && view.Code == RequestExpired:
		return l.Text("error.title.app_closed", "app", view.AppName)
	case view.AppName != "":
		return l.Text("error.title.app", "app", view.AppName)
	case status == http.StatusForbidden:
		return l.Text("error.title.forbidden")
	}
	return l.Text("error.title.invalid")
}

// explanation returns the explanation of an error in the language of the page.
func explanation(f Frame, code ErrorCode) string {
	if code == "" {
		return ""
	}
	return f.Language.Text("error." + string(code))
}

// frame returns the frame of a page with the title.
func frame(r *http.Request, f Frame, title string) look.Frame {
	return look.Frame{Title: title, Scheme: theme.Chosen(r), Service: f.Service, Nonce: f.Nonce, Icon: f.Icon, Theme: f.Theme, Language: f.Language}
}

// focus writes a page with one thing to do.
func (p *defaultPages) focus(w http.ResponseWriter, name string, view any, f look.Frame) error {
	f.Focus = true
	return p.set.Render(w, name, look.Page{Frame: f, Data: view})
}

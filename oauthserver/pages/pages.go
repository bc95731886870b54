// Package pages has the default pages of the OAuth server: consent, device
// approval and refusals. They are plain HTML forms without script, work with a
// keyboard and a screen reader, and follow the browser's light or dark scheme.
//
// A host with a front end of its own implements oauthserver.Pages instead; these
// show what such pages have to contain.
package pages

import (
	"embed"
	"net/http"

	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/oauthserver"
)

//go:embed all:templates
var files embed.FS

// Pages implements oauthserver.Pages. Make it with [New]. It is safe for
// concurrent use.
type Pages struct{ set *look.Set }

var _ oauthserver.Pages = (*Pages)(nil)

// New reads the templates that come with the package.
func New() *Pages {
	set, err := look.Parse(files, "templates", nil)
	if err != nil {
		panic(err) // they were there, and whole, at compile time
	}
	return &Pages{set: set}
}

// Consent implements oauthserver.Pages.
func (p *Pages) Consent(w http.ResponseWriter, _ *http.Request, view oauthserver.ConsentView) error {
	return p.render(w, "consent", view, look.Frame{Title: "Connect " + view.AppName + "?", Service: view.Service, Nonce: view.Nonce})
}

// DeviceForm implements oauthserver.Pages.
func (p *Pages) DeviceForm(w http.ResponseWriter, _ *http.Request, view oauthserver.DeviceFormView) error {
	frame := look.Frame{Title: "Connect a device", Service: view.Service, Nonce: view.Nonce}
	if view.Problem != "" {
		frame.Alerts = []string{view.Problem}
	}
	return p.render(w, "device", view, frame)
}

// Done implements oauthserver.Pages.
func (p *Pages) Done(w http.ResponseWriter, _ *http.Request, view oauthserver.DoneView) error {
	title := "Not connected"
	if view.Approved {
		title = "Connected"
	}
	return p.render(w, "done", view, look.Frame{Title: title, Service: view.Service, Nonce: view.Nonce})
}

// Error implements oauthserver.Pages.
func (p *Pages) Error(w http.ResponseWriter, _ *http.Request, view oauthserver.ErrorView) error {
	return p.render(w, "error", view, look.Frame{
		Title: errorTitle(view.Status), Service: view.Service, Nonce: view.Nonce, Alerts: []string{view.Message},
	})
}

func errorTitle(status int) string {
	switch {
	case status == http.StatusForbidden:
		return "This is not allowed"
	case status == http.StatusTooManyRequests:
		return "Please wait"
	case status >= http.StatusInternalServerError:
		return "Something went wrong"
	}
	return "This cannot be done"
}

// render writes a page with one thing to do.
func (p *Pages) render(w http.ResponseWriter, name string, view any, frame look.Frame) error {
	frame.Focus = true
	return p.set.Render(w, name, look.Page{Frame: frame, Data: view})
}

// Package pages has the default pages of the OAuth server: consent, device
// approval and refusals. They are plain HTML forms without script, work with a
// keyboard and a screen reader, and follow the browser's light or dark scheme.
//
// A host with a front end of its own implements oauthserver.Pages instead; these
// show what such pages have to contain.
package pages

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"

	"github.com/partnerkit/partnerkit/oauthserver"
)

//go:embed templates
var files embed.FS

// Pages implements oauthserver.Pages. Make it with [New]. It is safe for
// concurrent use.
type Pages struct {
	templates *template.Template
	style     template.CSS
}

var _ oauthserver.Pages = (*Pages)(nil)

// New reads the templates that come with the package.
func New() *Pages {
	style, err := files.ReadFile("templates/style.css")
	if err != nil {
		panic(err) // it was there at compile time
	}
	return &Pages{
		templates: template.Must(template.ParseFS(files, "templates/*.html")),
		style:     template.CSS(style), //nolint:gosec // a file of ours
	}
}

// page is what a template gets.
type page struct {
	Title string
	Style template.CSS
	View  any
}

// Consent implements oauthserver.Pages.
func (p *Pages) Consent(w http.ResponseWriter, _ *http.Request, view oauthserver.ConsentView) error {
	return p.render(w, "consent", "Connect "+view.AppName+"?", view)
}

// DeviceForm implements oauthserver.Pages.
func (p *Pages) DeviceForm(w http.ResponseWriter, _ *http.Request, view oauthserver.DeviceFormView) error {
	return p.render(w, "device", "Connect a device", view)
}

// Done implements oauthserver.Pages.
func (p *Pages) Done(w http.ResponseWriter, _ *http.Request, view oauthserver.DoneView) error {
	title := "Not connected"
	if view.Approved {
		title = "Connected"
	}
	return p.render(w, "done", title, view)
}

// Error implements oauthserver.Pages.
func (p *Pages) Error(w http.ResponseWriter, _ *http.Request, view oauthserver.ErrorView) error {
	return p.render(w, "error", errorTitle(view.Status), view)
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

// render writes a page as a whole or, when it cannot be made, not at all.
func (p *Pages) render(w http.ResponseWriter, name, title string, view any) error {
	var body bytes.Buffer
	if err := p.templates.ExecuteTemplate(&body, name, page{Title: title, Style: p.style, View: view}); err != nil {
		return fmt.Errorf("render the %s page: %w", name, err)
	}
	_, err := w.Write(body.Bytes())
	return err
}

package main

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"

	"github.com/partnerkit/partnerkit/apierror"
)

//go:embed templates
var templateFiles embed.FS

// strictPolicy lets a page show itself, its style sheet, and nothing else.
const strictPolicy = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// pages renders what people see.
type pages struct {
	errors    apierror.Writer
	templates map[string]*template.Template
	style     []byte
}

// view is what a page shows: its own data, and what all have.
type view struct {
	Title  string
	Person string // who is signed in
	Alert  string // what went wrong
	Data   any
}

func newPages(errors apierror.Writer) (*pages, error) {
	p := &pages{errors: errors, templates: make(map[string]*template.Template)}
	for _, name := range []string{"login", "businesses", "apps", "embedded", "message"} {
		t, err := template.ParseFS(templateFiles, "templates/layout.html", "templates/"+name+".html")
		if err != nil {
			return nil, err
		}
		p.templates[name] = t
	}
	var err error
	p.style, err = templateFiles.ReadFile("templates/style.css")
	return p, err
}

// handle makes a page of a handler: its failures are shown, faults without their
// reasons.
func (p *pages) handle(h apierror.Handler) http.Handler {
	return withPageHeader(p.errors.Page(p.showFailure, h))
}

// mux shows what is at no path, and what is not meant for a method.
func (p *pages) mux(mux *http.ServeMux) http.Handler {
	return withPageHeader(p.errors.PageMux(p.showFailure, mux))
}

func withPageHeader(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", strictPolicy)
		header.Set("Cache-Control", "no-store")
		header.Set("Referrer-Policy", "same-origin")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}

// show answers with a page.
func (p *pages) show(w http.ResponseWriter, status int, name string, v view) error {
	page, err := p.render(name, v)
	if err != nil {
		return err
	}
	w.WriteHeader(status)
	_, _ = w.Write(page) // the person may have left
	return nil
}

func (p *pages) showFailure(w http.ResponseWriter, _ *http.Request, f apierror.Failure) error {
	page, err := p.render("message", view{Title: http.StatusText(f.Status), Alert: f.Message})
	if err != nil {
		return err
	}
	_, _ = w.Write(page)
	return nil
}

func (p *pages) render(name string, v view) ([]byte, error) {
	var page bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&page, "layout.html", v); err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return page.Bytes(), nil
}

// serveStyle serves the style sheet of all pages.
func (p *pages) serveStyle(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(p.style)))
	w.Header().Set("Cache-Control", "max-age=3600")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(p.style)
}

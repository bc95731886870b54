package books

import (
	"bytes"
	"embed"
	"net/http"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/muxes"
	"github.com/partnerkit/partnerkit/internal/text"
	"github.com/partnerkit/partnerkit/theme"
)

//go:embed templates
var templateFiles embed.FS

// pages renders what people see.
type pages struct {
	errors apierror.Writer
	links  []theme.Link // in the header of every page
	set    *look.Set
}

// View is the data of a page: its own, and that of all pages.
type View struct {
	Title  string
	Person User        // who is signed in; the zero User if there is none
	Path   string      // of the page, for the links in the header
	Scheme string      // that the person has chosen
	Alert  string      // what went wrong
	Notice string      // what went well
	Side   []look.Link // links to the sections of a long page
	Data   any
}

func newPages(errors apierror.Writer, links []theme.Link) (*pages, error) {
	set, err := look.Parse(templateFiles, "templates", nil)
	return &pages{errors: errors, links: links, set: set}, err
}

// handle makes a page of a handler: its errors are shown, internal errors without their
// reasons.
func (p *pages) handle(h apierror.Handler) http.Handler {
	return withPageHeader(p.errors.Page(p.showFailure, h))
}

// mux shows what is at no path, and what is not meant for a method.
func (p *pages) mux(mux *http.ServeMux) http.Handler {
	return withPageHeader(muxes.WithErrors(mux, func(w http.ResponseWriter, r *http.Request, err error) {
		p.errors.WritePage(w, r, err, p.showFailure)
	}))
}

func withPageHeader(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		look.SetHeader(w.Header())
		next.ServeHTTP(w, r)
	})
}

// show responds with a page.
func (p *pages) show(w http.ResponseWriter, r *http.Request, status int, name string, v View) error {
	v.Scheme = theme.Chosen(r)
	var page bytes.Buffer
	if err := p.set.Render(&page, name, p.frame(v)); err != nil {
		return err
	}
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // the person may have left
	return nil
}

func (p *pages) showFailure(w http.ResponseWriter, r *http.Request, f apierror.Failure) error {
	return p.set.Render(w, "message", p.frame(View{Title: http.StatusText(f.Status), Scheme: theme.Chosen(r), Alert: f.Message}))
}

// frame puts the view into the frame of the site. A person who is not signed in has one
// thing to do.
func (p *pages) frame(v View) look.Page {
	frame := look.Frame{
		Service: p.errors.Service, Title: v.Title, Assets: "/assets", Home: "/", Scheme: v.Scheme, Path: v.Path, Theme: theme.Theme{Switch: switchPath}, Person: text.Line(v.Person.Name), Notice: v.Notice, Focus: v.Person.ID == "" && v.Side == nil,
		SideLabel: "Subjects", Side: v.Side,
	}
	if v.Alert != "" {
		frame.Alerts = []string{v.Alert}
	}
	if v.Person.ID != "" {
		frame.SignOut = "/logout"
		links := slices.Clone(p.links)
		if v.Person.IsOperator {
			links = append(links, operatorLink)
		}
		for _, link := range links {
			frame.Links = append(frame.Links, look.Link{Text: link.Text, Href: link.Href, Current: link.Href == v.Path})
		}
	}
	return look.Page{Frame: frame, Data: v.Data}
}

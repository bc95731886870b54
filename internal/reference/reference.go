// Package reference shows an OpenAPI document to people: an index of its operations with a
// search, and a page for each topic, which is a tag of the document, or a part of one. An
// operation has an anchor, the way to authenticate it, samples in several languages and, for
// browsers with the script, a form that sends it. Everything else works without the script.
package reference

import (
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/theme"
)

//go:embed all:templates
var templates embed.FS

//go:embed try.js
var tryScript []byte

// Config of the [Pages] of a document.
type Config struct {
	Document []byte // OpenAPI 3.1 in JSON
	Prefix   string // the path that the pages are mounted at, such as /openapi
	Service  string
	API      string // the origin of the API, which the script of the pages may call
	Console  string // the path of the console, where sandbox tokens are; empty: there is none
	// Person returns the name of the person who is signed in; empty if there is none. The
	// pages are for everybody, but not for a person for whom it returns an error.
	Person   func(r *http.Request) (string, error)
	Theme    theme.Theme
	ThemeFor func(r *http.Request) theme.Theme // nil: Theme
	Logger   *slog.Logger                      // nil: discards
}

// Pages serves the pages of a document. It is safe for concurrent use.
type Pages struct {
	cfg     Config
	doc     document
	topics  []section
	places  map[string]string // the addresses of the shapes
	script  string            // the name of try.js
	site    *site.Site
	handler http.Handler
}

// New returns an error for a document that is not OpenAPI in JSON.
func New(cfg Config) (*Pages, error) {
	doc, err := readDocument(cfg.Document)
	if err != nil {
		return nil, fmt.Errorf("the API description cannot be shown: %w", err)
	}
	doc.api = cfg.API
	p := &Pages{cfg: cfg, doc: doc, topics: topics(doc.sections())}
	p.places = p.shapePlaces()
	p.site, err = site.New(site.Config{
		Templates: templates, Service: cfg.Service, Prefix: cfg.Prefix, Name: "API", Theme: cfg.Theme, ThemeFor: cfg.ThemeFor, Logger: cfg.Logger,
		Functions: template.FuncMap{
			"shapeAt": func(name string) string { return p.places[name] }, "inline": p.inline, "written": p.written, "breakable": breakable, "foldable": foldable,
			"json": func(v any) (string, error) { text, err := json.Marshal(v); return string(text), err },
		},
		Person: func(r *http.Request) string {
			name, _ := cfg.Person(r) // the page of an error names nobody if this fails too
			return name
		},
	})
	if err != nil {
		return nil, err
	}
	name, serveScript := look.Script("try", tryScript)
	p.script = cfg.Prefix + "/assets/" + name
	mux := http.NewServeMux()
	mux.Handle("GET "+p.script, serveScript)
	mux.Handle("GET "+cfg.Prefix, p.site.Page(p.showIndex))
	mux.Handle("GET "+cfg.Prefix+"/{topic}", p.site.Page(p.showTopic))
	p.handler = p.site.Handler(mux)
	return p, nil
}

// ServeHTTP serves the pages at their prefix and below it.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// shapePlaces returns the address of each shape.
func (p *Pages) shapePlaces() map[string]string {
	places := make(map[string]string)
	for _, topic := range p.topics {
		for _, shape := range topic.Shapes {
			places[shape.Name] = p.cfg.Prefix + "/" + topic.ID + "#" + shape.ID
		}
	}
	return places
}

// indexView is everything in the document, or what matches a search.
type indexView struct {
	Document document
	Query    string
	Count    int // of operations and shapes
	Sections []section
}

func (p *Pages) showIndex(w http.ResponseWriter, r *http.Request) error {
	view := indexView{Document: p.doc, Query: searched(r)}
	view.Sections, view.Count = matching(p.topics, strings.Fields(view.Query))
	return p.show(w, r, "index", p.title(), view)
}

func (p *Pages) title() string {
	if p.doc.Info.Title != "" {
		return p.doc.Info.Title
	}
	return "API"
}

// topicView is one topic.
type topicView struct {
	Document document
	Query    string // of the search field
	Topic    section
	Script   string
	Console  string
}

func (p *Pages) showTopic(w http.ResponseWriter, r *http.Request) error {
	i := slices.IndexFunc(p.topics, func(s section) bool { return s.ID == r.PathValue("topic") })
	if i < 0 {
		return apierror.NotFound("topic")
	}
	look.AllowConnect(w.Header(), p.cfg.API)
	return p.show(w, r, "topic", p.topics[i].Title, topicView{Document: p.doc, Topic: p.topics[i], Script: p.script, Console: p.cfg.Console})
}

func (p *Pages) show(w http.ResponseWriter, r *http.Request, name, title string, data any) error {
	person, err := p.cfg.Person(r)
	if err != nil {
		return err
	}
	frame := p.site.Frame(r, title, person)
	frame.SideLabel = "Topics"
	for _, topic := range p.topics {
		frame.Side = append(frame.Side, look.Link{Text: topic.Title, Href: p.site.Href(topic.ID), Current: topic.ID == r.PathValue("topic")})
	}
	if person == "" {
		frame.Links = nil // they lead to the sign-in page
	}
	return p.site.ShowPlain(w, r, name, look.Page{Frame: frame, Data: data})
}

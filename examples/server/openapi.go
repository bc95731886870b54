package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/ratelimit"
	"github.com/partnerkit/partnerkit/theme"
)

// ownDescription describes what this server serves beside the platform.
//
//go:embed description.yaml
var ownDescription string

//go:embed templates
var templateFiles embed.FS

// The addresses that description.yaml is written with.
const (
	describedAPI = "http://localhost:8080"
	describedApp = "http://localhost:8081"
)

// description is the API description of this server: that of the platform, and
// description.yaml.
type description struct {
	text func() (describedText, error)        // generated for the first request
	page func() ([]descriptionSection, error) // likewise
	set  *look.Set                            // the template of the page
}

type describedText struct {
	yaml []byte
	etag string
}

func newDescription(platform func() []byte, apiURL, appURL string) (*description, error) {
	addressed := strings.NewReplacer(describedAPI, apiURL, describedApp, appURL)
	d := &description{}
	d.text = sync.OnceValues(func() (describedText, error) {
		text, err := mergeYAML(platform(), []byte(addressed.Replace(ownDescription)))
		if err != nil {
			return describedText{}, fmt.Errorf("description.yaml: %w", err)
		}
		sum := sha256.Sum256(text)
		return describedText{text, `"` + hex.EncodeToString(sum[:12]) + `"`}, nil
	})
	d.page = sync.OnceValues(func() ([]descriptionSection, error) {
		text, err := d.text()
		if err != nil {
			return nil, err
		}
		sections, err := newDescriptionPage(text.yaml)
		return topics(sections), err
	})
	var err error
	d.set, err = look.Parse(templateFiles, "templates", template.FuncMap{"shapeAt": func(name string) (string, error) {
		topics, err := d.page()
		return shapePlaces(topics)[name], err
	}})
	return d, err
}

// serve serves the description to any client. Clients may cache it, because it only
// changes with the program.
func (d *description) serve(w http.ResponseWriter, r *http.Request) error {
	text, err := d.text()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Etag", text.etag)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	for asked := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if asked = strings.TrimPrefix(strings.TrimSpace(asked), "W/"); asked == text.etag || asked == "*" {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h.Set("Content-Type", "application/yaml")
	_, _ = w.Write(text.yaml) // the client may have left
	return nil
}

// devOperatorDescription serves the description of the operators' endpoints, which is not for
// partners.
func (s *server) devOperatorDescription(w http.ResponseWriter, _ *http.Request) error {
	return apierror.WriteJSON(w, http.StatusOK, json.RawMessage(s.platform.OperatorOpenAPI()))
}

// limited counts requests toward the default limit of the API host.
func (s *server) limited(h apierror.Handler) http.Handler {
	limits := ratelimit.DefaultLimits()
	return s.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		result, err := s.limiter.Check(r.Context(), s.clock.Now(), ratelimit.Request{
			Counters: ratelimit.Counters{limits.DefaultAPI(s.proxies.ClientIP(r))},
		})
		if err := apierror.Limited(result.Allowed, result.Wait, err); err != nil {
			return err
		}
		return h(w, r)
	})
}

// maxSearch is how many bytes of a search are looked for.
const maxSearch = 200

// descriptionView is the page of the description: all of it, or what matches a search.
type descriptionView struct {
	YAML, Query string
	Count       int // of operations and shapes
	Sections    []descriptionSection
	Topic       *descriptionSection // nil on the index
}

// searched returns the search text of a request; empty shows everything.
func searched(r *http.Request) string {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(query) > maxSearch || !utf8.ValidString(query) {
		return ""
	}
	return query
}

// showDescription is the description for people.
func (s *server) showDescription(w http.ResponseWriter, r *http.Request) error {
	person, err := s.site.Person(r)
	if err != nil {
		return err
	}
	sections, err := s.spec.page()
	if err != nil {
		return fmt.Errorf("API description: %w", err)
	}
	data, title := descriptionView{YAML: s.apiURL + "/openapi.yaml"}, "API"
	if topic := r.PathValue("topic"); topic != "" {
		i := slices.IndexFunc(sections, func(section descriptionSection) bool { return section.ID == topic })
		if i < 0 {
			return apierror.NotFound("topic")
		}
		data.Topic, title = &sections[i], "API: "+sections[i].Title
	} else {
		data.Query = searched(r)
		data.Sections, data.Count = matching(sections, strings.Fields(data.Query))
	}
	v := books.View{Title: title, Person: person, Path: r.URL.Path, Scheme: theme.Chosen(r), Data: data}
	for _, section := range sections {
		v.Side = append(v.Side, look.Link{Text: section.Title, Href: section.Href(), Current: section.ID == r.PathValue("topic")})
	}
	var page bytes.Buffer
	if err := s.spec.set.Render(&page, "openapi", s.site.Frame(v)); err != nil {
		return err
	}
	_, _ = w.Write(page.Bytes()) // the client may have left
	return nil
}

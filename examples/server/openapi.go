package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/examples/books"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// openapi describes everything that a partner's program can call, and every webhook.
//
//go:embed openapi.yaml
var openapi string

//go:embed templates
var templateFiles embed.FS

// The addresses that the description is written with.
const (
	describedAPI = "http://localhost:8080"
	describedApp = "http://localhost:8081"
)

// description is the API description of this server, with its own addresses.
type description struct {
	yaml []byte
	etag string
	page func() ([]descriptionSection, error) // made when somebody looks
	set  *look.Set                            // the template of the page
}

func newDescription(apiURL, appURL string) (*description, error) {
	addressed := strings.NewReplacer(describedAPI, apiURL, describedApp, appURL)
	d := &description{yaml: []byte(addressed.Replace(openapi))}
	sum := sha256.Sum256(d.yaml)
	d.etag = `"` + hex.EncodeToString(sum[:12]) + `"`
	d.page = sync.OnceValues(func() ([]descriptionSection, error) { return newDescriptionPage(d.yaml) })
	var err error
	d.set, err = look.Parse(templateFiles, "templates", nil)
	return d, err
}

// serve serves the description to anybody, for as long as they like to keep it: it
// changes with the program.
func (d *description) serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Etag", d.etag)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	for asked := range strings.SplitSeq(strings.Join(r.Header.Values("If-None-Match"), ","), ",") {
		if asked = strings.TrimPrefix(strings.TrimSpace(asked), "W/"); asked == d.etag || asked == "*" {
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	h.Set("Content-Type", "application/yaml")
	_, _ = w.Write(d.yaml) // the client may have left
	return nil
}

// limited counts requests toward the default limit of the API host.
func (s *server) limited(h apierror.Handler) http.Handler {
	return s.errors.Standard(func(w http.ResponseWriter, r *http.Request) error {
		result, err := s.limiter.Check(r.Context(), s.clock.Now(), ratelimit.Request{
			Counters: ratelimit.Counters{ratelimit.DefaultAPI(s.proxies.ClientIP(r))},
		})
		if err := apierror.Limited(result.Allowed, result.Wait, err); err != nil {
			return err
		}
		return h(w, r)
	})
}

// showDescription is the description for people.
func (s *server) showDescription(w http.ResponseWriter, r *http.Request) error {
	person, err := s.site.PersonName(r)
	if err != nil {
		return err
	}
	sections, err := s.spec.page()
	if err != nil {
		return fmt.Errorf("openapi.yaml: %w", err)
	}
	v := books.View{Title: "API", Person: person, Path: r.URL.Path, Data: struct {
		YAML     string
		Sections []descriptionSection
	}{s.apiURL + "/openapi.yaml", sections}}
	for _, section := range sections {
		v.Side = append(v.Side, look.Link{Text: section.Title, Href: "#" + section.ID})
	}
	var page bytes.Buffer
	if err := s.spec.set.Render(&page, "openapi", s.site.Frame(v)); err != nil {
		return err
	}
	_, _ = w.Write(page.Bytes()) // the client may have left
	return nil
}

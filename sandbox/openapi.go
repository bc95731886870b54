package sandbox

import (
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/compress"
	"github.com/partnerkit/partnerkit/ratelimit"
)

// ownDescription describes what a sandbox serves beside the platform.
//
//go:embed description.yaml
var ownDescription string

// The addresses that description.yaml is written with.
const (
	describedAPI = "http://localhost:8080"
	describedApp = "http://localhost:8081"
)

// referencePath is where the app host has the pages of the description.
const referencePath = "/openapi"

// description is the API description of this server: that of the platform, description.yaml,
// and what the host adds.
type description struct {
	text  func() (describedText, error) // generated for the first request
	pages func() (http.Handler, error)  // likewise
}

type describedText struct {
	file *compress.File // in YAML
	json []byte
}

func newDescription(platform *partnerkit.Platform, host, apiURL, appURL string) *description {
	addressed := strings.NewReplacer(describedAPI, apiURL, describedApp, appURL)
	d := &description{}
	d.text = sync.OnceValues(func() (describedText, error) {
		yaml, json, err := mergeYAML(platform.OpenAPI(), []byte(addressed.Replace(ownDescription)))
		if err == nil && host != "" {
			yaml, json, err = mergeYAML(yaml, []byte(addressed.Replace(host)))
		}
		if err != nil {
			return describedText{}, fmt.Errorf("API description: %w", err)
		}
		return describedText{compress.NewFile(yaml), json}, nil
	})
	d.pages = sync.OnceValues(func() (http.Handler, error) {
		text, err := d.text()
		if err != nil {
			return nil, err
		}
		return platform.Reference(referencePath, text.json)
	})
	return d
}

// serve serves the description to any client. Clients may cache it, because it only
// changes with the program.
func (d *description) serve(w http.ResponseWriter, r *http.Request) error {
	text, err := d.text()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "application/yaml")
	text.file.ServeHTTP(w, r)
	return nil
}

// show shows the description to people.
func (d *description) show(w http.ResponseWriter, r *http.Request) error {
	pages, err := d.pages()
	if err != nil {
		return err
	}
	pages.ServeHTTP(w, r)
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

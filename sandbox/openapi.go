package sandbox

import (
	"bytes"
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

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
// and what the host adds. All of it is generated for the first request: it takes a while.
type description struct {
	merged func() (*yaml.Node, error)
	file   func() (*compress.File, error) // in YAML
	pages  func() (http.Handler, error)
}

func newDescription(platform *partnerkit.Platform, host, apiURL, appURL string) *description {
	addressed := strings.NewReplacer(describedAPI, apiURL, describedApp, appURL)
	d := &description{}
	d.merged = sync.OnceValues(func() (*yaml.Node, error) {
		merged, err := mergeYAML(platform.OpenAPI(), addressed.Replace(ownDescription), addressed.Replace(host))
		if err != nil {
			return nil, fmt.Errorf("API description: %w", err)
		}
		return merged, nil
	})
	d.file = sync.OnceValues(func() (*compress.File, error) {
		merged, err := d.merged()
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		e := yaml.NewEncoder(&text)
		e.SetIndent(2)
		err = e.Encode(merged)
		return compress.NewFile(text.Bytes()), err
	})
	d.pages = sync.OnceValues(func() (http.Handler, error) {
		merged, err := d.merged()
		if err != nil {
			return nil, err
		}
		var text bytes.Buffer
		if err := writeJSON(&text, merged); err != nil {
			return nil, err
		}
		return platform.Reference(referencePath, text.Bytes())
	})
	return d
}

// prepare makes the pages before somebody waits for them, unless ctx ends soon.
func (d *description) prepare(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
		_, _ = d.pages() // a request for them gets the error
	}
}

// serve serves the description to any client. Clients may cache it, because it only
// changes with the program.
func (d *description) serve(w http.ResponseWriter, r *http.Request) error {
	file, err := d.file()
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Type", "application/yaml")
	file.ServeHTTP(w, r)
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

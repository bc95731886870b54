package openapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// checker is a transport that finds every difference between what is said and what
// the description allows: the operation, its status, headers, media type and body. A
// request that the server accepted must be one that the description allows, too.
type checker struct {
	doc    *openapi3.T
	router routers.Router

	mu          sync.Mutex
	differences []string
	seen        map[string]bool // operation and status: "listInvoices 200"
}

// readDocument reads a description that the server itself serves.
func readDocument(t *testing.T, address string) *openapi3.T {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// newChecker reads the description for partners, and the one of the operators' endpoints.
func newChecker(t *testing.T, api string) *checker {
	t.Helper()
	c := &checker{doc: readDocument(t, api+"/openapi.yaml"), seen: make(map[string]bool)}
	for path, item := range readDocument(t, api+"/dev/openapi.json").Paths.Map() {
		c.doc.Paths.Set(path, item)
	}
	var err error
	if c.router, err = gorillamux.NewRouter(c.doc); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, one := range c.differences {
			t.Errorf("not as described: %s", one)
		}
	})
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *checker) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		if r.Body = http.NoBody; len(sent) > 0 {
			r.Body = io.NopCloser(bytes.NewReader(sent))
		}
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	got, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil {
		return nil, err
	}
	res.Body = io.NopCloser(bytes.NewReader(got))
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(sent))
	c.check(r, res, got)
	return res, nil
}

func (c *checker) check(r *http.Request, res *http.Response, body []byte) {
	problems := c.compare(r, res, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, problem := range problems {
		one := fmt.Sprintf("%s %s: %d: %s", r.Method, r.URL.Path, res.StatusCode, problem)
		if !slices.Contains(c.differences, one) {
			c.differences = append(c.differences, one)
		}
	}
}

var filter = &openapi3filter.Options{
	IncludeResponseStatus: true, MultiError: true,
	AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, // the server's business
}

func (c *checker) compare(r *http.Request, res *http.Response, body []byte) (problems []string) {
	route, values, err := c.router.FindRoute(r)
	if err != nil {
		return []string{err.Error()}
	}
	c.mu.Lock()
	c.seen[route.Operation.OperationID+" "+strconv.Itoa(res.StatusCode)] = true
	c.mu.Unlock()
	request := &openapi3filter.RequestValidationInput{Request: r, PathParams: values, Route: route, Options: filter}
	if res.StatusCode < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(context.Background(), request); err != nil {
			problems = append(problems, "request: "+err.Error())
		}
	}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: request, Status: res.StatusCode, Header: res.Header, Options: filter,
	}
	if err := openapi3filter.ValidateResponse(context.Background(), response.SetBodyBytes(body)); err != nil {
		problems = append(problems, err.Error())
	}
	return append(problems, undescribed(route.Operation, res, body)...)
}

// ofHTTP are the headers of the connection and of the body, which any response may have.
var ofHTTP = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding"}

// undescribed names what a response has and its description has not.
func undescribed(operation *openapi3.Operation, res *http.Response, body []byte) (problems []string) {
	response := operation.Responses.Status(res.StatusCode)
	if response == nil {
		return nil // ValidateResponse has said so
	}
	for name := range res.Header {
		declared := func(other string) bool { return strings.EqualFold(name, other) }
		if !slices.ContainsFunc(ofHTTP, declared) && !slices.ContainsFunc(keys(response.Value.Headers), declared) {
			problems = append(problems, "header "+name+" is not described")
		}
	}
	if len(response.Value.Content) == 0 && len(body) > 0 {
		problems = append(problems, fmt.Sprintf("a body is not described: %.80s", body))
	}
	return problems
}

func keys[V any](m map[string]V) []string {
	all := make([]string, 0, len(m))
	for name := range m {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// registerDecoders teaches kin-openapi the media types that it does not know.
func registerDecoders() {
	for _, media := range []string{"text/html", "image/png", "image/svg+xml", "application/jsonl"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
	}
	openapi3filter.RegisterBodyDecoder("application/x-www-form-urlencoded", decodeForm)
}

// decodeForm is for forms that are one of several: the decoder of kin-openapi knows
// only those with properties of their own.
func decodeForm(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(text))
	form := make(map[string]any, len(values))
	for name := range values {
		form[name] = values.Get(name)
	}
	return form, err
}

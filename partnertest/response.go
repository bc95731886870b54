package partnertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/partnerkit/partnerkit/apierror"
)

// Response is the response to a request, with its whole body.
type Response struct {
	Request string // for messages, such as "GET /invoices"
	Status  int
	Header  http.Header
	Body    string

	t testing.TB
}

// Serve gives a request to a handler and returns the response.
func Serve(t testing.TB, handler http.Handler, r *http.Request) *Response {
	t.Helper()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return &Response{Request: r.Method + " " + r.URL.Path, Status: w.Code, Header: w.Result().Header, Body: w.Body.String(), t: t}
}

// Send sends a request with a client and returns the response.
func Send(t testing.TB, client *http.Client, r *http.Request) *Response {
	t.Helper()
	response, err := client.Do(r) //nolint:gosec // the test chooses the URL
	if err != nil {
		t.Fatalf("partnertest: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("partnertest: %s %s: read the response: %v", r.Method, r.URL.Path, err)
	}
	return &Response{Request: r.Method + " " + r.URL.Path, Status: response.StatusCode, Header: response.Header, Body: string(body), t: t}
}

// String returns request, status and body, for messages.
func (r *Response) String() string { return fmt.Sprintf("%s: %d %s", r.Request, r.Status, r.Body) }

// Want fails the test and ends it unless the response has this status.
func (r *Response) Want(status int) *Response {
	r.t.Helper()
	if r.Status != status {
		r.t.Fatalf("%s, want %d", r, status)
	}
	return r
}

// WantCode is Want for an error of the API: it also compares the error's code. An
// empty code means that the error has none.
func (r *Response) WantCode(status int, code apierror.Code) *Response {
	r.t.Helper()
	var body struct{ Code apierror.Code }
	r.Want(status).Decode(&body)
	if body.Code != code {
		r.t.Fatalf("%s, want the code %q", r, code)
	}
	return r
}

// Decode reads the body, which must be one JSON value, into a pointer.
func (r *Response) Decode(into any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.Body), into); err != nil {
		r.t.Fatalf("%s: %v", r, err)
	}
}

// JSON returns the body, which must be a JSON object.
func (r *Response) JSON() map[string]any {
	r.t.Helper()
	var body map[string]any
	r.Decode(&body)
	return body
}

// Text returns a member of the body, a JSON object, that must be a string.
func (r *Response) Text(name string) string {
	r.t.Helper()
	text, ok := r.JSON()[name].(string)
	if !ok {
		r.t.Fatalf("%s: %s is not a string", r, name)
	}
	return text
}

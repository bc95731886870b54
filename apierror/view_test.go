package apierror_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/logtest"
	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// everyError is one error of each code, and those without a code.
func everyError() []error {
	var missing apierror.Validation
	missing.Add("lines[1].accountId", "is missing")
	missing.Add("", "the lines must balance")
	all := []error{
		apierror.Invalid("one"), apierror.Invalid("one", "two"), missing.Err(), apierror.Unauthorized(), apierror.NotFound("invoice"), apierror.MethodNotAllowed("GET"),
		apierror.TooLarge(7), apierror.UnsupportedMediaType("text/plain"), apierror.TooManyRequests(time.Minute), apierror.Internal(errors.New("hunter2")), errors.New("hunter2"),
		apierror.Unavailable(errors.New("hunter2")), codes.InvalidValues(codes.ValueDetail{Key: "k", Reason: "must be a string"}), oautherror.Grant(oautherror.GrantExpired),
	}
	for _, entry := range codes.All() {
		values := []any{}
		for i := range strings.Count(entry.Message, "{p") {
			values = append(values, "value"+string(rune('0'+i)))
		}
		all = append(all, entry.New(values...))
	}
	return all
}

// Every error of the standard shape goes through the function, and its status and headers
// do not depend on it.
func TestProblemDetails(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, err := range everyError() {
		response := standard(apierror.Writer{Shape: apierror.ProblemDetails}, get(), err)
		usual := standard(apierror.Writer{}, get(), err)
		if response.StatusCode != usual.StatusCode || response.Header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%v: %d %v", err, response.StatusCode, response.Header)
		}
		for name := range usual.Header {
			if name != "Content-Type" && name != "X-Request-Id" && response.Header.Get(name) != usual.Header.Get(name) {
				t.Errorf("%v: %s is %q, usually %q", err, name, response.Header.Get(name), usual.Header.Get(name))
			}
		}
		body, _ := io.ReadAll(response.Body)
		all.WriteString(requestIDs.ReplaceAllString(string(body), "req_ID") + "\n")
	}
	if strings.Contains(all.String(), "hunter2") {
		t.Error("a cause is shown")
	}
	wantGolden(t, "problems", all.String())
}

// StandardShape is what a nil function means, to the byte.
func TestStandardShape(t *testing.T) {
	t.Parallel()
	for _, err := range everyError() {
		got, want := dump(t, standard(apierror.Writer{Shape: apierror.StandardShape}, get(), err)), dump(t, standard(apierror.Writer{}, get(), err))
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestShapeFunc(t *testing.T) {
	t.Parallel()
	const usual = `{"statusCode":404,"message":"invoice not found","error":"Not Found","params":{"p0":"invoice"}}`
	for _, test := range []struct {
		name, contentType, body string
		shape                   apierror.ShapeFunc
	}{
		{"no content type", "application/json", `{"n":404}`, func(v apierror.View) (string, any) { return "", map[string]int{"n": v.Status} }},
		{"bytes", "text/plain", "Not found: invoice", func(v apierror.View) (string, any) { return "text/plain", []byte("Not found: " + v.Params[0]) }},
		{"panic", "application/json", usual, func(apierror.View) (string, any) { panic("no shape") }},
		{"nil", "application/json", usual, func(apierror.View) (string, any) { return "text/plain", nil }},
		{"not JSON", "application/json", usual, func(apierror.View) (string, any) { return "text/plain", func() {} }},
		{"changed view, then panic", "application/json", usual, func(v apierror.View) (string, any) { v.Problems[0].Text, v.Params[0] = "other", "other"; panic("late") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var log logtest.Buffer
			writer := logTo(&log)
			writer.Shape = test.shape
			response := standard(writer, get(), apierror.NotFound("invoice"))
			body, _ := io.ReadAll(response.Body)
			if response.StatusCode != http.StatusNotFound || response.Header.Get("Content-Type") != test.contentType || string(body) != test.body {
				t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
			}
			if strings.Contains(log.String(), "no shape") { // TOK-09: it may be a secret
				t.Errorf("the log has the value of the panic: %s", log.String())
			}
			if strings.Contains(test.name, "panic") && !strings.Contains(log.String(), "TestShapeFunc") {
				t.Errorf("the log does not name the function that panicked: %s", log.String())
			}
			if isLogged := strings.Contains(log.String(), "error shape failed"); isLogged != (test.body == usual) {
				t.Errorf("log %q", log.String())
			}
		})
	}
}

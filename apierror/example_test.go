package apierror_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/oautherror"
)

// An error with a code of the host's own.
var titleTaken = apierror.Entry{Code: "TITLE_TAKEN", Status: http.StatusConflict, Message: "a note has the title {p0} already"}

// A handler reads its body, collects what is wrong with it and returns errors;
// the writer around it responds to them.
func Example() {
	type note struct {
		Title string   `json:"title"`
		Tags  []string `json:"tags"`
	}
	create := func(w http.ResponseWriter, r *http.Request) error {
		var n note
		if err := json.NewDecoder(r.Body).Decode(&n); err != nil {
			return apierror.Invalid("the body must be a note in JSON").WithCause(err)
		}
		var v apierror.Validation
		if n.Title == "" {
			v.Add("title", "must not be empty")
		}
		if len(n.Tags) > 2 {
			v.Add("tags", "must have at most %d entries", 2)
		}
		if err := v.Err(); err != nil {
			return err
		}
		if n.Title == "taken" {
			return titleTaken.New(n.Title)
		}
		return apierror.WriteJSON(w, http.StatusCreated, n)
	}
	handler := apierror.Writer{Service: "Acme Books"}.Standard(create)

	for _, body := range []string{
		`{"title": "hello", "tags": []}`,
		`{"tags": ["a", "b", "c"]}`,
		`{"title": "hello", "tags": "a"}`,
		`{"title": "taken"}`,
	} {
		r := httptest.NewRequest(http.MethodPost, "/notes", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 201 {"title":"hello","tags":[]}
	// 400 {"statusCode":400,"message":["title must not be empty","tags must have at most 2 entries"],"error":"Bad Request"}
	// 400 {"statusCode":400,"message":["the body must be a note in JSON"],"error":"Bad Request"}
	// 409 {"statusCode":409,"message":"a note has the title taken already","error":"Conflict","code":"TITLE_TAKEN","params":{"p0":"taken"}}
}

// The same errors at an OAuth endpoint, in its shape.
func ExampleWriter_OAuth() {
	token := func(_ http.ResponseWriter, r *http.Request) error {
		if err := r.ParseForm(); err != nil {
			return oautherror.New(oautherror.InvalidRequest, "the form is not well-formed")
		}
		if len(r.PostForm["code"]) > 1 {
			return oautherror.New(oautherror.InvalidRequest, "code is sent more than once")
		}
		if r.PostForm.Get("grant_type") != "authorization_code" {
			return oautherror.New(oautherror.UnsupportedGrantType, "")
		}
		return oautherror.Grant(oautherror.GrantExpired)
	}
	handler := apierror.Writer{OmitDeprecatedMessage: true}.OAuth(token)

	for _, body := range []string{"code=1&code=2", "grant_type=password", "grant_type=authorization_code"} {
		r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Body)
	}
	// Output:
	// 400 {"error":"invalid_request","error_description":"code is sent more than once"}
	// 400 {"error":"unsupported_grant_type"}
	// 400 {"error":"invalid_grant","error_description":"expired"}
}

// A host's own shape, in place of the standard one.
func ExampleShapeFunc() {
	shape := func(v apierror.View) (contentType string, body any) {
		return "application/vnd.acme.error+json", map[string]any{"status": v.Status, "reason": v.Problems[0].Text}
	}
	handler := apierror.Writer{Shape: shape}.Standard(func(http.ResponseWriter, *http.Request) error {
		return apierror.NotFound("invoice")
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/invoices/7", nil))
	fmt.Println(w.Header().Get("Content-Type"), w.Body)
	// Output: application/vnd.acme.error+json {"reason":"invoice not found","status":404}
}

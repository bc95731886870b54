package bodies

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/text"
)

const formType = "application/x-www-form-urlencoded"

// FormLimits bound a form; zero values mean the defaults.
type FormLimits struct {
	// MaxBytes is the size of the body; 0 means [MaxForm].
	MaxBytes int64
	// MaxParameters is how many parameters there may be, repeated ones counted
	// each time; 0 means 100.
	MaxParameters int
}

// A Form holds the parameters of a form body: every value, in the order sent.
type Form url.Values

// Get returns the first value of a parameter, empty when it was not sent. Ask
// Repeated before trusting it where a second value must be refused.
func (f Form) Get(name string) string { return url.Values(f).Get(name) }

// Has reports whether a parameter was sent, possibly empty.
func (f Form) Has(name string) bool { return url.Values(f).Has(name) }

// IsRepeated reports whether a parameter was sent more than once, even with the
// same value.
func (f Form) IsRepeated(name string) bool { return len(f[name]) > 1 }

// Repeated returns the names of all parameters that were sent more than once,
// sorted.
func (f Form) Repeated() []string {
	var names []string
	for name := range f {
		if f.IsRepeated(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// DecodeForm reads an application/x-www-form-urlencoded body. The query of the
// URL is ignored: credentials must not be sent in the URL, and a parameter must
// not come from two places. An empty body is an empty form.
//
// The error is one of apierror: 413, 415, or a 400 that lists every problem. It
// repeats names, never values.
func DecodeForm(r *http.Request, limits FormLimits) (Form, error) {
	if limits.MaxBytes <= 0 {
		limits.MaxBytes = MaxForm
	}
	if limits.MaxParameters <= 0 {
		limits.MaxParameters = 100
	}
	body, err := Read(r, formType, limits.MaxBytes, nil)
	if err != nil {
		return nil, err
	}
	form := Form{}
	var problems apierror.Validation
	count := 0
	values := make([]string, 0, min(limits.MaxParameters, 1+bytes.Count(body, []byte("&")))) // of all parameters
	for pair := range strings.SplitSeq(string(body), "&") {
		if pair == "" {
			continue
		}
		if count++; count > limits.MaxParameters {
			return nil, apierror.Invalid("the form has too many parameters")
		}
		if name, value, ok := parameter(pair, &problems); ok {
			values = append(values, value)
			if _, repeated := form[name]; repeated {
				form[name] = append(form[name], value)
			} else {
				form[name] = values[len(values)-1 : len(values) : len(values)]
			}
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return form, nil
}

func parameter(pair string, problems *apierror.Validation) (name, value string, ok bool) {
	// Some readers take a semicolon for a separator, others for a character.
	if strings.Contains(pair, ";") {
		problems.Add("", "the form has a semicolon that is not percent-encoded")
		return "", "", false
	}
	rawName, rawValue, _ := strings.Cut(pair, "=")
	name, err := url.QueryUnescape(rawName)
	if err != nil || !text.IsStorable(name) {
		problems.Add("", "the form has a parameter whose name is not valid percent-encoded UTF-8 without NUL")
		return "", "", false
	}
	value, err = url.QueryUnescape(rawValue)
	if err != nil || !text.IsStorable(value) {
		problems.Add(text.Name(name), "is not valid percent-encoded UTF-8 without NUL")
		return "", "", false
	}
	return name, value, true
}

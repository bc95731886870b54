package reference

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/partnerkit/partnerkit/internal/samples"
)

// call is what a page shows of how to call an operation: the zero value for a webhook, which
// the platform calls.
type call struct {
	Samples []samples.Sample
	Try     *try // nil: a browser cannot call it with an access token
}

// try is what the script sends.
type try struct {
	Method     string         `json:"method"`
	Server     string         `json:"server"`
	Path       string         `json:"path"`
	Parameters []tryParameter `json:"parameters,omitempty"`
	Type       string         `json:"type,omitempty"` // the media type of the body
	Body       string         `json:"body,omitempty"`
	Token      string         `json:"token,omitempty"` // stands for the access token in samples; empty: it needs none
}

type tryParameter struct {
	Name     string `json:"name"`
	In       string `json:"in"`
	Example  string `json:"example"`
	Required bool   `json:"required,omitempty"`
}

// call returns how to call an operation at a base URL.
func (d document) call(one operationView, server string, parameters []parameter) call {
	if !strings.HasPrefix(one.Path, "/") {
		return call{}
	}
	c := samples.Call{Group: "in-" + one.ID, Method: one.Method}
	t := try{Method: one.Method, Server: server, Path: one.Path}
	path, query := one.Path, url.Values{}
	for _, p := range parameters {
		value := d.exampleParameter(p)
		if p.In != "cookie" { // a page of another host sends none
			t.Parameters = append(t.Parameters, tryParameter{p.Name, p.In, value, p.Required || p.In == "path"})
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case p.In == "query" && p.Required:
			query.Set(p.Name, value)
		case p.In == "header" && p.Required:
			c.Header = append(c.Header, samples.Header{Name: p.Name, Value: value})
		}
	}
	c.URL = server + path
	if len(query) > 0 {
		c.URL += "?" + query.Encode()
	}
	if len(one.Bodies) > 0 && one.Bodies[0].Example != "" {
		c.Type, c.Body = one.Bodies[0].Type, one.Bodies[0].Example
		t.Type, t.Body = c.Type, c.Body
	}
	authenticate(&c, one.Needs)
	return call{Samples: samples.Calls(c), Try: t.ifPossible(one, d.api)}
}

// authenticate gives a sample a way of authentication that the call has, with words that stand
// for the secrets: a token if there is one, because programs have no session.
func authenticate(c *samples.Call, needs []way) {
	if i := slices.IndexFunc(needs, func(w way) bool { return w.scheme.isBearer() }); i >= 0 {
		c.Token = placeholder(needs[i].Name)
		return
	}
	for _, way := range needs {
		stand, s := placeholder(way.Name), way.scheme
		switch {
		case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
			c.User, c.Password = "CLIENT_ID", "CLIENT_SECRET"
		case s.Type == "apiKey" && s.In == "cookie":
			c.Header = append(c.Header, samples.Header{Name: "Cookie", Value: s.Name + "=" + stand})
		case s.Type == "apiKey" && s.In == "header":
			c.Header = append(c.Header, samples.Header{Name: s.Name, Value: stand})
		default:
			continue
		}
		return
	}
}

func (s securityScheme) isBearer() bool {
	return s.Type == "oauth2" || s.Type == "openIdConnect" || s.Type == "http" && strings.EqualFold(s.Scheme, "bearer")
}

// placeholder returns the word that stands for a secret: YOUR_ACCESS_TOKEN for accessToken.
func placeholder(name string) string {
	var word strings.Builder
	word.WriteString("YOUR_")
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = '_'
		case i > 0 && unicode.IsUpper(r):
			word.WriteByte('_')
		}
		word.WriteRune(unicode.ToUpper(r))
	}
	return word.String()
}

// ifPossible returns the call for a browser; nil if it is not one of the API host, needs
// something other than an access token, or has a body that cannot be written by hand.
func (t try) ifPossible(one operationView, api string) *try {
	isOpen := len(one.Needs) == 0
	for _, way := range one.Needs {
		if way.scheme.Type == "oauth2" {
			t.Token = placeholder(way.Name)
		}
		isOpen = isOpen || way.Name == ""
	}
	if t.Server != api || !isOpen && t.Token == "" || len(one.Bodies) > 0 && t.Body == "" {
		return nil
	}
	return &t
}

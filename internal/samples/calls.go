package samples

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Sample is a program, or a command, in a language.
type Sample struct {
	Group, ID        string // of the elements of a page that show the samples of one call
	Language, Source string
}

// Call is a call of an API.
type Call struct {
	Group          string // names the call on its page; empty: it is the only one
	Method, URL    string
	Token          string // an access token; empty: none
	User, Password string // of Basic authentication; empty: none
	Header         []Header
	Type           string // the media type of the body; empty: JSON
	Body           string // empty: none
}

// Header is a header of a request.
type Header struct{ Name, Value string }

// Calls returns programs that make a call, one for each language. The parts of the call are
// quoted for the language.
func Calls(c Call) []Sample {
	group := cmp.Or(c.Group, "language")
	return []Sample{
		{group, group + "-curl", "curl", c.curl()},
		{group, group + "-javascript", "JavaScript", c.javaScript()},
		{group, group + "-go", "Go", c.golang()},
		{group, group + "-python", "Python", c.python()},
	}
}

const jsonType = "application/json"

func (c Call) mediaType() string { return cmp.Or(c.Type, jsonType) }

// headers returns the headers of the call, without those of Basic authentication.
func (c Call) headers() []Header {
	var all []Header
	if c.Token != "" {
		all = append(all, Header{"Authorization", "Bearer " + c.Token})
	}
	all = append(all, c.Header...)
	if c.Body != "" {
		all = append(all, Header{"Content-Type", c.mediaType()})
	}
	return all
}

func (c Call) curl() string {
	parts := []string{"curl -s"}
	if c.Method != "GET" {
		parts[0] += " -X " + c.Method
	}
	if c.User != "" {
		parts = append(parts, "-u "+shellQuoted(c.User+":"+c.Password))
	}
	for _, h := range c.headers() {
		parts = append(parts, "-H "+shellQuoted(h.Name+": "+h.Value))
	}
	if c.Body != "" {
		parts = append(parts, "-d "+shellQuoted(c.Body))
	}
	return strings.Join(append(parts, shellQuoted(c.URL)), " \\\n  ") + "\n"
}

func (c Call) javaScript() string {
	var options, headers strings.Builder
	if c.Method != "GET" {
		fmt.Fprintf(&options, "  method: %s,\n", scriptQuoted(c.Method))
	}
	if c.User != "" {
		fmt.Fprintf(&headers, "    Authorization: \"Basic \" + btoa(%s),\n", scriptQuoted(c.User+":"+c.Password))
	}
	for _, h := range c.headers() {
		fmt.Fprintf(&headers, "    %s: %s,\n", scriptQuoted(h.Name), scriptQuoted(h.Value))
	}
	if headers.Len() > 0 {
		options.WriteString("  headers: {\n" + headers.String() + "  },\n")
	}
	switch {
	case c.Body == "":
	case c.isJSON():
		options.WriteString("  body: JSON.stringify(" + indented(c.Body) + "),\n")
	default:
		options.WriteString("  body: " + scriptQuoted(c.Body) + ",\n")
	}
	second := ""
	if options.Len() > 0 {
		second = ", {\n" + options.String() + "}"
	}
	return fmt.Sprintf("const response = await fetch(%s%s);\nconsole.log(response.status, await response.text());\n", scriptQuoted(c.URL), second)
}

func (c Call) isJSON() bool {
	return strings.HasSuffix(c.mediaType(), "json") && json.Valid([]byte(c.Body))
}

func (c Call) golang() string {
	body, read, set := "nil", "", ""
	if c.Body != "" {
		body, read = fmt.Sprintf("strings.NewReader(%s)", goQuoted(c.Body)), "\t\"strings\"\n"
	}
	if c.User != "" {
		set = fmt.Sprintf("\treq.SetBasicAuth(%q, %q)\n", c.User, c.Password)
	}
	for _, h := range c.headers() {
		set += fmt.Sprintf("\treq.Header.Set(%q, %q)\n", h.Name, h.Value)
	}
	return fmt.Sprintf(`package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
%s)

func main() {
	req, err := http.NewRequest(%q, %q, %s)
	if err != nil {
		log.Fatal(err)
	}
%s	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Status, string(body))
}
`, read, c.Method, c.URL, body, set)
}

func (c Call) python() string {
	imports, headers, data := "", "", ""
	if c.User != "" {
		imports = "import base64\n"
		headers += fmt.Sprintf("        \"Authorization\": \"Basic \" + base64.b64encode(%s.encode()).decode(),\n", scriptQuoted(c.User+":"+c.Password))
	}
	for _, h := range c.headers() {
		headers += fmt.Sprintf("        %s: %s,\n", scriptQuoted(h.Name), scriptQuoted(h.Value))
	}
	if headers != "" {
		headers = "    headers={\n" + headers + "    },\n"
	}
	if c.Body != "" {
		data = fmt.Sprintf("    data=%s.encode(),\n", scriptQuoted(c.compact()))
	}
	return fmt.Sprintf(`%simport urllib.error
import urllib.request

request = urllib.request.Request(
    %s,
    method=%s,
%s%s)
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    response = error
print(response.status, response.read().decode())
`, imports, scriptQuoted(c.URL), scriptQuoted(c.Method), headers, data)
}

// shellQuoted returns a text as one word of a shell.
func shellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// goQuoted returns a text as a string of Go, raw if that is possible.
func goQuoted(text string) string {
	if strconv.CanBackquote(strings.ReplaceAll(text, "\n", "")) {
		return "`" + text + "`"
	}
	return strconv.Quote(text)
}

// indented returns JSON as it stands in the argument of a call.
func indented(body string) string { return strings.ReplaceAll(strings.TrimSpace(body), "\n", "\n  ") }

// compact returns JSON on one line, and any other body as it is.
func (c Call) compact() string {
	var line bytes.Buffer
	if !c.isJSON() || json.Compact(&line, []byte(c.Body)) != nil {
		return c.Body
	}
	return line.String()
}

// scriptQuoted returns a text as a string of JavaScript and of Python, which is one of JSON.
func scriptQuoted(text string) string {
	var quoted strings.Builder
	e := json.NewEncoder(&quoted)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text can be encoded, and a Builder takes it
	return strings.TrimSuffix(quoted.String(), "\n")
}

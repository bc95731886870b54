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

// Call is a call of an API with an access token.
type Call struct {
	Group              string // names the call on its page; empty: it is the only one
	Method, URL, Token string
	Body               string // JSON; empty: none
}

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

func (c Call) curl() string {
	text := "curl -s"
	if c.Method != "GET" {
		text += " -X " + c.Method
	}
	text += ` -H "Authorization: Bearer ` + c.Token + `"`
	if c.Body != "" {
		text += " -H \"Content-Type: application/json\" \\\n  -d " + shellQuoted(c.Body) + " \\\n "
	}
	return text + " " + shellQuoted(c.URL) + "\n"
}

func (c Call) javaScript() string {
	options, headers := "", fmt.Sprintf("Authorization: %q", "Bearer "+c.Token)
	if c.Method != "GET" {
		options = fmt.Sprintf("  method: %q,\n", c.Method)
	}
	if c.Body != "" {
		headers += `, "Content-Type": "application/json"`
	}
	options += "  headers: { " + headers + " },\n"
	if c.Body != "" {
		options += "  body: JSON.stringify(" + indented(c.Body) + "),\n"
	}
	return fmt.Sprintf("const response = await fetch(%q, {\n%s});\nconsole.log(response.status, await response.text());\n", c.URL, options)
}

func (c Call) golang() string {
	body, read, contentType := "nil", "", ""
	if c.Body != "" {
		body, read = fmt.Sprintf("strings.NewReader(%s)", goQuoted(c.Body)), "\t\"strings\"\n"
		contentType = "\treq.Header.Set(\"Content-Type\", \"application/json\")\n"
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
	req.Header.Set("Authorization", %q)
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
`, read, c.Method, c.URL, body, "Bearer "+c.Token, contentType)
}

func (c Call) python() string {
	headers, data := fmt.Sprintf("%q: %q", "Authorization", "Bearer "+c.Token), ""
	if c.Body != "" {
		headers += `, "Content-Type": "application/json"`
		data = fmt.Sprintf("    data=%q.encode(),\n", compact(c.Body))
	}
	return fmt.Sprintf(`import urllib.error
import urllib.request

request = urllib.request.Request(
    %q,
    method=%q,
    headers={%s},
%s)
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as error:
    response = error
print(response.status, response.read().decode())
`, c.URL, c.Method, headers, data)
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

// compact returns JSON on one line, if it is JSON.
func compact(body string) string {
	var line bytes.Buffer
	if json.Compact(&line, []byte(body)) != nil {
		return body
	}
	return line.String()
}

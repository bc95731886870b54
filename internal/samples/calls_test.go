package samples_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/samples"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// The samples of a call make it, in every language: with the token and the body, and whatever
// quotes the call has.
func TestCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call   samples.Call
		path   string
		header string // what the server must receive beside the path
		body   string
	}{
		"get":  {samples.Call{Method: http.MethodGet, Token: "tok_1"}, "/invoices?a=it's&b=$(id)", "Bearer tok_1  ", ""},
		"open": {samples.Call{Method: http.MethodGet}, "/open", "  ", ""},
		"post": {samples.Call{Method: http.MethodPost, Token: "tok_1", Body: "{\n  \"name\": \"it's `a` $(b) \\\\ ü\"\n}"}, "/customers", "Bearer tok_1  application/json", "{\"name\":\"it's `a` $(b) \\\\ ü\"}"},
		"form": {
			samples.Call{Method: http.MethodPost, User: "id", Password: "it's $(b)", Type: "application/x-www-form-urlencoded", Body: "a=b&c=it%27s", Header: []samples.Header{{Name: "X-Extra", Value: `it's "$(b)"`}}},
			"/token", "Basic aWQ6aXQncyAkKGIp it's \"$(b)\" application/x-www-form-urlencoded", "a=b&c=it%27s",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			received := make(chan string, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				compact := strings.NewReplacer("\n  ", "", "\n", "", ": ", ":").Replace(string(body))
				received <- r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Authorization") + " " + r.Header.Get("X-Extra") + " " + r.Header.Get("Content-Type") + " " + compact
				_, _ = io.WriteString(w, `{"ok": true}`)
			}))
			defer server.Close()
			c.call.URL = server.URL + c.path
			for _, one := range samples.Calls(c.call) {
				t.Run(one.Language, func(t *testing.T) {
					command := runs[one.Language]
					testenv.Programs(t, command[0])
					file := filepath.Join(t.TempDir(), "sample"+command[len(command)-1])
					if err := os.WriteFile(file, []byte(one.Source), 0o600); err != nil {
						t.Fatal(err)
					}
					out, err := exec.CommandContext(t.Context(), command[0], append(command[1:len(command)-1:len(command)-1], file)...).CombinedOutput()
					if err != nil || !strings.Contains(string(out), `{"ok": true}`) {
						t.Fatalf("%v: %s\n%s", err, out, one.Source)
					}
					got := <-received
					if want := c.call.Method + " " + strings.ReplaceAll(c.path, "'", "%27") + " " + c.header + " " + c.body; strings.ReplaceAll(got, "'s&", "%27s&") != want {
						t.Errorf("the server received\n%s\nwant\n%s", got, want)
					}
				})
			}
		})
	}
}

// runs are the programs that run a sample, and the ending of its file.
var runs = map[string][]string{
	"curl": {"bash", ".sh"}, "JavaScript": {"node", ".mjs"}, "Go": {"go", "run", ".go"}, "Python": {"python3", ".py"},
}

package pages_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console/pages"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// All of a request is text to the shell, and to curl, which otherwise reads files for values that
// begin with @.
func TestCurlSendsAnyRequest(t *testing.T) {
	t.Parallel()
	testenv.Programs(t, "sh", "curl")
	type request struct{ uri, quotes, body string }
	arrived := make(chan request, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		arrived <- request{r.RequestURI, r.Header.Get("X-Quotes"), string(text)}
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("the content of a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	const header = `it's "quoted" $(id) \ ; @` + "`x`"
	for _, want := range []struct{ uri, body string }{
		{"/hook?id=[1-5]", "{}"},
		{"/hook?filter[name]=x", "@" + file},
		{"/hook?a=$(id)&b=`id`&c=$((1))", "@-"},
		{"//a//{b}/%2e%2e/%5B?%5B1-5%5D", "first\nsecond\r\nthird\n\n"},
		{"/a|b^c!!~?d\\e", `it's "$HOME" $(id) ` + "`id` \\ \\n %s !!"},
		{"/hook?", ""},
		{"/hook", "-x"},
		{"/", "<" + file},
		{"/hook?é=é", strings.Repeat("@'a\n", 60_000)},
	} {
		req, err := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(want.body))
		if err != nil {
			t.Fatal(err)
		}
		if req.URL, err = req.URL.Parse(server.URL + want.uri); err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Quotes", header)
		command, err := pages.Curl(req)
		if err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), "sh")
		run.Stdin = strings.NewReader(command)
		run.Env = append(os.Environ(), "NO_PROXY=*", "CURL_HOME="+t.TempDir())
		if out, err := run.CombinedOutput(); err != nil || len(arrived) != 1 {
			t.Fatalf("%.2000s: %v, %d requests: %s", command, err, len(arrived), out)
		}
		if sent := (request{req.URL.RequestURI(), header, want.body}); sent != <-arrived {
			t.Errorf("%.2000s does not send %.2000q", command, sent)
		}
	}
}

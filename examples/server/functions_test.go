package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// CON-06: the server checks uploaded functions, and survives the worst of them.
func TestFunctionUpload_CON06(t *testing.T) {
	t.Parallel()
	r := start(t)
	developer := r.session("usr_cleo", "biz_papertrail_sandbox")
	for _, test := range []struct {
		source, why, code string
		status            int
	}{
		{"export const handler = event => event", "", "", http.StatusCreated},
		{"exports.handler = () => 1", "there is no export named handler", "FUNCTION_SOURCE_NO_HANDLER", http.StatusBadRequest},
		{"export default (a: string) => a", "line 1, column 18", "FUNCTION_SOURCE_NO_HANDLER", http.StatusBadRequest},
		{`{}/"/;x=` + strings.Repeat("!", 65510) + "a;export default 1", "nested too deeply", "FUNCTION_SOURCE_TOO_COMPLEX", http.StatusBadRequest},
	} {
		body, err := json.Marshal(map[string]string{"name": "total", "source": test.source})
		if err != nil {
			t.Fatal(err)
		}
		got := r.console(developer, http.MethodPost, "apps/app_beta/functions", string(body)).want(t, test.status)
		if !strings.Contains(got.body, test.why) || !strings.Contains(got.body, test.code) {
			t.Errorf("%.40s: %s", test.source, got.body)
		}
	}
}

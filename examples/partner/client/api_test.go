package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/examples/partner/client"
)

// Errors of any form are read. Callers branch on the code.
func TestErrors(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]client.Error{
		`{"statusCode":400,"message":"no","error":"Bad Request","code":"UNKNOWN_CURSOR"}`: {Status: 400, Code: "UNKNOWN_CURSOR", Messages: []string{"no"}},
		`{"statusCode":400,"message":["a","b"],"error":"Bad Request"}`:                    {Status: 400, Messages: []string{"a", "b"}},
		`<html>gateway</html>`: {Status: 400},
		`{"message":7}`:        {Status: 400},
		``:                     {Status: 400},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, body)
		}))
		var got *client.Error
		if err := (client.API{URL: server.URL, HTTP: server.Client()}).Do(t.Context(), profile); !errors.As(err, &got) {
			t.Errorf("%s: %v", body, err)
		} else if diff := cmp.Diff(want, *got); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
		server.Close()
	}
}

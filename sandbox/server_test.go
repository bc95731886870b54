package sandbox

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestSecured(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{"http://localhost:8080": "", "https://api.example.com": "max-age=31536000"} {
		w := httptest.NewRecorder()
		secured(url, http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		if got := w.Header().Get("Strict-Transport-Security"); got != want || w.Code != http.StatusNotFound {
			t.Errorf("%s: %d, %q", url, w.Code, got)
		}
	}
}

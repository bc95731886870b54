package main

import (
	"net/http"
	"strings"
	"testing"
)

// Prometheus can read the library's OpenTelemetry metrics, under Prometheus names and with
// labels whose values no client can choose freely.
func TestMetricsOfTheLibrary(t *testing.T) {
	t.Parallel()
	r := start(t, "-metrics", "127.0.0.1:0")
	token := r.connect(r.session("usr_ada", "biz_bakery"), "biz_bakery", "profile:read")["access_token"].(string)
	call := request(t, http.MethodGet, r.api+"/profile", "", "")
	call.Header.Set("Authorization", "Bearer "+token)
	do(t, http.DefaultClient, call).want(t, http.StatusOK)
	r.dev("clock", `{"advanceSeconds": 0}`).want(t, http.StatusOK) // app.installed was tried

	body := get(t, http.DefaultClient, r.metrics).want(t, http.StatusOK).body
	for _, want := range []string{
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_code="200",http_route="/profile",network_protocol_version="1.1",url_scheme="http"} 1`,
		"partnerkit_webhooks_queued_total 1",
		"partnerkit_webhooks_oldest_due_age_seconds ",
		"partnerkit_analytics_buckets ",
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	for _, secret := range []string{token, "usr_ada", "biz_bakery"} {
		if strings.Contains(body, secret) {
			t.Errorf("%s is a label", secret)
		}
	}
}

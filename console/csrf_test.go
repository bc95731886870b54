package console_test

import (
	"net/http"
	"testing"
)

// CON-07: writes come from a page of ours, or from no page.
func TestOrigins_CON07(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	tests := []struct {
		name   string
		set    http.Header
		status int
	}{
		{"no browser", nil, 200},
		{"a page of the API host", http.Header{"Origin": {apiOrigin}}, 200},
		{"a page of the app host", http.Header{"Origin": {appOrigin}}, 200},
		{"the same, in a browser of today", http.Header{"Origin": {appOrigin}, "Sec-Fetch-Site": {"same-site"}}, 200},
		{"of the same origin", http.Header{"Origin": {apiOrigin}, "Sec-Fetch-Site": {"same-origin"}}, 200},
		{"a form without a referrer", http.Header{"Origin": {"null"}, "Sec-Fetch-Site": {"same-origin"}}, 200},
		{"the address bar", http.Header{"Sec-Fetch-Site": {"none"}}, 200},
		{"another site", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"another site, in a browser of today", http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}, 403},
		{"another site without an origin", http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{"a neighbour", http.Header{"Origin": {"https://blog.example.com"}, "Sec-Fetch-Site": {"same-site"}}, 403},
		{"nowhere", http.Header{"Origin": {"null"}}, 403},
		{"our host over http", http.Header{"Origin": {"http://app.example.com"}}, 403},
		{"our host on another port", http.Header{"Origin": {"https://app.example.com:8443"}}, 403},
		{"our name as a prefix", http.Header{"Origin": {"https://app.example.com.evil.example"}}, 403},
	}
	for _, test := range tests {
		got := d.send(call{what: "PATCH " + path, by: ann, body: `{"name": "` + test.name + `"}`, set: test.set}).want(test.status)
		name := d.ann("GET " + path).want(http.StatusOK).text("name")
		if (name == test.name) != (test.status == 200) {
			t.Errorf("%s: %d, and the name is %q", test.name, got.Status, name)
		}
	}
	// Reading changes nothing, so that it may come from anywhere.
	d.send(call{what: "GET " + path, by: ann, set: http.Header{"Sec-Fetch-Site": {"cross-site"}}}).want(http.StatusOK)
}

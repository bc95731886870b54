package document_test

import (
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/internal/outbound"
	"github.com/partnerkit/partnerkit/oauthserver/internal/document"
)

func TestIsURL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url              string
		public, loopback bool // under the two policies
	}{
		{"https://tool.example/client.json", true, true},
		{"https://tool.example:8443/client.json", true, true},
		{"https://tool.example/a/b/", true, true},
		{"https://tool.example/client.json?v=1", true, true},
		{"https://tool.example/a%20b", true, true},
		{"https://tool.example/a..b/...", true, true},
		{"https://tool.example/.well-known/client", true, true},
		{"https://93.184.216.34/client", true, true},
		{"", false, false},
		{"cli_06g5plpa01o015r0g79mgnmm4c", false, false},
		{"https://tool.example", false, false},
		{"https://tool.example/", false, false},
		{"https://tool.example?x=/client", false, false},
		{"HTTPS://tool.example/client", false, false},
		{" https://tool.example/client", false, false},
		{"https:tool.example/client", false, false},
		{"https:///client", false, false},
		{"//tool.example/client", false, false},
		{"http://tool.example/client", false, false},
		{"ftp://tool.example/client", false, false},
		{"javascript:alert(1)//x", false, false},
		{"https://tool.example/client#", false, false},
		{"https://tool.example/client#top", false, false},
		{"https://user@tool.example/client", false, false},
		{"https://user:password@tool.example/client", false, false},
		{"https://@tool.example/client", false, false},
		{"https://tool.example/.", false, false},
		{"https://tool.example/..", false, false},
		{"https://tool.example/a/../client", false, false},
		{"https://tool.example/./client", false, false},
		{"https://tool.example/a/%2e%2e/client", false, false},
		{"https://tool.example/a/%2E./client", false, false},
		{"https://tool.example/%2e/client", false, false},
		{"https://tool.example/a%2f..%2fclient", false, false},
		{"https://tool.example/a%5c..%5cclient", false, false},
		{`https://tool.example/a\..\client`, false, false},
		{"https://tool.example/a b", false, false},
		{"https://tool.example/a\x00b", false, false},
		{"https://tool.example/\u00e4", false, false},
		{"https://tool.example/<script>", false, false},
		{`https://tool.example/a?"x"`, false, false},
		{"https://tool.example/%zz", false, false},
		{"https://tool.example:0/client", false, false},
		{"https://tool.example:/client", false, false},
		{"https://tool.example/" + strings.Repeat("a", 2048), false, false},
		// Addresses, by the rules of DLV-07.
		{"https://10.0.0.1/client", false, false},
		{"https://169.254.169.254/client", false, false},
		{"https://[fd00:ec2::254]/client", false, false},
		{"https://[::ffff:10.0.0.1]/client", false, false},
		{"https://0.0.0.0/client", false, false},
		{"https://2130706433/client", false, false},
		{"https://0x7f.1/client", false, false},
		{"https://127.1/client", false, false},
		{"https://127.0.0.1/client", false, true},
		{"https://localhost:1234/client", false, true},
		{"https://LOCALHOST./client", false, true},
		{"https://[::1]/client", false, true},
		{"http://127.0.0.1:1234/client", false, true},
		{"http://localhost/client", false, true},
		{"http://10.0.0.1/client", false, false},
	}
	for _, test := range tests {
		t.Run("CIMD-01 "+test.url, func(t *testing.T) {
			t.Parallel()
			if got := document.IsURL(test.url, outbound.Policy{}); got != test.public {
				t.Errorf("%t", got)
			}
			if got := document.IsURL(test.url, outbound.Policy{AllowLoopback: true}); got != test.loopback {
				t.Errorf("loopback allowed: %t", got)
			}
		})
	}
}

package partnerkit_test

import (
	"encoding/json"
	"fmt"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// Problem details (RFC 9457) whose type is the address of a page about the code.
func ExampleConfig_errorShape() {
	cfg := partnerkit.Config{
		ErrorShape: func(v apierror.View) (contentType string, body any) {
			problem := map[string]any{"status": v.Status, "title": v.Problems[0].Text}
			if v.Code != "" {
				problem["type"] = "https://developers.example.com/errors#" + string(v.Code)
			}
			return "application/problem+json", problem
		},
	}
	contentType, body := cfg.ErrorShape(apierror.View{Status: 403, Code: codes.EndpointNotExposed.Code, Problems: []apierror.Problem{{Text: "endpoint not exposed"}}})
	shown, _ := json.Marshal(body)
	fmt.Println(contentType, string(shown))
	// Output: application/problem+json {"status":403,"title":"endpoint not exposed","type":"https://developers.example.com/errors#ENDPOINT_NOT_EXPOSED"}
}

package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
)

// CON-15: texts that people see have no character that cannot be seen or that turns the text
// around it; each field is named.
func TestTexts_CON15(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(extensibleApp)
	for _, test := range []struct{ call, body, member string }{
		{"POST /developer/apps", `{"name": %s, "type": "CONFIDENTIAL", "redirectUris": ["https://partner.example/cb"], "scopes": ["invoices:read"]}`, "name"},
		{"PATCH " + path, `{"name": %s}`, "name"},
		{"POST " + path + "/listing", `{"slug": "sync", "name": %s}`, "name"},
		{"POST " + path + "/listing", `{"slug": "sync", "summary": %s}`, "summary"},
		{"POST " + path + "/listing", `{"slug": "sync", "description": %s}`, "description"},
		{"POST " + path + "/listing", `{"slug": "sync", "publisher": %s}`, "publisher"},
		{"POST " + path + "/extensions", `{"resourceType": "invoice", "path": "/", "label": %s}`, "label"},
		{"POST " + path + "/functions", `{"name": %s, "source": "export function handler() {}"}`, "name"},
		{"POST " + path + "/app-data-fields", `{"resourceType": "invoice", "key": "k", "type": "TEXT", "label": %s}`, "label"},
		{"POST /developer/tokens", `{"name": %s}`, "name"},
	} {
		t.Run("CON-15 "+test.call+" "+test.member, func(t *testing.T) {
			for _, r := range "\x1b\u0085\u202a\u202e\u2066\u2069\u200b\u2060\ufeff\u00ad" {
				d.ann(test.call, fmt.Sprintf(test.body, quoted("Sync"+string(r)+"Bank"))).
					wantInvalid(fmt.Sprintf("%s must not have the character %U, which cannot be seen", test.member, r))
			}
			lines := d.ann(test.call, fmt.Sprintf(test.body, quoted("Sync\nBank")))
			if test.member == "description" {
				lines.want(http.StatusCreated)
				d.ann("PUT "+path+"/listing", `{"slug": "sync", "description": "one\r\ntwo"}`).want(http.StatusOK)
			} else {
				lines.wantInvalid(test.member + " must not have the character U+000A, which cannot be seen")
			}
		})
	}
	for _, name := range []string{"می\u200cخواهم", "\U0001f469\u200d\U0001f4bb", "חשבונות\u200e (ILS)", "\u200fA\u061c", "\u2764\ufe0f"} {
		d.ann("PATCH "+path, `{"name": `+quoted(name)+`}`).want(http.StatusOK)
		d.ann("PUT "+path+"/listing", `{"slug": "sync", "name": `+quoted(name)+`, "publisher": `+quoted(name)+`, "summary": `+quoted(name)+`, "description": `+quoted(name+"\n"+name)+`}`).want(http.StatusOK)
	}
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // never fails for a string
	return string(b)
}

package credentials_test

import (
	"encoding/base64"
	"net/http/httptest"
	"testing"

	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/oauthserver/internal/credentials"
)

func TestRead(t *testing.T) {
	t.Parallel()
	basic := func(text string) []string {
		return []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(text))}
	}
	type form = bodies.Form
	for name, test := range map[string]struct {
		authorization      []string
		form               form
		query              string
		id, secret         string
		malformed, problem bool
	}{
		"TOK-01 nothing":                  {},
		"TOK-01 Basic":                    {authorization: basic("cli_1:s"), id: "cli_1", secret: "s"},
		"TOK-01 Basic, form-encoded":      {authorization: basic("cli%201:a%3Ab+c"), id: "cli 1", secret: "a:b c"},
		"TOK-01 Basic, empty secret":      {authorization: basic("cli_1:"), id: "cli_1"},
		"TOK-01 Basic, no colon":          {authorization: basic("cli_1"), malformed: true},
		"TOK-01 Basic, no id":             {authorization: basic(":s"), malformed: true},
		"TOK-01 Basic, NUL":               {authorization: basic("cli_1:%00"), malformed: true},
		"TOK-01 Basic, bad escape":        {authorization: basic("cli_1:%zz"), malformed: true},
		"TOK-01 Basic, not base64":        {authorization: []string{"Basic ?"}, malformed: true},
		"TOK-01 Basic twice":              {authorization: append(basic("cli_1:s"), basic("cli_1:s")...), malformed: true},
		"TOK-01 another scheme":           {authorization: []string{"Bearer x"}},
		"TOK-01 form":                     {form: form{"client_id": {"cli_1"}, "client_secret": {"s"}}, id: "cli_1", secret: "s"},
		"TOK-01 Basic and the same id":    {authorization: basic("cli_1:s"), form: form{"client_id": {"cli_1"}}, id: "cli_1", secret: "s"},
		"TOK-01 Basic and another id":     {authorization: basic("cli_1:s"), form: form{"client_id": {"cli_2"}}, id: "cli_1", secret: "s", problem: true},
		"TOK-01 two secrets":              {authorization: basic("cli_1:s"), form: form{"client_secret": {"s"}}, id: "cli_1", secret: "s", problem: true},
		"TOK-01 credentials in the query": {query: "?client_secret=s", form: form{"client_id": {"cli_1"}}, id: "cli_1", problem: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("POST", "/oauth/token"+test.query, nil)
			r.Header["Authorization"] = test.authorization
			got := credentials.Read(r, test.form)
			if got.ClientID != test.id || got.Secret.Reveal() != test.secret || got.Malformed != test.malformed || (got.Problem != nil) != test.problem {
				t.Errorf("%+v with the secret %q", got, got.Secret.Reveal())
			}
			if absent := test.id == "" && !test.malformed; got.IsAbsent() != absent {
				t.Errorf("absent: %v", got.IsAbsent())
			}
		})
	}
}

package pages

import (
	"net/url"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/samples"
	"github.com/partnerkit/partnerkit/partner"
)

// quickStart is the commands of an app's first connection. None of them contains a secret:
// the shell has it in a variable.
type quickStart struct {
	IsOpen    bool // no business has connected the app
	Lacks     bool // a redirect URI or a scope
	Redirect  string
	Authorize string // prints the URL of the consent page
	Exchange  string
	Call      string // empty: no route is known
	Variables string // that the developer sets before Exchange
	Samples   []sample
}

// sample verifies the signature of a webhook in a language.
type sample struct{ Language, Source string }

var verification = []sample{{"Go", samples.Go}, {"Node.js", samples.Node}, {"Python", samples.Python}}

func (v *visit) quickStart() (quickStart, error) {
	if v.isReadOnly() {
		return quickStart{}, nil
	}
	connected, err := v.cfg.Console.Installations(v.r.Context(), v.by, v.app.ID, console.Page{Limit: 1})
	if err != nil {
		return quickStart{}, err
	}
	q := quickStart{IsOpen: len(connected.Items) == 0, Samples: verification}
	scopes := v.app.Scopes.Names()
	if len(v.app.RedirectURIs) == 0 || len(scopes) == 0 {
		q.Lacks = true
		return q, nil
	}
	api, app := v.cfg.Console.Origins()
	q.Redirect = v.app.RedirectURIs[0]
	q.Authorize = authorizeCommand(app, v.app.ClientID, q.Redirect, scopes)
	credentials, variables, err := v.credentials()
	if err != nil {
		return quickStart{}, err
	}
	q.Exchange, q.Variables = exchangeCommand(api, credentials, q.Redirect), variables
	if i := slices.IndexFunc(v.cfg.Reads, func(r Read) bool { return slices.Contains(scopes, r.Scope) }); i >= 0 {
		q.Call = `curl -s -H "Authorization: Bearer $ACCESS_TOKEN" ` + api + v.cfg.Reads[i].Path
	}
	return q, nil
}

// authorizeCommand prints the URL of the consent page. In an escaped value no character means
// anything to a shell.
func authorizeCommand(app, clientID, redirect string, scopes []string) string {
	return `VERIFIER=$(openssl rand -base64 48 | tr '+/' '-_')
CHALLENGE=$(printf %s "$VERIFIER" | openssl dgst -sha256 -binary | openssl base64 | tr '+/' '-_' | tr -d '=')
STATE=$(openssl rand -hex 16)
echo "` + app + `/oauth/authorize?response_type=code&client_id=` + url.QueryEscape(clientID) + `&redirect_uri=` + url.QueryEscape(redirect) +
		`&scope=` + url.QueryEscape(strings.Join(scopes, " ")) + `&state=$STATE&code_challenge=$CHALLENGE&code_challenge_method=S256"`
}

func exchangeCommand(api, credentials, redirect string) string {
	return `curl -s ` + api + `/oauth/token ` + credentials + ` \
  -d grant_type=authorization_code -d code="$CODE" \
  -d redirect_uri=` + url.QueryEscape(redirect) + ` -d code_verifier="$VERIFIER"`
}

// credentials are the options of curl that authenticate the app, and the variables that the
// developer sets for the exchange. A confidential app without a secret signs with its own key.
func (v *visit) credentials() (options, variables string, err error) {
	id := url.QueryEscape(v.app.ClientID)
	if v.app.Type == partner.Public {
		return "-d client_id=" + id, "CODE", nil
	}
	secrets, err := v.cfg.Console.Secrets(v.r.Context(), v.by, v.app.ID)
	if err != nil {
		return "", "", err
	}
	if len(secrets) == 0 {
		return `-d client_id=` + id + ` \
  -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
  -d client_assertion="$CLIENT_ASSERTION"`, "CODE and CLIENT_ASSERTION", nil
	}
	return "-u " + id + `:"$CLIENT_SECRET"`, "CODE and CLIENT_SECRET", nil
}

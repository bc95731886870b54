package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/internal/seed"
	"github.com/partnerkit/partnerkit/partner"
)

// sayReady writes the one line that programs wait for.
func sayReady(s *server, stdout io.Writer) error {
	line, err := json.Marshal(struct {
		Ready   bool   `json:"ready"`
		API     string `json:"api"`
		App     string `json:"app"`
		Metrics string `json:"metrics,omitempty"`
	}{true, s.apiURL, s.appURL, s.metricsURL})
	if err != nil {
		return err
	}
	_, err = stdout.Write(append(line, '\n'))
	return err
}

// greet tells a person where things are and what to try first, and shows sign-ins
// and secrets where there are some to show.
func greet(s *server, shown *seed.Data, stderr io.Writer) error {
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("\n  API host  %s", s.apiURL)
	say("  app host  %s", s.appURL)
	say("  console   %s/developer", s.appURL)
	say("  operator  %s/operator", s.appURL)
	if s.metricsURL != "" {
		say("  metrics   %s", s.metricsURL)
	}
	if s.isDev {
		say("  development mode: /dev on the API host, %s%s for people, the clock can be moved, registration is open", s.appURL, pagesPrefix)
	}
	if shown != nil {
		greetWith(say, s, *shown)
	}
	_, err := io.WriteString(stderr, text.String()+"\n")
	return err
}

// greetWith shows secrets of the demo data and, in development mode, of any data. Those of a
// host's own fixtures must not get into its logs.
func greetWith(say func(string, ...any), s *server, data seed.Data) {
	if data.IsDemo() {
		say("\n  Sign in at %s/login:", s.appURL)
		for _, u := range data.Users {
			name := u.Name
			if u.Operator {
				name += ", operator"
			}
			say("    %-20s %-16s %s", u.Email, u.Password, name)
		}
	}
	isShown := data.IsDemo() || s.isDev
	say("\n  Apps:")
	var device, web *seed.App
	for i, a := range data.Apps {
		review := "reviewed"
		if !a.Reviewed {
			review = "not reviewed"
		}
		secret := string(a.ClientSecret)
		switch {
		case secret == "":
			secret = "no secret"
		case !isShown:
			secret = "not shown"
		}
		say("    %-20s %-32s %s, %s, %s", a.ClientID, secret, a.Name, a.Type, review)
		if device == nil && a.Type == string(partner.Confidential) {
			device = &data.Apps[i]
		}
		if web == nil && len(a.RedirectURIs) > 0 && a.Type == string(partner.Confidential) {
			web = &data.Apps[i]
		}
	}
	if device != nil {
		say("\n  Try this, and open the verification_uri_complete that it answers:")
		user := device.ClientID // curl asks for the secret
		if isShown {
			user += ":" + string(device.ClientSecret)
		}
		say("    curl -u %s -d '' %s/oauth/device/authorize", user, s.apiURL)
	}
	if web != nil {
		query := url.Values{
			"response_type": {"code"}, "client_id": {web.ClientID}, "redirect_uri": {web.RedirectURIs[0]},
			"scope": {web.Scopes.String()}, "state": {"try"},
		}
		say("  or connect an app in the browser:")
		say("    %s/oauth/authorize?%s", s.appURL, query.Encode())
	}
	if s.isDev && data.IsDemo() {
		say("  or watch a partner's app do it all:")
		say("    go run ./examples/partner -api %s", s.apiURL)
	}
}

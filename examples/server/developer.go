package main

import (
	"net/http"

	consolepages "github.com/partnerkit/partnerkit/console/pages"
)

// consolePages puts the console's pages beside ours.
func (s *server) consolePages() consolepages.Config {
	cfg := consolepages.Config{Links: mainLinks, Person: s.personName, SignOut: "/logout"}
	if s.dev {
		cfg.MoveClock = s.moveClock
	}
	return cfg
}

// mainLinks lead to our own pages.
var mainLinks = []consolepages.Link{{Text: "Connected apps", Href: "/settings/apps"}, {Text: "Businesses", Href: "/businesses"}, {Text: "API", Href: "/openapi"}}

// personName is who is signed in, for headers of pages.
func (s *server) personName(r *http.Request) string {
	p, ok, err := s.person(r)
	if err != nil || !ok {
		return ""
	}
	return p.user.Name
}

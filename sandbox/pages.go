package sandbox

import (
	"embed"
	"net/http"
	"net/url"
	"strings"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/internal/seed"
	pagesite "github.com/partnerkit/partnerkit/internal/site"
	"github.com/partnerkit/partnerkit/theme"
)

//go:embed templates
var templateFiles embed.FS

// pagesPrefix is where the sandbox's own pages are on the app host.
const pagesPrefix = "/sandbox"

// The pages of the sandbox's own people.
const (
	signInPath  = pagesPrefix + "/sign-in"
	signOutPath = pagesPrefix + "/sign-out"
	switchPath  = pagesPrefix + "/theme"
)

// addPages puts the pages of the API description and of development in front of the host's own
// pages.
func (s *server) addPages() (err error) {
	s.pages, err = pagesite.New(pagesite.Config{
		Templates: templateFiles, Service: s.cfg.Service, Prefix: pagesPrefix, Name: "Development", Notices: notices,
		Person: s.personName, Origins: []string{s.apiURL, s.appURL},
		Theme: s.cfg.Theme, ThemeFor: s.cfg.ThemeFor, Logger: s.log,
	})
	if err != nil {
		return err
	}
	pages := map[string]apierror.Handler{
		"GET " + referencePath:              s.showDescription,
		"GET " + referencePath + "/{topic}": s.showDescription,
		"GET " + referencePath + "/assets/": s.showDescription,
	}
	if s.isDev {
		pages["GET "+pagesPrefix] = s.showDevelopment
		pages["POST "+pagesPrefix+"/clock"] = s.moveClockOnPage
		pages["POST "+pagesPrefix+"/faults"] = s.addFaultOnPage
		pages["POST "+pagesPrefix+"/faults/remove"] = s.removeFaultsOnPage
		pages["GET "+pagesPrefix+"/webhooks/{clientId}"] = s.showReceived
		pages["POST "+pagesPrefix+"/webhooks/{clientId}"] = s.receive
		pages["POST "+pagesPrefix+"/webhooks/{clientId}/again"] = s.replay
	}
	if s.own != nil {
		pages["GET "+signInPath] = s.showSignIn
		pages["POST "+signInPath] = s.signIn
		pages["POST "+signOutPath] = s.signOut
		pages["POST "+switchPath] = theme.ServeSwitch
		pages["GET /{$}"] = func(w http.ResponseWriter, r *http.Request) error {
			http.Redirect(w, r, pagesPrefix, http.StatusSeeOther)
			return nil
		}
	}
	for pattern, page := range pages {
		s.routes.pages.Handle(pattern, s.pages.Page(page))
	}
	s.routes.pages.patterns = append(s.routes.pages.patterns, "GET "+pagesPrefix+"/assets/")
	own, others := s.pages.Handler(&s.routes.pages.mux), s.cfg.AppRoutes
	s.cfg.AppRoutes = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if _, pattern := s.routes.pages.mux.Handler(r); others == nil || pattern != "" || "/"+first == referencePath || "/"+first == pagesPrefix {
			own.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
	return nil
}

// showDescription shows the API description to people.
func (s *server) showDescription(w http.ResponseWriter, r *http.Request) error {
	return s.spec.show(w, r)
}

// notices are shown after a change.
var notices = map[string]string{
	"clock-moved": "The clock was moved.", "fault-added": "The fault was added.", "faults-removed": "All faults were removed.", "sent-again": "The webhook was sent again.",
}

// personName returns the name of the person who is signed in; empty if there is none.
func (s *server) personName(r *http.Request) string {
	session, ok, err := s.cfg.Host.Session(r)
	if err != nil || !ok {
		return ""
	}
	if session.DisplayName == "" {
		return session.UserID
	}
	return session.DisplayName
}

// frame returns the frame of a page that is not below the prefix.
func (s *server) frame(r *http.Request, title string) look.Frame {
	f := s.pages.Frame(r, title, s.personName(r))
	f.Home = "/"
	if f.Person == "" {
		f.Links, f.SignOut = nil, ""
	}
	for i := range f.Links {
		f.Links[i].Current = f.Links[i].Href == r.URL.Path
	}
	return f
}

// signInView is the page on which a person of the fixtures is chosen.
type signInView struct {
	ReturnTo string
	People   []personView
}

type personView struct {
	ID, Name, Email string
	IsOperator      bool
	Businesses      []seed.Business
}

func (s *server) showSignIn(w http.ResponseWriter, r *http.Request) error {
	view := signInView{ReturnTo: ownPath(r.URL.Query().Get("return_to"))}
	s.own.mu.Lock()
	for _, u := range s.own.data.Users {
		one := personView{ID: u.ID, Name: u.Name, Email: u.Email, IsOperator: u.Operator}
		for _, b := range s.own.data.Businesses {
			if s.own.member(b.ID, u.ID) != nil {
				one.Businesses = append(one.Businesses, b)
			}
		}
		view.People = append(view.People, one)
	}
	s.own.mu.Unlock()
	return s.pages.Show(w, http.StatusOK, "signin", look.Page{Frame: s.frame(r, "Sign in"), Data: view})
}

// signIn signs a person of the fixtures in, without a password: the sandbox is for this
// machine.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) error {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return err
	}
	userID, businessID, _ := strings.Cut(form.Get("as"), " ")
	if err := s.checkUser(r.Context(), userID); err != nil {
		return err
	}
	if businessID != "" {
		isMember, err := s.own.IsMember(r.Context(), businessID, userID)
		if err != nil {
			return err
		}
		if !isMember {
			return s.noMember(r.Context(), businessID, userID)
		}
	}
	cookie, err := s.own.StartSession(r, userID, businessID)
	if err != nil {
		return err
	}
	http.SetCookie(w, cookie)
	http.Redirect(w, r, ownPath(form.Get("return_to")), http.StatusSeeOther)
	return nil
}

func (s *server) signOut(w http.ResponseWriter, r *http.Request) error {
	http.SetCookie(w, s.own.endSession(r))
	http.Redirect(w, r, signInPath, http.StatusSeeOther)
	return nil
}

// ownPath returns the path and query of an address on this host; the page of development for
// every other address.
func ownPath(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(address, "\\\t\r\n") {
		return pagesPrefix
	}
	return u.RequestURI()
}

package sandbox

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/bodies"
	"github.com/partnerkit/partnerkit/internal/look"
)

// clockSteps are how far the page moves the clock: the pauses between attempts of a webhook,
// and what ends tokens.
var clockSteps = []clockStep{
	{60, "1 min"}, {5 * 60, "5 min"}, {30 * 60, "30 min"}, {3600, "1 h"}, {2 * 3600, "2 h"}, {6 * 3600, "6 h"}, {24 * 3600, "1 day"}, {31 * 24 * 3600, "31 days"},
}

type clockStep struct {
	Seconds int64
	Text    string
}

// developmentView is the page of development: what /dev has, for people.
type developmentView struct {
	Now           time.Time
	Steps         []clockStep
	Faults        []fault
	Routes        []string // that can have faults
	Fault         bodies.Form
	Viewers       []viewerLink
	Notifications []notificationView
}

func (s *server) showDevelopment(w http.ResponseWriter, r *http.Request) error {
	return s.showDevelopmentAgain(w, r, nil, nil)
}

// showDevelopmentAgain shows the page with the form of a fault that was not added.
func (s *server) showDevelopmentAgain(w http.ResponseWriter, r *http.Request, form bodies.Form, problem error) error {
	view := developmentView{
		Now: s.clock.Now(), Steps: clockSteps, Faults: s.faults.list(), Routes: append([]string{webhookRoute}, s.faultRoutes()...),
		Fault: form, Notifications: s.told.newest(),
	}
	var err error
	if view.Viewers, err = s.viewerLinks(r.Context()); err != nil {
		return err
	}
	page := look.Page{Frame: s.frame(r, "Development"), Data: view}
	if problem != nil {
		return s.pages.ShowAgain(w, problem, "development", page)
	}
	return s.pages.Show(w, http.StatusOK, "development", page)
}

func (s *server) moveClockOnPage(w http.ResponseWriter, r *http.Request) error {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(form.Get("seconds"), 10, 64)
	if err != nil || seconds < 0 || seconds > int64(maxAhead/time.Second) {
		return apierror.InvalidAt("seconds", "must be a number of seconds, 0 or more")
	}
	if err := s.moveClock(r.Context(), time.Duration(seconds)*time.Second); err != nil {
		return err
	}
	return s.pages.Redirect(w, r, "", "clock-moved")
}

// addFaultOnPage reads the same members as POST /dev/faults.
func (s *server) addFaultOnPage(w http.ResponseWriter, r *http.Request) error {
	form, err := bodies.DecodeForm(r, bodies.FormLimits{})
	if err != nil {
		return err
	}
	in, err := faultOfForm(form)
	if err == nil {
		_, err = s.addFault(in)
	}
	if err != nil {
		return s.showDevelopmentAgain(w, r, form, err)
	}
	return s.pages.Redirect(w, r, "", "fault-added")
}

// faultOfForm reads numbers of a form; an empty field is an absent member.
func faultOfForm(form bodies.Form) (newFault, error) {
	in := newFault{Route: strings.TrimSpace(form.Get("route")), LoseResponse: form.Get("lose_response") != ""}
	var invalid apierror.Validation
	number := func(name, member string) *int {
		text := strings.TrimSpace(form.Get(name))
		if text == "" {
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			invalid.Add(member, "must be a number")
		}
		return &n
	}
	in.Times, in.Status = number("times", "times"), number("status", "status")
	if delay := number("delay_ms", "delayMs"); delay != nil {
		in.DelayMs = *delay
	}
	return in, invalid.Err()
}

func (s *server) removeFaultsOnPage(w http.ResponseWriter, r *http.Request) error {
	s.faults.clear()
	return s.pages.Redirect(w, r, "", "faults-removed")
}

package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

// newFault is a fault as it is asked for.
type newFault struct {
	Route        string `json:"route"`
	Times        *int   `json:"times"`
	Status       *int   `json:"status"`
	DelayMs      int    `json:"delayMs"`
	LoseResponse bool   `json:"loseResponse"`
}

func (s *server) devAddFault(w http.ResponseWriter, r *http.Request) error {
	var in newFault
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	id, err := s.addFault(in)
	if err != nil {
		return err
	}
	return apierror.WriteJSON(w, http.StatusCreated, map[string]string{"id": id})
}

// addFault checks a fault and adds it.
func (s *server) addFault(in newFault) (faultID string, err error) {
	one := fault{ID: id.New(id.Fault, s.clock.Now()), Route: in.Route, Times: 1, DelayMs: in.DelayMs, LoseResponse: in.LoseResponse}
	var invalid apierror.Validation
	if one.calls = s.callsOf(in.Route); one.calls == nil && in.Route != webhookRoute {
		invalid.Add("route", `must be "webhook" or a route of this server, such as "POST /oauth/token" or "GET /invoices/{id}"; GET /dev/routes lists them`)
	}
	if in.Times != nil {
		one.Times = *in.Times
	}
	if one.Times < 1 || one.Times > maxFaultTimes {
		invalid.Add("times", "must be from 1 to %d", maxFaultTimes)
	}
	least := http.StatusBadRequest
	if in.Route == webhookRoute {
		least = http.StatusOK // what a receiver may respond
	}
	if in.Status != nil {
		if one.Status = *in.Status; one.Status < least || one.Status > 599 {
			invalid.Add("status", "must be from %d to 599", least)
		}
	}
	if in.DelayMs < 0 || one.delay() > maxFaultDelay {
		invalid.Add("delayMs", "must be from 0 to %d", maxFaultDelay/time.Millisecond)
	}
	switch {
	case in.Status != nil && in.LoseResponse:
		invalid.Add("loseResponse", "cannot stand beside status")
	case in.Status == nil && !in.LoseResponse && in.DelayMs == 0:
		invalid.AddProblem(apierror.Problem{Text: "status, delayMs or loseResponse is missing"})
	}
	if err := invalid.Err(); err != nil {
		return "", err
	}
	if !s.faults.add(one) {
		return "", apierror.Invalid(fmt.Sprintf("%d faults wait for a call already", maxFaults))
	}
	return one.ID, nil
}

// faultRoutes returns the routes that can have faults.
func (s *server) faultRoutes() []string {
	return slices.Concat(s.platform.APIPatterns(), s.platform.AppPatterns(), s.routes.pages.patterns, s.patternsOfHost)
}

// callsOf returns a mux for the calls of a route: one of this server's, or one of its calls. It
// returns nil when this server does not have the route.
func (s *server) callsOf(route string) *http.ServeMux {
	method, path, ok := strings.Cut(route, " ")
	if !ok || !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \t") {
		return nil
	}
	patterns := s.faultRoutes()
	known := slices.Contains(patterns, route)
	if !known && strings.ContainsAny(path, "{}?#%") {
		return nil
	}
	if !known {
		r, err := http.NewRequest(method, path, http.NoBody)
		if err != nil {
			return nil
		}
		known = slices.ContainsFunc(patterns, func(pattern string) bool {
			one := http.NewServeMux()
			one.Handle(pattern, http.NotFoundHandler())
			_, found := one.Handler(r)
			return found != "" && found != "/"
		})
	}
	if !known {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle(route, http.NotFoundHandler())
	return mux
}

func (s *server) devFaults(w http.ResponseWriter, _ *http.Request) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]any{"data": s.faults.list()})
}

func (s *server) devRemoveFaults(w http.ResponseWriter, _ *http.Request) error {
	s.faults.clear()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

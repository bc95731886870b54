package main

import (
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
)

// maxAhead is how far the clock may be ahead in all.
const maxAhead = 100 * 365 * 24 * time.Hour

func (s *server) devReadClock(w http.ResponseWriter, _ *http.Request) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]int64{"now": s.clock.Now().Unix()})
}

func (s *server) devMoveClock(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		AdvanceSeconds *int64 `json:"advanceSeconds"`
	}
	if err := apierror.DecodeJSON(r, &in, apierror.JSONLimits{}); err != nil {
		return err
	}
	switch {
	case in.AdvanceSeconds == nil:
		return apierror.Invalid("advanceSeconds is missing")
	case *in.AdvanceSeconds < 0:
		return apierror.Invalid("advanceSeconds is below 0: time only moves forward")
	case *in.AdvanceSeconds > int64((maxAhead-min(s.clock.Ahead(), maxAhead))/time.Second):
		return apierror.Invalid("advanceSeconds would take the clock more than 100 years ahead")
	}
	if err := s.clock.move(r.Context(), time.Duration(*in.AdvanceSeconds)*time.Second); err != nil {
		return err
	}
	if err := s.platform.Settle(r.Context()); err != nil {
		return err
	}
	return s.devReadClock(w, r)
}

func (s *server) devRotateKey(w http.ResponseWriter, r *http.Request) error {
	if err := s.oauth.RotateSigningKey(r.Context()); err != nil {
		return err
	}
	return done(w)
}

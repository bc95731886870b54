package sandbox

import (
	"context"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
)

func (s *server) devReadClock(w http.ResponseWriter, _ *http.Request) error {
	return apierror.WriteJSON(w, http.StatusOK, map[string]int64{"now": s.clock.Now().Unix()})
}

func (s *server) devMoveClock(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		AdvanceSeconds *int64 `json:"advanceSeconds"`
	}
	if err := strictjson.Decode(r, &in, strictjson.Limits{}); err != nil {
		return err
	}
	switch {
	case in.AdvanceSeconds == nil:
		return apierror.Invalid("advanceSeconds is missing")
	case *in.AdvanceSeconds < 0:
		return apierror.Invalid("advanceSeconds is below 0: time only moves forward")
	case *in.AdvanceSeconds > int64(maxAhead/time.Second):
		return errTooFar()
	}
	if err := s.moveClock(r.Context(), time.Duration(*in.AdvanceSeconds)*time.Second); err != nil {
		return err
	}
	return s.devReadClock(w, r)
}

// maxAhead is how far the clock may be ahead in all.
const maxAhead = 100 * 365 * 24 * time.Hour

func errTooFar() error { return apierror.Invalid("the clock would be more than 100 years ahead") }

// moveClock takes the clock forward and waits for what is then due.
func (s *server) moveClock(ctx context.Context, by time.Duration) error {
	if by > maxAhead-min(s.clock.Ahead(), maxAhead) {
		return errTooFar()
	}
	if err := s.clock.move(ctx, by); err != nil {
		return err
	}
	return s.platform.Settle(ctx)
}

func (s *server) devRotateKey(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength != 0 { // it takes no members
		if err := strictjson.Decode(r, &struct{}{}, strictjson.Limits{}); err != nil {
			return err
		}
	}
	if err := s.oauth.RotateSigningKey(r.Context()); err != nil {
		return err
	}
	return done(w)
}

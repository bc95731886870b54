package theme

import (
	"log/slog"
	"net/http"

	"github.com/partnerkit/partnerkit/internal/hostrequest"
)

// Source has the theme of each request. Make it with [NewSource]. It is safe for
// concurrent use.
type Source struct {
	fixed  Theme
	choose func(r *http.Request) Theme
	logger *slog.Logger
}

// NewSource checks the fixed theme, which is for every request unless choose, which may
// be nil, returns another one; it gets a copy of the request without its body. If it returns a theme that [Theme.Check] refuses, the fixed
// theme is used and the reason is logged.
func NewSource(fixed Theme, choose func(r *http.Request) Theme, logger *slog.Logger) (*Source, error) {
	if err := fixed.Check(); err != nil {
		return nil, err
	}
	return &Source{fixed: fixed, choose: choose, logger: logger}, nil
}

// For returns the theme of a request.
func (s *Source) For(r *http.Request) Theme {
	if s.choose == nil {
		return s.fixed
	}
	chosen := s.choose(hostrequest.WithoutBody(r))
	if err := chosen.Check(); err != nil {
		s.logger.WarnContext(r.Context(), "theme refused", "err", err)
		return s.fixed
	}
	return chosen
}

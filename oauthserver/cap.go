package oauthserver

import (
	"context"
	"fmt"

	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// bound sets to how many businesses an approval may connect the app.
func (s *Server) bound(ctx context.Context, approval *oauthstore.Decision, c connection, b Business) (err error) {
	approval.OwnSandbox = isOwnSandbox(c.app, b, c.trust)
	approval.MaxConnections, err = s.maxConnections(ctx, c.app)
	return err
}

// maxConnections returns to how many businesses an app may be connected; 0: to any number.
func (s *Server) maxConnections(ctx context.Context, app partner.App) (int, error) {
	if s.cfg.MaxConnectionsFor == nil {
		return s.cfg.MaxConnections, nil
	}
	most, err := s.cfg.MaxConnectionsFor(ctx, app)
	if err == nil && most < 0 {
		err = fmt.Errorf("it returned %d", most)
	}
	if err != nil {
		return 0, fmt.Errorf("MaxConnectionsFor: %w", err)
	}
	return most, nil
}

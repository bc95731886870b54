package oauthserver

import (
	"context"
	"errors"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// grantDevice answers a device's poll (RFC 8628 section 3.5). A poll of a pending
// code costs 3 statements, the client's included, and one commit; one that is too
// fast 4 statements; the one that collects 7 and one commit.
func (s *Server) grantDevice(ctx context.Context, c call, client authenticatedClient) (tokenAnswer, error) {
	presented, err := c.parameter("device_code", maxParameter)
	if err != nil {
		return tokenAnswer{}, err
	}
	device, err := s.ownDevice(ctx, client, presented)
	if err != nil {
		return tokenAnswer{}, err
	}
	if device.Status == DevicePending && c.now.Before(device.ExpiresAt) {
		inTime, err := s.cfg.Store.PollDevice(ctx, device.ID, c.now, DeviceInterval)
		switch {
		case err != nil:
			return tokenAnswer{}, apierror.Failed("poll device code", err)
		case inTime:
			return tokenAnswer{}, apierror.NewOAuth(apierror.AuthorizationPending, "")
		}
		// Too fast, or decided in this very moment: that is worth a second look.
		if device, err = s.ownDevice(ctx, client, presented); err != nil {
			return tokenAnswer{}, err
		}
	}
	return s.collectDevice(ctx, c, device)
}

// ownDevice finds a device code of this client. Another client's is as unknown
// as none.
func (s *Server) ownDevice(ctx context.Context, client authenticatedClient, presented string) (DeviceCode, error) {
	parsed, err := secret.Parse(secret.DeviceCode, presented)
	if err != nil {
		return DeviceCode{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	device, err := s.cfg.Store.DeviceByDigest(ctx, parsed.Digest())
	switch {
	case errors.Is(err, ErrNotFound):
		return DeviceCode{}, apierror.GrantError(apierror.GrantUnexplained)
	case err != nil:
		return DeviceCode{}, apierror.Failed("find device code", err)
	case !client.owns(device.Standing):
		return DeviceCode{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return device, nil
}

// checkCollectable returns why a code gives no tokens now. Denied and cancelled
// ones stay what they are, also past their time.
func (d DeviceCode) checkCollectable(now time.Time) error {
	switch {
	case d.Status == DeviceDenied:
		return apierror.NewOAuth(apierror.AccessDenied, "")
	case d.Status == DeviceCollected, d.Status == DeviceApproved && !d.IsAlive():
		return apierror.GrantError(apierror.GrantUnexplained)
	case !now.Before(d.ExpiresAt):
		return apierror.NewOAuth(apierror.ExpiredToken, "")
	case d.Status == DevicePending:
		return apierror.NewOAuth(apierror.SlowDown, "")
	}
	return nil
}

// collectDevice hands out what was approved; of several polls one gets it.
func (s *Server) collectDevice(ctx context.Context, c call, device DeviceCode) (tokenAnswer, error) {
	if device.Status == DeviceApproved && device.AppStatus != AppActive {
		return tokenAnswer{}, s.refuseClient(ctx, c) // suspended since the client was authenticated
	}
	if err := device.checkCollectable(c.now); err != nil {
		return tokenAnswer{}, err
	}
	if err := s.requireMember(ctx, device.BusinessID, device.UserID); err != nil {
		return tokenAnswer{}, err
	}
	tokens := newPair(c.now)
	issued, err := s.cfg.Store.CollectDevice(ctx, device, tokens.issue(c.now))
	if err != nil {
		return tokenAnswer{}, apierror.Failed("collect device code", err)
	}
	if err := s.settle(ctx, c, issued.Outcome, reasons{}); err != nil {
		return tokenAnswer{}, err
	}
	return tokens.answer(issued.Scopes), nil
}

package oauthserver

import (
	"context"
	"errors"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/secret"
)

// grantDevice answers a device's poll (RFC 8628 section 3.5).
func (s *Server) grantDevice(ctx context.Context, c call, client authenticatedClient) (tokenAnswer, error) {
	presented, err := c.parameter("device_code", maxParameter)
	if err != nil {
		return tokenAnswer{}, err
	}
	device, err := s.ownDevice(ctx, client, presented)
	if err != nil {
		return tokenAnswer{}, err
	}
	isOver := !c.now.Before(device.ExpiresAt)
	switch {
	case device.Status == DeviceDenied: // and stays so, for a device that missed it
		return tokenAnswer{}, apierror.NewOAuth(apierror.AccessDenied, "")
	case device.Status == DeviceCollected:
		return tokenAnswer{}, apierror.GrantError(apierror.GrantUnexplained)
	case device.Status == DeviceApproved && !device.IsAlive(): // cancelled, also past its time
		return tokenAnswer{}, apierror.GrantError(apierror.GrantUnexplained)
	case isOver:
		return tokenAnswer{}, apierror.NewOAuth(apierror.ExpiredToken, "")
	case device.Status == DevicePending:
		return tokenAnswer{}, s.pollDevice(ctx, c, device)
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
		return DeviceCode{}, fault("find device code", err)
	case !client.owns(device.Standing):
		return DeviceCode{}, apierror.GrantError(apierror.GrantUnexplained)
	}
	return device, nil
}

// pollDevice notes the poll of a code that nobody has decided yet.
func (s *Server) pollDevice(ctx context.Context, c call, device DeviceCode) error {
	inTime, err := s.cfg.Store.PollDevice(ctx, device.ID, c.now, DeviceInterval)
	switch {
	case err != nil:
		return fault("poll device code", err)
	case !inTime:
		return apierror.NewOAuth(apierror.SlowDown, "")
	}
	return apierror.NewOAuth(apierror.AuthorizationPending, "")
}

// collectDevice hands out what was approved; of several polls one gets it.
func (s *Server) collectDevice(ctx context.Context, c call, device DeviceCode) (tokenAnswer, error) {
	if err := s.requireMember(ctx, device.BusinessID, device.UserID); err != nil {
		return tokenAnswer{}, err
	}
	tokens := newPair()
	minted, err := s.cfg.Store.CollectDevice(ctx, device, tokens.mint(c.now))
	if err != nil {
		return tokenAnswer{}, fault("collect device code", err)
	}
	if err := s.settle(ctx, c, minted.Outcome, reasons{}); err != nil {
		return tokenAnswer{}, err
	}
	return tokens.answer(minted.Scopes), nil
}

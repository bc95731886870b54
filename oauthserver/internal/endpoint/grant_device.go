package endpoint

import (
	"context"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/oautherror"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/internal/tokenpair"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// grantDevice handles the poll of a device (RFC 8628 section 3.5). A poll of a pending code
// costs 3 statements, including those for the client, and one commit; a poll that is too fast
// costs 4 statements; the poll that collects the tokens costs 7 and one commit.
func (s *Server) grantDevice(ctx context.Context, c call, client authenticatedClient) (tokenResponse, error) {
	presented, err := c.parameter("device_code", maxParameter)
	if err != nil {
		return tokenResponse{}, err
	}
	device, err := s.ownDevice(ctx, client, presented)
	if err != nil {
		return tokenResponse{}, err
	}
	if device.Status == oauthstore.DevicePending && c.now.Before(device.ExpiresAt) {
		inTime, err := s.cfg.Store.PollDevice(ctx, device.ID, c.now, s.cfg.Lifetimes.DeviceInterval)
		switch {
		case err != nil:
			return tokenResponse{}, apierror.Failed("poll device code", err)
		case inTime:
			return tokenResponse{}, oautherror.New(oautherror.AuthorizationPending, "")
		}
		// The poll was too fast, or the code was decided since it was read.
		if device, err = s.ownDevice(ctx, client, presented); err != nil {
			return tokenResponse{}, err
		}
	}
	return s.collectDevice(ctx, c, client, device)
}

// ownDevice returns a device code of this client.
func (s *Server) ownDevice(ctx context.Context, client authenticatedClient, presented string) (oauthstore.DeviceCode, error) {
	return findOwn(client, secret.DeviceCode, presented, func(code secret.Secret) (oauthstore.DeviceCode, oauthstore.Owners, error) {
		device, err := s.cfg.Store.Device(ctx, code.Digest())
		return device, device.Owners, err
	})
}

// checkCollectable returns why a code gives no tokens now. A denied or collected code keeps
// its error after it has expired. Whether the user may use the app is checked by the store's
// operation, which denies the code if not.
func checkCollectable(d oauthstore.DeviceCode, now time.Time) error {
	switch {
	case d.Status == oauthstore.DeviceDenied:
		return oautherror.New(oautherror.AccessDenied, "")
	case d.Status == oauthstore.DeviceCollected, d.Status == oauthstore.DeviceApproved && !d.IsConnected():
		return oautherror.Grant(oautherror.GrantUnexplained)
	case !now.Before(d.ExpiresAt):
		return oautherror.New(oautherror.ExpiredToken, "")
	case d.Status == oauthstore.DevicePending:
		return oautherror.New(oautherror.SlowDown, "")
	}
	return nil
}

// collectDevice issues the tokens of an approved code to exactly one poll.
func (s *Server) collectDevice(ctx context.Context, c call, client authenticatedClient, device oauthstore.DeviceCode) (tokenResponse, error) {
	if device.Status == oauthstore.DeviceApproved && device.AppStatus != partner.AppActive {
		return tokenResponse{}, s.refuseClient(ctx, c) // suspended since the client was authenticated
	}
	if err := checkCollectable(device, c.now); err != nil {
		return tokenResponse{}, err
	}
	member, err := s.IsMember(ctx, device.BusinessID, device.UserID)
	if err != nil {
		return tokenResponse{}, err
	}
	tokens := tokenpair.New(c.now)
	issued, err := s.cfg.Store.CollectDevice(ctx, device, s.NewTokens(tokens, c.now, member))
	if err != nil {
		return tokenResponse{}, apierror.Failed("collect device code", err)
	}
	if issued.Outcome == oauthstore.Lost { // to another poll, which collected the tokens or was denied them
		if device, err = s.ownDevice(ctx, client, c.form.Get("device_code")); err != nil {
			return tokenResponse{}, err
		}
		if err := checkCollectable(device, c.now); err != nil {
			return tokenResponse{}, err
		}
	}
	return s.respond(ctx, c, tokens, issued, reasons{})
}

package linear_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// noon is when everything happens.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var scopes = identity.MustScopes("invoices:read")

// nodes are stores on one database.
type nodes []*sqlstore.Store

// of is the node that a client talks to.
func (n nodes) of(client int) *sqlstore.Store { return n[client%len(n)] }

// fixture is an app that a business is about to connect.
type fixture struct {
	nodes
	app, business, user string
}

func name() string { return strings.ToLower(rand.Text()) }

func digest(of string) storage.Digest { return sha256.Sum256([]byte(of)) }

func newFixture(t testing.TB, n nodes) fixture {
	t.Helper()
	w := fixture{n, name(), name(), name()}
	_, err := n[0].RegisterApp(t.Context(), oauthstore.Registration{App: partner.App{
		ID: w.app, ClientID: w.app, Type: partner.Confidential, Status: partner.AppActive, Origin: partner.OriginConsole,
		Name: "App", Reviewed: true, RedirectURIs: []string{"https://app.example/cb"}, Scopes: scopes, CreatedAt: noon,
	}})
	must(t, err)
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w fixture) approval(request string) oauthstore.Decision {
	return oauthstore.Decision{
		RequestID: request, UserID: w.user, BusinessID: w.business, InstallationID: name(), GrantID: name(), Now: noon,
		Check:  func(partner.App) oauthstore.ApprovalOutcome { return oauthstore.ApprovalDone },
		Record: func(oauthstore.Approved) []partner.Event { return nil },
	}
}

// code connects the app and returns a code.
func (w fixture) code(t testing.TB) string {
	t.Helper()
	request, code := name(), name()
	must(t, w.of(0).HoldRequest(t.Context(), oauthstore.AuthorizationRequest{
		ID: request, Digest: digest(request), AppID: w.app, RedirectURI: "https://app.example/cb", Scopes: scopes, CreatedAt: noon, ExpiresAt: noon.Add(time.Minute),
	}))
	approval := w.approval(request)
	approval.Code = oauthstore.NewCode{ID: name(), Digest: digest(code), ExpiresAt: noon.Add(time.Minute)}
	approved, err := w.of(0).DecideRequest(t.Context(), approval)
	must(t, err)
	if approved.Outcome != oauthstore.ApprovalDone {
		t.Fatal(approved.Outcome)
	}
	return code
}

func newTokens() oauthstore.NewTokens {
	return oauthstore.NewTokens{
		Now: noon, FamilyID: name(), AccessID: name(), AccessDigest: digest(name()), AccessExpires: noon.Add(time.Hour),
		RefreshID: name(), RefreshDigest: digest(name()), RefreshExpires: noon.Add(time.Hour),
	}
}

// present redeems a code, or replays it.
func (w fixture) present(ctx context.Context, s *sqlstore.Store, text string, m oauthstore.NewTokens) (string, error) {
	code, err := s.Code(ctx, digest(text))
	if err != nil {
		return "", err
	}
	if code.Used {
		_, err := s.EndFamily(ctx, code.FamilyID, noon)
		return "lost", err
	}
	issued, err := s.RedeemCode(ctx, code, m)
	return string(issued.Outcome), err
}

func refresh(ctx context.Context, s *sqlstore.Store, presented, m oauthstore.NewTokens) (string, error) {
	token, err := s.RefreshToken(ctx, presented.RefreshID, presented.RefreshDigest)
	if err != nil {
		return "", err
	}
	issued, err := s.RotateRefresh(ctx, oauthstore.Rotation{Token: token}, m)
	return string(issued.Outcome), err
}

// poll is a device's, as the token endpoint responds to it.
func poll(ctx context.Context, s *sqlstore.Store, text string, m oauthstore.NewTokens) (string, error) {
	device, err := s.Device(ctx, digest(text))
	if err != nil {
		return "", err
	}
	if device.Status == oauthstore.DevicePending {
		inTime, err := s.PollDevice(ctx, device.ID, noon, lifetimes.DeviceInterval)
		if err != nil || inTime {
			return "pending", err
		}
		if device, err = s.Device(ctx, digest(text)); err != nil {
			return "", err
		}
	}
	switch device.Status {
	case oauthstore.DevicePending:
		return "slow down", nil
	case oauthstore.DeviceDenied:
		return "denied", nil
	case oauthstore.DeviceCollected:
		return "dead", nil
	}
	issued, err := s.CollectDevice(ctx, device, m)
	if issued.Outcome == oauthstore.Lost {
		return "dead", err
	}
	return string(issued.Outcome), err
}

func exchange(ctx context.Context, s *sqlstore.Store, w fixture, token string, m oauthstore.NewTokens) (string, error) {
	m.FamilyID, m.RefreshID = "", ""
	issued, err := s.ExchangeSession(ctx, oauthstore.Exchange{TokenID: token, ExpiresAt: noon.Add(time.Minute), AppID: w.app, BusinessID: w.business, UserID: w.user}, m)
	if issued.Outcome == oauthstore.Lost {
		return "dead", err
	}
	return string(issued.Outcome), err
}

func verify(ctx context.Context, s *sqlstore.Store, m oauthstore.NewTokens) (string, error) {
	token, err := s.AccessToken(ctx, m.AccessID, m.AccessDigest)
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return gone, nil
	case err != nil:
		return "", err
	case token.IsLive(noon):
		return live, nil
	}
	return gone, nil
}

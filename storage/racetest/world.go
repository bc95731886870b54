package racetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// noon is when everything happens.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var scopes = identity.MustScopes("invoices:read", "invoices:write")

// serial makes names that are new in this process.
var serial atomic.Int64

// need is what an act wants to find, beside an app that is installed with a user's
// consent and has live tokens.
type need string

const (
	needFreshCode need = "fresh code"
	needRotated   need = "rotated family"
	needPending   need = "pending device"
	needApproved  need = "approved device"
)

// world is what contenders meet in: one app in one business.
type world struct {
	app            oauthserver.App
	business, user string
	connected      oauthserver.Approved

	usedCode, freshCode artifact
	old, current        oauthserver.NewTokens // of the family; the same when it was not rotated
	pending, approved   artifact
	userCode            string
	session             string // the id of a session token

	lanes []laneValues
	names map[string]string // id → what it is, the same in every world
}

type artifact struct {
	id     string
	digest oauthserver.Digest
}

// laneValues is what a contender has made before its act.
type laneValues struct {
	mint                       oauthserver.NewTokens
	installation, grant, event string
}

func newWorld(ctx context.Context, s *sqlstore.Store, lanes int, needs map[need]bool) (*world, error) {
	n := serial.Add(1)
	w := &world{
		business: fmt.Sprintf("biz_%d", n), user: fmt.Sprintf("usr_%d", n), session: fmt.Sprintf("jti_%d", n), names: map[string]string{},
		app: oauthserver.App{
			ID: id.New(id.App, noon), ClientID: fmt.Sprintf("client_%d", n), Type: oauthserver.Confidential, Status: oauthserver.AppActive,
			Origin: oauthserver.OriginConsole, Name: "App", OrganizationID: "org_1", Reviewed: true,
			RedirectURIs: []string{"https://app.example/cb"}, Scopes: scopes, CreatedAt: noon,
		},
	}
	for i := range lanes {
		w.lanes = append(w.lanes, w.newLane(fmt.Sprintf("of %d", i)))
	}
	w.names[w.app.ID], w.names[w.session] = "app", "session token"
	return w, errors.Join(s.CreateApp(ctx, w.app, nil), w.connect(ctx, s), w.furnish(ctx, s, needs))
}

// connect installs the app and redeems the code of that.
func (w *world) connect(ctx context.Context, s *sqlstore.Store) (err error) {
	first := w.newLane("at first")
	if w.usedCode, w.connected, err = w.code(ctx, s, first, "used code"); err != nil {
		return err
	}
	w.old, w.current = first.mint, first.mint
	code, err := s.Code(ctx, w.usedCode.digest)
	if err != nil {
		return err
	}
	return issued(s.RedeemCode(ctx, code, first.mint))
}

// furnish makes what the acts need.
func (w *world) furnish(ctx context.Context, s *sqlstore.Store, needs map[need]bool) (err error) {
	if needs[needFreshCode] {
		if w.freshCode, _, err = w.code(ctx, s, w.newLane("for the fresh code"), "fresh code"); err != nil {
			return err
		}
	}
	if needs[needRotated] {
		token, err := s.RefreshToken(ctx, w.old.RefreshID, w.old.RefreshDigest)
		if err != nil {
			return err
		}
		w.current = w.newLane("of the rotation").mint
		if err := issued(s.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, w.current)); err != nil {
			return err
		}
	}
	if needs[needPending] {
		if w.pending, w.userCode, err = w.device(ctx, s, "pending device"); err != nil {
			return err
		}
	}
	if needs[needApproved] {
		if w.approved, _, err = w.device(ctx, s, "approved device"); err != nil {
			return err
		}
		return approved(s.ApproveDevice(ctx, w.approval(w.approved.id, w.newLane("for the device"))))
	}
	return nil
}

func (w *world) newLane(of string) laneValues {
	l := laneValues{
		installation: id.New(id.Installation, noon), grant: id.New(id.Grant, noon), event: id.New(id.Event, noon),
		mint: oauthserver.NewTokens{
			Now: noon, FamilyID: id.New(id.Family, noon),
			AccessID: id.New(id.Token, noon), AccessDigest: secret.New(secret.AccessToken).Digest(), AccessExpires: noon.Add(oauthserver.AccessTokenLifetime),
			RefreshID: id.New(id.Token, noon), RefreshDigest: secret.New(secret.RefreshToken).Digest(), RefreshExpires: noon.Add(oauthserver.RefreshTokenLifetime),
		},
	}
	for value, name := range map[string]string{
		l.installation: "installation", l.grant: "grant", l.event: "event",
		l.mint.FamilyID: "family", l.mint.AccessID: "access token", l.mint.RefreshID: "refresh token",
	} {
		w.names[value] = name + " " + of
	}
	return l
}

// code approves a request and returns its code.
func (w *world) code(ctx context.Context, s *sqlstore.Store, l laneValues, name string) (artifact, oauthserver.Approved, error) {
	request := id.New(id.Authorization, noon)
	made := artifact{id.New(id.Code, noon), secret.New(secret.AuthorizationCode).Digest()}
	w.names[made.id] = name
	err := s.HoldRequest(ctx, oauthserver.AuthorizationRequest{
		ID: request, Digest: secret.New(secret.ConsentRequest).Digest(), AppID: w.app.ID,
		RedirectURI: w.app.RedirectURIs[0], Scopes: scopes, CreatedAt: noon, ExpiresAt: noon.Add(oauthserver.RequestLifetime),
	})
	if err != nil {
		return made, oauthserver.Approved{}, err
	}
	done, err := s.ApproveRequest(ctx, w.approval(request, l), oauthserver.NewCode{ID: made.id, Digest: made.digest, ExpiresAt: noon.Add(oauthserver.CodeLifetime)})
	return made, done, approved(done, err)
}

func (w *world) device(ctx context.Context, s *sqlstore.Store, name string) (artifact, string, error) {
	made := artifact{id.New(id.Device, noon), secret.New(secret.DeviceCode).Digest()}
	w.names[made.id] = name
	d := oauthserver.DeviceCode{ID: made.id, UserCode: secret.NewUserCode(), Scopes: scopes, CreatedAt: noon, ExpiresAt: noon.Add(oauthserver.DeviceCodeLifetime)}
	d.AppID = w.app.ID
	return made, d.UserCode, s.CreateDevice(ctx, d, made.digest)
}

func (w *world) approval(request string, l laneValues) oauthserver.Approval {
	return oauthserver.Approval{
		RequestID: request, UserID: w.user, BusinessID: w.business, InstallationID: l.installation, GrantID: l.grant, Now: noon,
		Check: func(a oauthserver.App) oauthserver.ApprovalOutcome {
			if !a.IsUsable() {
				return oauthserver.ApprovalAppDead
			}
			return oauthserver.ApprovalDone
		},
		Record: func(a oauthserver.Approved) []events.Event {
			if a.Installed {
				return w.event(events.AppInstalled, l)
			}
			return nil
		},
	}
}

func (w *world) event(name string, l laneValues) []events.Event {
	return []events.Event{{ID: l.event, Type: name, BusinessID: w.business, AppID: w.app.ID, Data: []byte("{}"), CreatedAt: noon}}
}

func issued(m oauthserver.IssueResult, err error) error {
	if err == nil && m.Outcome != oauthserver.Issued {
		err = fmt.Errorf("racetest: the world's mint ended with %q", m.Outcome)
	}
	return err
}

func approved(a oauthserver.Approved, err error) error {
	if err == nil && a.Outcome != oauthserver.ApprovalDone {
		err = fmt.Errorf("racetest: the world's approval ended with %q", a.Outcome)
	}
	return err
}

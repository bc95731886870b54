package racetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// noon is the time at which all operations happen.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var scopes = identity.MustScopes("invoices:read", "invoices:write")

// serial numbers scenarios, so that their names are unique in this process.
var serial atomic.Int64

// need is a precondition of an operation, beyond an app that is installed with a user's
// consent and has live tokens.
type need string

const (
	needFreshCode need = "fresh code"
	needRotated   need = "rotated family"
	needPending   need = "pending device"
	needApproved  need = "approved device"
)

// scenario is the data that contenders compete for: one app in one business.
type scenario struct {
	app            oauthserver.App
	business, user string
	connected      oauthserver.Approved

	usedCode, freshCode artifact
	old, current        oauthserver.NewTokens // of the token family; equal unless it was rotated
	pending, approved   artifact
	userCode            string
	session             string // the id of a session token

	prepared []prepared
	names    map[string]string // names by id, the same in every scenario

	scene *storetest.Scene // of operations of the table; then nothing else is set
	acts  []storetest.Act  // by contender
}

type artifact struct {
	id     string
	digest oauthserver.Digest
}

// prepared is the set of ids and tokens created for a contender before its operation.
type prepared struct {
	tokens                     oauthserver.NewTokens
	installation, grant, event string
}

func newScenario(ctx context.Context, s partnerkit.Store, contenders int, needs map[need]bool) (*scenario, error) {
	n := serial.Add(1)
	sc := &scenario{
		business: fmt.Sprintf("biz_%d", n), user: fmt.Sprintf("usr_%d", n), session: fmt.Sprintf("jti_%d", n), names: map[string]string{},
		app: oauthserver.App{
			ID: id.New(id.App, noon), ClientID: fmt.Sprintf("client_%d", n), Type: oauthserver.Confidential, Status: oauthserver.AppActive,
			Origin: oauthserver.OriginConsole, Name: "App", OrganizationID: "org_1", Reviewed: true,
			RedirectURIs: []string{"https://app.example/cb"}, Scopes: scopes, CreatedAt: noon,
		},
	}
	for i := range contenders {
		sc.prepared = append(sc.prepared, sc.prepare(fmt.Sprintf("of %d", i)))
	}
	sc.names[sc.app.ID], sc.names[sc.session] = "app", "session token"
	return sc, errors.Join(fixture.AddApp(ctx, s, sc.app), sc.connect(ctx, s), sc.furnish(ctx, s, needs))
}

// connect installs the app and redeems the resulting code.
func (sc *scenario) connect(ctx context.Context, s partnerkit.Store) (err error) {
	first := sc.prepare("at first")
	if sc.usedCode, sc.connected, err = sc.code(ctx, s, first, "used code"); err != nil {
		return err
	}
	sc.old, sc.current = first.tokens, first.tokens
	code, err := s.Code(ctx, sc.usedCode.digest)
	if err != nil {
		return err
	}
	return requireIssued(s.RedeemCode(ctx, code, first.tokens))
}

// furnish creates what the operations need.
func (sc *scenario) furnish(ctx context.Context, s partnerkit.Store, needs map[need]bool) (err error) {
	if needs[needFreshCode] {
		if sc.freshCode, _, err = sc.code(ctx, s, sc.prepare("for the fresh code"), "fresh code"); err != nil {
			return err
		}
	}
	if needs[needRotated] {
		token, err := s.RefreshToken(ctx, sc.old.RefreshID, sc.old.RefreshDigest)
		if err != nil {
			return err
		}
		sc.current = sc.prepare("of the rotation").tokens
		if err := requireIssued(s.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, sc.current)); err != nil {
			return err
		}
	}
	if needs[needPending] {
		if sc.pending, sc.userCode, err = sc.device(ctx, s, "pending device"); err != nil {
			return err
		}
	}
	if needs[needApproved] {
		if sc.approved, _, err = sc.device(ctx, s, "approved device"); err != nil {
			return err
		}
		return requireApproved(s.DecideDevice(ctx, sc.approval(sc.approved.id, sc.prepare("for the device"))))
	}
	return nil
}

func (sc *scenario) prepare(of string) prepared {
	l := prepared{
		installation: id.New(id.Installation, noon), grant: id.New(id.Grant, noon), event: id.New(id.Event, noon),
		tokens: oauthserver.NewTokens{
			Now: noon, FamilyID: id.New(id.Family, noon),
			AccessID: id.New(id.Token, noon), AccessDigest: secret.New(secret.AccessToken).Digest(), AccessExpires: noon.Add(oauthserver.AccessTokenLifetime),
			RefreshID: id.New(id.Token, noon), RefreshDigest: secret.New(secret.RefreshToken).Digest(), RefreshExpires: noon.Add(oauthserver.RefreshTokenLifetime),
		},
	}
	for value, name := range map[string]string{
		l.installation: "installation", l.grant: "grant", l.event: "event",
		l.tokens.FamilyID: "family", l.tokens.AccessID: "access token", l.tokens.RefreshID: "refresh token",
	} {
		sc.names[value] = name + " " + of
	}
	return l
}

// code approves a request and returns its code.
func (sc *scenario) code(ctx context.Context, s partnerkit.Store, l prepared, name string) (artifact, oauthserver.Approved, error) {
	request := id.New(id.Authorization, noon)
	made := artifact{id.New(id.Code, noon), secret.New(secret.AuthorizationCode).Digest()}
	sc.names[made.id] = name
	err := s.HoldRequest(ctx, oauthserver.AuthorizationRequest{
		ID: request, Digest: secret.New(secret.ConsentRequest).Digest(), AppID: sc.app.ID,
		RedirectURI: sc.app.RedirectURIs[0], Scopes: scopes, CreatedAt: noon, ExpiresAt: noon.Add(oauthserver.RequestLifetime),
	})
	if err != nil {
		return made, oauthserver.Approved{}, err
	}
	approval := sc.approval(request, l)
	approval.Code = oauthserver.NewCode{ID: made.id, Digest: made.digest, ExpiresAt: noon.Add(oauthserver.CodeLifetime)}
	done, err := s.DecideRequest(ctx, approval)
	return made, done, requireApproved(done, err)
}

func (sc *scenario) device(ctx context.Context, s partnerkit.Store, name string) (artifact, string, error) {
	made := artifact{id.New(id.Device, noon), secret.New(secret.DeviceCode).Digest()}
	sc.names[made.id] = name
	d := oauthserver.DeviceCode{ID: made.id, UserCode: secret.NewUserCode(), Scopes: scopes, CreatedAt: noon, ExpiresAt: noon.Add(oauthserver.DeviceCodeLifetime)}
	d.AppID = sc.app.ID
	return made, d.UserCode, s.CreateDevice(ctx, d, made.digest)
}

func (sc *scenario) approval(request string, l prepared) oauthserver.Decision {
	return oauthserver.Decision{
		RequestID: request, UserID: sc.user, BusinessID: sc.business, InstallationID: l.installation, GrantID: l.grant, Now: noon,
		Check: func(a oauthserver.App) oauthserver.ApprovalOutcome {
			if !a.IsUsable() {
				return oauthserver.ApprovalAppDead
			}
			return oauthserver.ApprovalDone
		},
		Record: func(a oauthserver.Approved) []events.Event {
			if a.Installed {
				return sc.event(events.AppInstalled, l)
			}
			return nil
		},
	}
}

func (sc *scenario) event(name string, l prepared) []events.Event {
	return []events.Event{{ID: l.event, Type: name, BusinessID: sc.business, AppID: sc.app.ID, Data: []byte("{}"), CreatedAt: noon}}
}

func requireIssued(m oauthserver.IssueResult, err error) error {
	if err == nil && m.Outcome != oauthserver.Issued {
		err = fmt.Errorf("racetest: issuing tokens for the scenario ended with %q", m.Outcome)
	}
	return err
}

func requireApproved(a oauthserver.Approved, err error) error {
	if err == nil && a.Outcome != oauthserver.ApprovalDone {
		err = fmt.Errorf("racetest: approval for the scenario ended with %q", a.Outcome)
	}
	return err
}

package racetest

import (
	"context"
	"errors"
	"slices"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// answer is what an act told its caller.
type answer string

const (
	minted      answer = "issued"
	used        answer = "used"    // a code or a refresh token that somebody used before: its family ends
	revoked     answer = "revoked" // its family had ended, or the business revoked access
	dead        answer = "dead"    // nothing to be had: used up, or something above has ended
	clientDead  answer = "client dead"
	done        answer = "done"
	absent      answer = "absent" // nothing to end
	deactivated answer = "deactivated"
	notOpen     answer = "not open" // decided already
	pending     answer = "pending"
	slowDown    answer = "slow down"
	denied      answer = "denied"
	fault       answer = "fault" // an error that is no answer
)

// call is one act in one world, by one contender.
type call struct {
	*sqlstore.Store
	w      *world
	lane   laneValues
	others []act // that race, this one too
}

// has reports whether an act of that name races.
func (c call) has(name string) bool {
	return slices.ContainsFunc(c.others, func(a act) bool { return a.name == name })
}

// act is one of those that race. It does what the server does for it: it looks the
// artifact up, and lets the store decide.
type act struct {
	name    string
	needs   []need
	do      func(ctx context.Context, c call) (answer, error)
	answers []answer // all that it may say
}

// Acts are the names of the acts.
func Acts() (names []string) {
	for _, a := range acts {
		names = append(names, a.name)
	}
	return names
}

func actNamed(name string) (act, bool) {
	i := slices.IndexFunc(acts, func(a act) bool { return a.name == name })
	if i < 0 {
		return act{}, false
	}
	return acts[i], true
}

var (
	mints = []answer{minted, dead, clientDead}
	acts  = []act{
		{redeem, []need{needFreshCode}, func(ctx context.Context, c call) (answer, error) { return c.present(ctx, c.w.freshCode) }, append(mints, used)},
		{refresh, nil, func(ctx context.Context, c call) (answer, error) { return c.refresh(ctx, c.w.current) }, append(mints, used, revoked)},
		{replay, []need{needRotated}, func(ctx context.Context, c call) (answer, error) { return c.refresh(ctx, c.w.old) }, []answer{used, revoked}},
		{burn, nil, func(ctx context.Context, c call) (answer, error) {
			if c.has(redeem) || c.has(spend) { // the code that the other one presents
				return c.present(ctx, c.w.freshCode)
			}
			return c.present(ctx, c.w.usedCode)
		}, append(mints, used)},
		{spend, []need{needFreshCode}, spendCode, []answer{done, used}},
		{revoke, nil, endFamily, []answer{done}},
		{revokeOne, nil, endToken, []answer{done}},
		{uninstall, nil, func(ctx context.Context, c call) (answer, error) { return c.end(ctx, oauthserver.InstallationRemoved) }, []answer{done, absent}},
		{revokeAccess, nil, func(ctx context.Context, c call) (answer, error) { return c.end(ctx, oauthserver.InstallationRevoked) }, []answer{done, absent}},
		{revokeConsent, nil, func(ctx context.Context, c call) (answer, error) {
			return ending(c.EndGrant(ctx, oauthserver.EndGrant{AppID: c.w.app.ID, BusinessID: c.w.business, UserID: c.w.user, Now: noon}))
		}, []answer{done, absent}},
		{suspend, nil, func(ctx context.Context, c call) (answer, error) {
			return ending(c.SetAppStatus(ctx, c.w.app.ID, oauthserver.AppSuspended))
		}, []answer{done, deactivated}},
		{deactivate, nil, func(ctx context.Context, c call) (answer, error) {
			return ending(c.SetAppStatus(ctx, c.w.app.ID, oauthserver.AppDeactivated))
		}, []answer{done}},
		{approve, []need{needPending}, approveDevice, []answer{done, notOpen, clientDead}},
		{deny, []need{needPending}, denyDevice, []answer{done, notOpen}},
		{poll, []need{needPending}, func(ctx context.Context, c call) (answer, error) { return c.poll(ctx, c.w.pending) }, append(mints, pending, slowDown, denied)},
		{collect, []need{needApproved}, func(ctx context.Context, c call) (answer, error) { return c.poll(ctx, c.w.approved) }, mints},
		{exchange, nil, exchangeSession, mints},
	}
)

// The acts. A code or a device code is presented; burn presents a code that was
// used, replay a refresh token that was, and spend a code with a wrong redirect_uri.
const (
	redeem        = "redeem code"
	refresh       = "refresh"
	replay        = "replay"
	burn          = "burn"
	spend         = "spend code"
	revoke        = "revoke"
	revokeOne     = "revoke access token"
	uninstall     = "uninstall"
	revokeAccess  = "revoke access"
	revokeConsent = "revoke consent"
	suspend       = "suspend app"
	deactivate    = "deactivate app"
	approve       = "approve device"
	deny          = "deny device"
	poll          = "poll device"
	collect       = "collect device"
	exchange      = "exchange"
)

// told translates the outcome of a mint as the server does.
func told(m oauthserver.IssueResult, err error, lost, ended answer) (answer, error) {
	if err != nil {
		return fault, err
	}
	switch m.Outcome {
	case oauthserver.Issued:
		return minted, nil
	case oauthserver.Lost:
		return lost, nil
	case oauthserver.Revoked:
		return ended, nil
	case oauthserver.Dead:
		return dead, nil
	case oauthserver.ClientDead:
		return clientDead, nil
	}
	return fault, errors.New("an outcome that is none: " + string(m.Outcome))
}

func ending(err error) (answer, error) {
	switch {
	case err == nil:
		return done, nil
	case errors.Is(err, oauthserver.ErrNotFound):
		return absent, nil
	case errors.Is(err, oauthserver.ErrDeactivated):
		return deactivated, nil
	}
	return fault, err
}

func (c call) present(ctx context.Context, what artifact) (answer, error) {
	code, err := c.Code(ctx, what.digest)
	if err != nil {
		return fault, err
	}
	if code.Used {
		if err := c.ReplayCode(ctx, code.ID, noon); err != nil {
			return fault, err
		}
		return used, nil
	}
	got, err := c.RedeemCode(ctx, code, c.lane.mint)
	return told(got, err, used, dead)
}

func spendCode(ctx context.Context, c call) (answer, error) {
	code, err := c.Code(ctx, c.w.freshCode.digest)
	if err != nil {
		return fault, err
	}
	if code.Used {
		return used, nil
	}
	spent, err := c.SpendCode(ctx, code.ID, noon)
	switch {
	case err != nil:
		return fault, err
	case !spent:
		return used, nil
	}
	return done, nil
}

func (c call) refresh(ctx context.Context, m oauthserver.NewTokens) (answer, error) {
	token, err := c.RefreshToken(ctx, m.RefreshID, m.RefreshDigest)
	if err != nil {
		return fault, err
	}
	if token.FamilyEnded || token.InstallationStatus == oauthserver.InstallationRevoked {
		return revoked, nil
	}
	got, err := c.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, c.lane.mint)
	return told(got, err, used, revoked)
}

func endFamily(ctx context.Context, c call) (answer, error) {
	token, err := c.RefreshToken(ctx, c.w.current.RefreshID, c.w.current.RefreshDigest)
	if err != nil {
		return fault, err
	}
	return ending(c.EndFamily(ctx, token.FamilyID, noon))
}

func endToken(ctx context.Context, c call) (answer, error) {
	token, err := c.AccessToken(ctx, c.w.current.AccessID, c.w.current.AccessDigest)
	if err != nil {
		return fault, err
	}
	return ending(c.RevokeAccessToken(ctx, token.ID, noon))
}

func (c call) end(ctx context.Context, status oauthserver.InstallationStatus) (answer, error) {
	_, err := c.EndInstallation(ctx, oauthserver.EndInstallation{
		AppID: c.w.app.ID, BusinessID: c.w.business, Status: status, Now: noon, RedactAt: noon.Add(oauthserver.RedactDelay),
		Record: func(oauthserver.Installation) []events.Event { return c.w.event(events.AppUninstalled, c.lane) },
	})
	return ending(err)
}

func approveDevice(ctx context.Context, c call) (answer, error) {
	device, err := c.DeviceByUserCode(ctx, c.w.userCode)
	if err != nil {
		return fault, err
	}
	if device.Status != oauthserver.DevicePending {
		return notOpen, nil
	}
	got, err := c.ApproveDevice(ctx, c.w.approval(device.ID, c.lane))
	switch {
	case err != nil:
		return fault, err
	case got.Outcome == oauthserver.ApprovalDone:
		return done, nil
	case got.Outcome == oauthserver.ApprovalNotOpen:
		return notOpen, nil
	case got.Outcome == oauthserver.ApprovalAppDead:
		return clientDead, nil
	}
	return fault, errors.New("an outcome that is none: " + string(got.Outcome))
}

func denyDevice(ctx context.Context, c call) (answer, error) {
	device, err := c.DeviceByUserCode(ctx, c.w.userCode)
	if err != nil {
		return fault, err
	}
	if device.Status != oauthserver.DevicePending {
		return notOpen, nil
	}
	told, err := ending(c.DenyDevice(ctx, oauthserver.Denial{RequestID: device.ID, Now: noon}))
	if told == absent {
		told = notOpen
	}
	return told, err
}

func (c call) poll(ctx context.Context, what artifact) (answer, error) {
	device, err := c.DeviceByDigest(ctx, what.digest)
	if err != nil {
		return fault, err
	}
	if device.Status == oauthserver.DevicePending {
		inTime, err := c.PollDevice(ctx, device.ID, noon, oauthserver.DeviceInterval)
		if err != nil {
			return fault, err
		}
		if inTime {
			return pending, nil
		}
		if device, err = c.DeviceByDigest(ctx, what.digest); err != nil { // decided in this very moment?
			return fault, err
		}
	}
	switch {
	case device.Status == oauthserver.DeviceDenied:
		return denied, nil
	case device.Status == oauthserver.DevicePending:
		return slowDown, nil
	case device.Status == oauthserver.DeviceApproved && device.AppStatus != oauthserver.AppActive:
		return clientDead, nil
	case device.Status == oauthserver.DeviceCollected, !device.IsAlive():
		return dead, nil
	}
	got, err := c.CollectDevice(ctx, device, c.lane.mint)
	return told(got, err, dead, dead)
}

func exchangeSession(ctx context.Context, c call) (answer, error) {
	m := c.lane.mint
	m.FamilyID, m.RefreshID = "", "" // the app gets a new session token instead
	got, err := c.ExchangeSession(ctx, oauthserver.Exchange{
		TokenID: c.w.session, ExpiresAt: noon.Add(oauthserver.SessionTokenLifetime), AppID: c.w.app.ID,
		BusinessID: c.w.business, UserID: c.w.user, InstallationID: c.w.connected.Installation.ID,
	}, m)
	return told(got, err, dead, dead)
}

package racetest

import (
	"context"
	"errors"
	"slices"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// answer is the result that an operation returned to its caller.
type answer string

const (
	issued      answer = "issued"
	used        answer = "used"    // a code or refresh token was used before: its token family ends
	revoked     answer = "revoked" // the token family had ended, or the business revoked access
	dead        answer = "dead"    // used up, or its consent, installation or app has ended
	clientDead  answer = "client dead"
	done        answer = "done"
	absent      answer = "absent" // nothing to end
	deactivated answer = "deactivated"
	notOpen     answer = "not open" // decided already
	pending     answer = "pending"
	slowDown    answer = "slow down"
	denied      answer = "denied"
	fault       answer = "fault" // an unexpected error
)

// call is one operation that one contender performs in a scenario.
type call struct {
	partnerkit.Store
	sc       *scenario
	prepared prepared
	others   []operation // all operations of the race, including this one
	// contender is the number of this one.
	contender int
}

// has reports whether the race includes an operation of that name.
func (c call) has(name string) bool {
	return slices.ContainsFunc(c.others, func(a operation) bool { return a.name == name })
}

// operation is an operation that can race. Like the server, it looks the artifact up first
// and then calls the store.
type operation struct {
	name    string
	needs   []need
	do      func(ctx context.Context, c call) (answer, error)
	answers []answer // the valid answers
	group   group
	entry   storetest.Operation // if the operation is one of the table
}

// Operations returns the names of all operations.
func Operations() (names []string) {
	for _, a := range operations {
		names = append(names, a.name)
	}
	return names
}

func operationNamed(name string) (operation, bool) {
	i := slices.IndexFunc(operations, func(a operation) bool { return a.name == name })
	if i < 0 {
		return operation{}, false
	}
	return operations[i], true
}

var (
	issueAnswers = []answer{issued, dead, clientDead}
	operations   = append(oauthOperations(), tabled()...)
)

func oauthOperations() []operation {
	all := []operation{
		{name: redeem, needs: []need{needFreshCode}, do: func(ctx context.Context, c call) (answer, error) { return c.present(ctx, c.sc.freshCode) }, answers: append(issueAnswers, used)},
		{name: refresh, do: func(ctx context.Context, c call) (answer, error) { return c.refresh(ctx, c.sc.current) }, answers: append(issueAnswers, used, revoked)},
		{name: replay, needs: []need{needRotated}, do: func(ctx context.Context, c call) (answer, error) { return c.refresh(ctx, c.sc.old) }, answers: []answer{used, revoked}},
		{name: burn, do: func(ctx context.Context, c call) (answer, error) {
			if c.has(redeem) || c.has(spend) { // the code that the other one presents
				return c.present(ctx, c.sc.freshCode)
			}
			return c.present(ctx, c.sc.usedCode)
		}, answers: append(issueAnswers, used)},
		{name: spend, needs: []need{needFreshCode}, do: spendCode, answers: []answer{done, used}},
		{name: revoke, do: endFamily, answers: []answer{done}},
		{name: revokeOne, do: endToken, answers: []answer{done}},
		{name: uninstall, do: func(ctx context.Context, c call) (answer, error) { return c.end(ctx, oauthserver.InstallationRemoved) }, answers: []answer{done, absent}},
		{name: revokeAccess, do: func(ctx context.Context, c call) (answer, error) { return c.end(ctx, oauthserver.InstallationRevoked) }, answers: []answer{done, absent}},
		{name: revokeConsent, do: func(ctx context.Context, c call) (answer, error) {
			return ending(c.EndGrant(ctx, oauthserver.EndGrant{AppID: c.sc.app.ID, BusinessID: c.sc.business, UserID: c.sc.user, Now: noon}))
		}, answers: []answer{done, absent}},
		{name: suspend, do: func(ctx context.Context, c call) (answer, error) {
			return ending(fixture.SetAppStatus(ctx, c, c.sc.app.ID, oauthserver.AppSuspended))
		}, answers: []answer{done, deactivated}},
		{name: deactivate, do: func(ctx context.Context, c call) (answer, error) {
			return ending(fixture.SetAppStatus(ctx, c, c.sc.app.ID, oauthserver.AppDeactivated))
		}, answers: []answer{done}},
		{name: approve, needs: []need{needPending}, do: approveDevice, answers: []answer{done, notOpen, clientDead}},
		{name: deny, needs: []need{needPending}, do: denyDevice, answers: []answer{done, notOpen}},
		{name: poll, needs: []need{needPending}, do: func(ctx context.Context, c call) (answer, error) { return c.poll(ctx, c.sc.pending) }, answers: append(issueAnswers, pending, slowDown, denied)},
		{name: collect, needs: []need{needApproved}, do: func(ctx context.Context, c call) (answer, error) { return c.poll(ctx, c.sc.approved) }, answers: issueAnswers},
		{name: exchange, do: exchangeSession, answers: issueAnswers},
	}
	for i := range all {
		all[i].group = onTokens
	}
	return all
}

// The operations. Redeem, poll and collect present a code; burn presents a used code,
// replay a used refresh token, and spend a code with a wrong redirect_uri.
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

// answerOf translates the result of issuing tokens as the server does.
func answerOf(m oauthserver.IssueResult, err error, lost, ended answer) (answer, error) {
	if err != nil {
		return fault, err
	}
	switch m.Outcome {
	case oauthserver.Issued:
		return issued, nil
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
		if _, err := c.Revoke(ctx, oauthserver.Revocation{FamilyID: code.FamilyID, Now: noon}); err != nil {
			return fault, err
		}
		return used, nil
	}
	got, err := c.RedeemCode(ctx, code, c.prepared.tokens)
	return answerOf(got, err, used, dead)
}

func spendCode(ctx context.Context, c call) (answer, error) {
	code, err := c.Code(ctx, c.sc.freshCode.digest)
	if err != nil {
		return fault, err
	}
	if code.Used {
		return used, nil
	}
	spent, err := c.Revoke(ctx, oauthserver.Revocation{CodeID: code.ID, Now: noon})
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
	got, err := c.RotateRefresh(ctx, oauthserver.Rotation{Token: token}, c.prepared.tokens)
	return answerOf(got, err, used, revoked)
}

func endFamily(ctx context.Context, c call) (answer, error) {
	token, err := c.RefreshToken(ctx, c.sc.current.RefreshID, c.sc.current.RefreshDigest)
	if err != nil {
		return fault, err
	}
	_, err = c.Revoke(ctx, oauthserver.Revocation{FamilyID: token.FamilyID, Now: noon})
	return ending(err)
}

func endToken(ctx context.Context, c call) (answer, error) {
	token, err := c.AccessToken(ctx, c.sc.current.AccessID, c.sc.current.AccessDigest)
	if err != nil {
		return fault, err
	}
	_, err = c.Revoke(ctx, oauthserver.Revocation{AccessTokenID: token.ID, Now: noon})
	return ending(err)
}

func (c call) end(ctx context.Context, status oauthserver.InstallationStatus) (answer, error) {
	_, err := c.EndInstallation(ctx, oauthserver.EndInstallation{
		AppID: c.sc.app.ID, BusinessID: c.sc.business, Status: status, Now: noon, RedactAt: noon.Add(oauthserver.RedactDelay),
		Record: func(oauthserver.Installation) []events.Event { return c.sc.event(events.AppUninstalled, c.prepared) },
	})
	return ending(err)
}

func approveDevice(ctx context.Context, c call) (answer, error) {
	device, err := c.Device(ctx, oauthserver.DeviceQuery{UserCode: c.sc.userCode})
	if err != nil {
		return fault, err
	}
	if device.Status != oauthserver.DevicePending {
		return notOpen, nil
	}
	return decided(c.DecideDevice(ctx, c.sc.approval(device.ID, c.prepared)))
}

func decided(got oauthserver.Approved, err error) (answer, error) {
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
	device, err := c.Device(ctx, oauthserver.DeviceQuery{UserCode: c.sc.userCode})
	if err != nil {
		return fault, err
	}
	if device.Status != oauthserver.DevicePending {
		return notOpen, nil
	}
	return decided(c.DecideDevice(ctx, oauthserver.Decision{RequestID: device.ID, Now: noon, IsDenied: true}))
}

func (c call) poll(ctx context.Context, what artifact) (answer, error) {
	device, err := c.Device(ctx, oauthserver.DeviceQuery{Digest: what.digest})
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
		if device, err = c.Device(ctx, oauthserver.DeviceQuery{Digest: what.digest}); err != nil { // decided since the first read?
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
	got, err := c.CollectDevice(ctx, device, c.prepared.tokens)
	return answerOf(got, err, dead, dead)
}

func exchangeSession(ctx context.Context, c call) (answer, error) {
	m := c.prepared.tokens
	m.FamilyID, m.RefreshID = "", "" // the app gets a new session token instead
	got, err := c.ExchangeSession(ctx, oauthserver.Exchange{
		TokenID: c.sc.session, ExpiresAt: noon.Add(oauthserver.SessionTokenLifetime), AppID: c.sc.app.ID,
		BusinessID: c.sc.business, UserID: c.sc.user, InstallationID: c.sc.connected.Installation.ID,
	}, m)
	return answerOf(got, err, dead, dead)
}

package storetest

import (
	"context"
	"errors"
	"testing"

	"github.com/partnerkit/partnerkit"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/fixture"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// Answers of the operations of OAuth, beside Done.
const (
	Issued      Answer = "issued"
	Used        Answer = "used"    // a code or refresh token was used before: its token family ends
	Revoked     Answer = "revoked" // the token family had ended, or the business revoked access
	Dead        Answer = "dead"    // used up, or its consent, installation or app has ended
	ClientDead  Answer = "client dead"
	Absent      Answer = "absent" // nothing to end
	Deactivated Answer = "deactivated"
	NotOpen     Answer = "not open" // decided already
	Pending     Answer = "pending"
	SlowDown    Answer = "slow down"
	Denied      Answer = "denied"
	NobodyLeft  Answer = "nobody left" // no consent of somebody who has left
)

// onTokens is an operation of OAuth on the tokens of a connection. Like the server, it looks
// the artifact up first and then calls the store.
type onTokens struct {
	*Scene
	Issue
}

// tokens adapts an operation and its check.
func tokens(do func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error), check func(o onTokens, t testing.TB, happened bool)) func(testing.TB, *Scene) Act {
	return func(_ testing.TB, s *Scene) Act {
		o := onTokens{s, s.Connection.Issues[s.prepared]}
		return Act{
			Do:    func(ctx context.Context, on partnerkit.Store) (Answer, error) { return do(o, ctx, on) },
			Check: func(t testing.TB, happened bool) { check(o, t, happened) },
		}
	}
}

var issueAnswers = []Answer{Issued, Dead, ClientDead}

// tokenOperations issue and end tokens. Redeem, poll and collect present a code; burn
// presents a used code, replay a used refresh token, and spend a code with a wrong
// redirect_uri.
var tokenOperations = []Operation{
	{Name: "redeem code", Of: ofOAuth, Needs: []Need{needFreshCode}, Answers: append(issueAnswers, Used), Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return o.present(ctx, on, o.Connection.FreshCode)
		}, onTokens.issues)},
	// REF-07: never a half-rotated family.
	{Name: "refresh", Of: ofOAuth, Answers: append(issueAnswers, Used, Revoked), Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return o.rotate(ctx, on, o.Connection.Current)
		},
		func(o onTokens, t testing.TB, happened bool) {
			o.ends(t, happened)
			o.issues(t, happened)
		})},
	{Name: "replay", Of: ofOAuth, Needs: []Need{needRotated}, Answers: []Answer{Used, Revoked}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return o.rotate(ctx, on, o.Connection.Old)
		},
		func(o onTokens, t testing.TB, happened bool) {
			o.ends(t, happened)
			o.issues(t, false)
		})},
	{Name: "burn", Of: ofOAuth, Answers: []Answer{Used, Issued, Dead, ClientDead}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			if o.Connection.FreshCode.ID != "" { // the code that the other one presents
				return o.present(ctx, on, o.Connection.FreshCode)
			}
			return o.present(ctx, on, o.Connection.UsedCode)
		}, onTokens.ends)},
	{Name: "spend code", Of: ofOAuth, Needs: []Need{needFreshCode}, Answers: []Answer{Done, Used}, Prepare: tokens(onTokens.spend,
		func(o onTokens, t testing.TB, happened bool) { // CODE-04
			if got := get[oauthstore.Code](t)(o.Code(t.Context(), o.Connection.FreshCode.Digest)); got.Used != happened {
				t.Errorf("happened %v, and the code is used: %v", happened, got.Used)
			}
		})},
	{Name: "revoke", Of: ofOAuth, Prepare: tokens(onTokens.endFamily, onTokens.ends)},
	{Name: "revoke access token", Of: ofOAuth, Prepare: tokens(onTokens.endToken,
		func(o onTokens, t testing.TB, happened bool) {
			if o.isLive(t, o.Connection.Current) == happened || !o.canRefresh(t, o.Connection.Current) {
				t.Errorf("happened %v, and the access token is live: %v", happened, o.isLive(t, o.Connection.Current))
			}
		})},
	{Name: "uninstall", Of: ofOAuth, Answers: []Answer{Done, Absent}, Prepare: tokens(endWith(partner.InstallationRemoved), onTokens.uninstalls)},
	{Name: "revoke access", Of: ofOAuth, Answers: []Answer{Done, Absent}, Prepare: tokens(endWith(partner.InstallationRevoked), onTokens.uninstalls)},
	{Name: "revoke consent", Of: ofOAuth, Answers: []Answer{Done, Absent}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return ending(on.EndGrant(ctx, oauthstore.EndGrant{AppID: o.app.ID, BusinessID: o.business, UserID: o.user, Now: noon}))
		}, onTokens.ends)},
	{Name: "take over connection", Of: ofOAuth, Answers: []Answer{Done, NobodyLeft, Absent, ClientDead}, Prepare: tokens(onTokens.takesOver,
		func(o onTokens, t testing.TB, happened bool) {
			user := o.user
			if happened {
				user = o.taker()
			}
			o.wantLive(t, o.Connection.Current, true)
			o.wantUser(t, o.Connection.Current, user)
		})},
	{Name: "member leaves", Of: ofOAuth, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			_, err := on.SetMembership(ctx, oauthstore.Membership{BusinessID: o.business, UserID: o.user, HasLeft: true, Now: noon})
			return answered(err)
		},
		func(o onTokens, t testing.TB, happened bool) {
			if o.refreshToken(t, o.Connection.Current).GrantLeft != happened {
				t.Errorf("happened %v, and the consent does not say so", happened)
			}
		})},
	{Name: "suspend app", Of: ofOAuth, Answers: []Answer{Done, Deactivated}, Prepare: tokens(becomes(partner.AppSuspended), onTokens.ends)},
	{Name: "deactivate app", Of: ofOAuth, Prepare: tokens(becomes(partner.AppDeactivated), onTokens.ends)},
	{Name: "approve device", Of: ofOAuth, Needs: []Need{needPending}, Answers: []Answer{Done, NotOpen, ClientDead}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return o.decide(ctx, on, o.approvalOf(o.Connection.Pending.ID, o.Issue))
		}, decides(oauthstore.DeviceApproved))},
	{Name: "approve device as the taker", Of: ofOAuth, Needs: []Need{needPending}, Answers: []Answer{Done, NotOpen, ClientDead}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			d := o.approvalOf(o.Connection.Pending.ID, o.Issue)
			d.UserID = o.taker()
			return o.decide(ctx, on, d)
		}, decides(oauthstore.DeviceApproved))},
	{Name: "deny device", Of: ofOAuth, Needs: []Need{needPending}, Answers: []Answer{Done, NotOpen}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return o.decide(ctx, on, oauthstore.Decision{RequestID: o.Connection.Pending.ID, Now: noon, IsDenied: true})
		}, decides(oauthstore.DeviceDenied))},
	{Name: "poll device", Of: ofOAuth, Needs: []Need{needPending}, Answers: append([]Answer{Pending, SlowDown, Denied}, issueAnswers...), Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return o.poll(ctx, on, o.Connection.Pending)
		},
		func(o onTokens, t testing.TB, happened bool) {
			e, ok := o.Store.(*Env)
			if !ok {
				return
			}
			if n := e.count(t, "SELECT COUNT(*) FROM partnerkit_device_code WHERE id = $1 AND polled_at IS NOT NULL", o.Connection.Pending.ID); (n == 1) != happened {
				t.Errorf("happened %v, and %d codes were polled", happened, n)
			}
		})},
	{Name: "collect device", Of: ofOAuth, Needs: []Need{needApproved}, Answers: issueAnswers, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return o.poll(ctx, on, o.Connection.Approved)
		}, onTokens.issues)},
	{Name: "exchange", Of: ofOAuth, Answers: issueAnswers, Prepare: tokens(onTokens.exchangeSession,
		func(o onTokens, t testing.TB, happened bool) {
			if o.isLive(t, o.Tokens) != happened {
				t.Errorf("happened %v, and the access token is live: %v", happened, !happened)
			}
		})},
}

// issues checks an operation that issues tokens.
func (o onTokens) issues(t testing.TB, happened bool) { t.Helper(); o.wantLive(t, o.Tokens, happened) }

// ends checks an operation that ends the tokens of the connection.
func (o onTokens) ends(t testing.TB, happened bool) {
	t.Helper()
	o.wantLive(t, o.Connection.Current, !happened)
}

func (o onTokens) uninstalls(t testing.TB, happened bool) {
	t.Helper()
	o.ends(t, happened)
	if (o.recorded(t, events.AppUninstalled) == 1) != happened {
		t.Errorf("happened %v, and the event does not say so", happened)
	}
}

func decides(status oauthstore.DeviceStatus) func(o onTokens, t testing.TB, happened bool) {
	return func(o onTokens, t testing.TB, happened bool) {
		t.Helper()
		device := get[oauthstore.DeviceCode](t)(o.Device(t.Context(), o.Connection.Pending.Digest))
		if (device.Status == status) != happened || !happened && device.Status != oauthstore.DevicePending {
			t.Errorf("happened %v, and the device is %q", happened, device.Status)
		}
	}
}

// answerOf translates the result of issuing tokens as the server does.
func answerOf(m oauthstore.IssueResult, err error, lost, ended Answer) (Answer, error) {
	if err != nil {
		return "", err
	}
	switch m.Outcome {
	case oauthstore.Issued:
		return Issued, nil
	case oauthstore.Lost:
		return lost, nil
	case oauthstore.Revoked:
		return ended, nil
	case oauthstore.Dead:
		return Dead, nil
	case oauthstore.ClientDead:
		return ClientDead, nil
	}
	return "", errors.New("an outcome that is none: " + string(m.Outcome))
}

func ending(err error) (Answer, error) {
	switch {
	case err == nil:
		return Done, nil
	case errors.Is(err, partner.ErrNotFound):
		return Absent, nil
	case errors.Is(err, oauthstore.ErrDeactivated):
		return Deactivated, nil
	}
	return "", err
}

func becomes(status partner.AppStatus) func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
	return func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
		return ending(fixture.SetAppStatus(ctx, on, o.app.ID, status))
	}
}

func (o onTokens) present(ctx context.Context, on partnerkit.Store, what Artifact) (Answer, error) {
	code, err := on.Code(ctx, what.Digest)
	if err != nil {
		return "", err
	}
	if code.Used {
		if _, err := on.EndFamily(ctx, code.FamilyID, noon); err != nil {
			return "", err
		}
		return Used, nil
	}
	got, err := on.RedeemCode(ctx, code, o.Tokens)
	return answerOf(got, err, Used, Dead)
}

func (o onTokens) spend(ctx context.Context, on partnerkit.Store) (Answer, error) {
	code, err := on.Code(ctx, o.Connection.FreshCode.Digest)
	if err != nil {
		return "", err
	}
	if code.Used {
		return Used, nil
	}
	spent, err := on.SpendCode(ctx, code.ID, noon)
	switch {
	case err != nil:
		return "", err
	case !spent:
		return Used, nil
	}
	return Done, nil
}

func (o onTokens) rotate(ctx context.Context, on partnerkit.Store, m oauthstore.NewTokens) (Answer, error) {
	token, err := on.RefreshToken(ctx, m.RefreshID, m.RefreshDigest)
	if err != nil {
		return "", err
	}
	if token.FamilyEnded || token.InstallationStatus == partner.InstallationRevoked {
		return Revoked, nil
	}
	got, err := on.RotateRefresh(ctx, oauthstore.Rotation{Token: token}, o.Tokens)
	if err == nil && got.Outcome == oauthstore.Moved {
		return o.rotate(ctx, on, m)
	}
	return answerOf(got, err, Used, Revoked)
}

func (o onTokens) takesOver(ctx context.Context, on partnerkit.Store) (Answer, error) {
	d := o.takeOver()
	d.GrantID = o.Grant
	got, err := on.TakeOver(ctx, d)
	switch {
	case err != nil:
		return ending(err)
	case got == oauthstore.ApprovalDone:
		return Done, nil
	case got == oauthstore.ApprovalNobodyLeft:
		return NobodyLeft, nil
	case got == oauthstore.ApprovalAppDead:
		return ClientDead, nil
	}
	return "", errors.New("an outcome that is none: " + string(got))
}

func (o onTokens) endFamily(ctx context.Context, on partnerkit.Store) (Answer, error) {
	token, err := on.RefreshToken(ctx, o.Connection.Current.RefreshID, o.Connection.Current.RefreshDigest)
	if err != nil {
		return "", err
	}
	_, err = on.EndFamily(ctx, token.FamilyID, noon)
	return ending(err)
}

func (o onTokens) endToken(ctx context.Context, on partnerkit.Store) (Answer, error) {
	token, err := on.AccessToken(ctx, o.Connection.Current.AccessID, o.Connection.Current.AccessDigest)
	if err != nil {
		return "", err
	}
	_, err = on.RevokeAccessToken(ctx, token.ID, noon)
	return ending(err)
}

func endWith(status partner.InstallationStatus) func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
	return func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
		_, err := on.EndInstallation(ctx, oauthstore.EndInstallation{
			AppID: o.app.ID, BusinessID: o.business, Status: status, Now: noon, RedactAt: noon.Add(lifetimes.RedactDelay),
			Record: func(partner.Installation) []partner.Event { return o.eventOf(events.AppUninstalled, o.Issue) },
		})
		return ending(err)
	}
}

// decide reads the device and decides if nothing has been decided yet.
func (o onTokens) decide(ctx context.Context, on partnerkit.Store, d oauthstore.Decision) (Answer, error) {
	device, err := on.DeviceByUserCode(ctx, o.Connection.userCode)
	if err != nil {
		return "", err
	}
	if device.Status != oauthstore.DevicePending {
		return NotOpen, nil
	}
	got, err := on.DecideDevice(ctx, d)
	switch {
	case err != nil:
		return "", err
	case got.Outcome == oauthstore.ApprovalDone:
		return Done, nil
	case got.Outcome == oauthstore.ApprovalNotOpen:
		return NotOpen, nil
	case got.Outcome == oauthstore.ApprovalAppDead:
		return ClientDead, nil
	}
	return "", errors.New("an outcome that is none: " + string(got.Outcome))
}

func (o onTokens) poll(ctx context.Context, on partnerkit.Store, what Artifact) (Answer, error) {
	device, err := on.Device(ctx, what.Digest)
	if err != nil {
		return "", err
	}
	if device.Status == oauthstore.DevicePending {
		inTime, err := on.PollDevice(ctx, device.ID, noon, lifetimes.DeviceInterval)
		if err != nil {
			return "", err
		}
		if inTime {
			return Pending, nil
		}
		if device, err = on.Device(ctx, what.Digest); err != nil { // decided since the first read?
			return "", err
		}
	}
	switch {
	case device.Status == oauthstore.DeviceDenied:
		return Denied, nil
	case device.Status == oauthstore.DevicePending:
		return SlowDown, nil
	case device.Status == oauthstore.DeviceApproved && device.AppStatus != partner.AppActive:
		return ClientDead, nil
	case device.Status == oauthstore.DeviceCollected, !device.IsAlive():
		return Dead, nil
	}
	got, err := on.CollectDevice(ctx, device, o.Tokens)
	return answerOf(got, err, Dead, Dead)
}

func (o onTokens) exchangeSession(ctx context.Context, on partnerkit.Store) (Answer, error) {
	m := o.Tokens
	m.FamilyID, m.RefreshID = "", "" // the app gets a new session token instead
	got, err := on.ExchangeSession(ctx, oauthstore.Exchange{
		TokenID: o.Connection.Session, ExpiresAt: noon.Add(lifetimes.SessionToken), AppID: o.app.ID,
		BusinessID: o.business, UserID: o.user, InstallationID: o.Connection.Connected.Installation.ID,
	}, m)
	return answerOf(got, err, Dead, Dead)
}

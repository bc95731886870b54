package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/partnerkit/partnerkit"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/audited"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
)

// NotNamed is the answer of an approval of a custom connection that the app names no more.
const NotNamed Answer = "not named"

// customOperations issue installation tokens, and approve and end the custom connection.
var customOperations = []Operation{
	{Name: "issue installation token", Of: ofOAuth, Needs: []Need{needCustom}, Answers: issueAnswers, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			got, err := on.IssueForInstallation(ctx, o.app.ID, identity.Scopes{}, o.Tokens)
			return answerOf(got, err, Dead, Dead)
		},
		func(o onTokens, t testing.TB, happened bool) {
			if o.isLive(t, o.Tokens) != happened || o.canRefresh(t, o.Tokens) {
				t.Errorf("happened %v, and the installation token is live: %v", happened, !happened)
			}
		})},
	{Name: "approve custom connection", Of: ofOAuth, Needs: []Need{needCustom}, Answers: []Answer{Done, NotOpen, ClientDead, NotNamed}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			got, err := on.DecideRequest(ctx, o.customApproval(o.Connection.CustomRequest, o.Issue, "second"))
			if err != nil {
				return "", err
			}
			answers := map[oauthstore.ApprovalOutcome]Answer{
				oauthstore.ApprovalDone: Done, oauthstore.ApprovalNotOpen: NotOpen, oauthstore.ApprovalAppDead: ClientDead, oauthstore.ApprovalNotNamed: NotNamed,
			}
			if answer, ok := answers[got.Outcome]; ok {
				return answer, nil
			}
			return "", errors.New("an outcome that is none: " + string(got.Outcome))
		},
		func(o onTokens, t testing.TB, happened bool) {
			want := "first"
			if happened {
				want = "second"
			}
			if got := o.customToken(t); !slices.Equal(got.Permissions, []string{want}) || !got.IsLive(noon) {
				t.Errorf("happened %v, and the token has the permissions %q", happened, got.Permissions)
			}
		})},
	{Name: "unset custom business", Of: ofOAuth, Needs: []Need{needCustom}, Answers: []Answer{Done, Deactivated}, Prepare: tokens(
		func(o onTokens, ctx context.Context, on partnerkit.Store) (Answer, error) {
			return ending(o.nameBusiness(ctx, on, ""))
		},
		func(o onTokens, t testing.TB, happened bool) {
			app := get[partner.App](t)(o.App(t.Context(), o.app.ID))
			if o.customToken(t).IsLive(noon) == happened || (app.CustomBusinessID == "") != happened || !o.isLive(t, o.Connection.Current) {
				t.Errorf("happened %v, and the app names %q", happened, app.CustomBusinessID)
			}
		})},
}

// customToken returns the access token of the custom connection.
func (o onTokens) customToken(t testing.TB) oauthstore.AccessToken {
	t.Helper()
	issued := o.Connection.Custom.Tokens
	return get[oauthstore.AccessToken](t)(o.AccessToken(t.Context(), issued.AccessID, issued.AccessDigest))
}

// nameBusiness lets the app name a business for a custom connection.
func (f *oauthFixture) nameBusiness(ctx context.Context, on partnerkit.Store, businessID string) error {
	_, err := on.NameCustomBusiness(ctx, oauthstore.NameCustomBusiness{
		AppID: f.app.ID,
		Change: func(a partner.App) (partner.App, error) {
			if a.Status == partner.AppDeactivated {
				return a, oauthstore.ErrDeactivated
			}
			a.CustomBusinessID = businessID
			return a, nil
		},
		End: oauthstore.EndInstallation{
			Now: noon, RedactAt: noon.Add(lifetimes.RedactDelay),
			Record: func(partner.Installation) []partner.Event { return f.event(events.AppUninstalled, noon) },
			Audit:  f.entry(audited.CustomConnectionEnded, noon),
		},
	})
	return err
}

// customApproval approves the custom connection of the app with one permission.
func (s *Scene) customApproval(requestID string, i Issue, permission string) oauthstore.Decision {
	d := s.approvalOf(requestID, i)
	return s.custom(d, permission)
}

// custom makes the approval of a custom connection of an approval.
func (f *oauthFixture) custom(d oauthstore.Decision, permissions ...string) oauthstore.Decision {
	d.Code, d.ForInstallation, d.Permissions = oauthstore.NewCode{}, true, permissions
	usable := d.Check
	d.Check = func(a partner.App) oauthstore.ApprovalOutcome {
		if outcome := usable(a); outcome != oauthstore.ApprovalDone {
			return outcome
		}
		if a.CustomBusinessID != f.business {
			return oauthstore.ApprovalNotNamed
		}
		return oauthstore.ApprovalDone
	}
	return d
}

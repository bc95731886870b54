package storetest

import (
	"testing"

	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/internal/lifetimes"
	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// Need is what an operation of OAuth needs beyond an app that is installed with a user's
// consent and has live tokens.
type Need string

// The needs.
const (
	needFreshCode Need = "fresh code"
	needRotated   Need = "rotated family"
	needPending   Need = "pending device"
	needApproved  Need = "approved device"
	needCustom    Need = "custom connection"
)

// Connection is what operations of OAuth compete for in a scene: an app that is connected to
// a business, and its codes and tokens.
type Connection struct {
	AppID     string
	Connected oauthstore.Approved

	UsedCode, FreshCode Artifact
	Old, Current        oauthstore.NewTokens // of the token family; equal unless it was rotated
	Pending, Approved   Artifact
	Session             string // the id of a session token
	// Custom is the approval of a custom connection with its access token, and CustomRequest
	// an open request to approve it again.
	Custom        Issue
	CustomRequest string
	Issues        []Issue

	// Names are names by id, the same in every scene.
	Names map[string]string

	userCode string
}

// Artifact is a code or a device code.
type Artifact struct {
	ID     string
	Digest storage.Digest
}

// Issue is the set of ids and tokens created for an operation before it begins.
type Issue struct {
	Tokens                     oauthstore.NewTokens
	Installation, Grant, Event string
}

// NewIssue creates ids and tokens, and names them.
func (c *Connection) NewIssue(of string) Issue {
	i := Issue{Installation: id.New(id.Installation, noon), Grant: id.New(id.Grant, noon), Event: id.New(id.Event, noon), Tokens: newTokens(noon)}
	for value, name := range map[string]string{
		i.Installation: "installation", i.Grant: "grant", i.Event: "event",
		i.Tokens.FamilyID: "family", i.Tokens.AccessID: "access token", i.Tokens.RefreshID: "refresh token",
	} {
		c.Names[value] = name + " " + of
	}
	return i
}

// connect installs the app, redeems the code, and creates what operations need.
func (s *Scene) connect(t testing.TB, issues int, needs map[Need]bool) {
	t.Helper()
	c := &Connection{AppID: s.app.ID, Session: "jti_" + s.name}
	c.Names = map[string]string{c.AppID: "app", c.Session: "session token"}
	s.Connection = c
	for i := range issues {
		c.Issues = append(c.Issues, c.NewIssue("of "+string(rune('0'+i))))
	}
	first := c.NewIssue("at first")
	c.UsedCode, c.Connected = s.namedCode(t, first, "used code")
	c.Old, c.Current = first.Tokens, first.Tokens
	code := get[oauthstore.Code](t)(s.Code(t.Context(), c.UsedCode.Digest))
	must(t, issuedBy(s.RedeemCode(t.Context(), code, first.Tokens)))
	if needs[needFreshCode] {
		c.FreshCode, _ = s.namedCode(t, c.NewIssue("for the fresh code"), "fresh code")
	}
	if needs[needRotated] {
		token := s.refreshToken(t, c.Old)
		c.Current = c.NewIssue("of the rotation").Tokens
		must(t, issuedBy(s.RotateRefresh(t.Context(), oauthstore.Rotation{Token: token}, c.Current)))
	}
	if needs[needPending] {
		c.Pending, c.userCode = s.namedDevice(t, "pending device")
	}
	if needs[needApproved] {
		c.Approved, _ = s.namedDevice(t, "approved device")
		approved, err := s.DecideDevice(t.Context(), s.approvalOf(c.Approved.ID, c.NewIssue("for the device")))
		must(t, outcome(err, approved.Outcome == oauthstore.ApprovalDone))
	}
	if needs[needCustom] {
		must(t, s.nameBusiness(t.Context(), s, s.business))
		c.Custom = c.NewIssue("of the custom connection")
		approved, err := s.DecideRequest(t.Context(), s.customApproval(s.hold(t, allScopes).ID, c.Custom, "first"))
		must(t, outcome(err, approved.Outcome == oauthstore.ApprovalDone))
		must(t, issuedBy(s.IssueForInstallation(t.Context(), s.app.ID, identity.Scopes{}, c.Custom.Tokens)))
		c.CustomRequest = s.hold(t, allScopes).ID
	}
}

// namedCode approves a request and returns its code.
func (s *Scene) namedCode(t testing.TB, i Issue, name string) (Artifact, oauthstore.Approved) {
	t.Helper()
	approval := s.approvalOf(s.hold(t, allScopes).ID, i)
	s.Connection.Names[approval.Code.ID] = name
	approved, err := s.DecideRequest(t.Context(), approval)
	must(t, outcome(err, approved.Outcome == oauthstore.ApprovalDone))
	return Artifact{approval.Code.ID, approval.Code.Digest}, approved
}

func (s *Scene) namedDevice(t testing.TB, name string) (made Artifact, userCode string) {
	t.Helper()
	made = Artifact{id.New(id.Device, noon), secret.New(secret.DeviceCode).Digest()}
	s.Connection.Names[made.ID] = name
	d := oauthstore.DeviceCode{ID: made.ID, UserCode: secret.NewUserCode(), Scopes: allScopes, CreatedAt: noon, ExpiresAt: noon.Add(lifetimes.DeviceCode)}
	d.AppID = s.app.ID
	must(t, s.CreateDevice(t.Context(), d, made.Digest))
	return made, d.UserCode
}

// approvalOf approves with the ids of an issue.
func (s *Scene) approvalOf(request string, i Issue) oauthstore.Decision {
	d := s.approval(request, noon)
	d.InstallationID, d.GrantID = i.Installation, i.Grant
	d.Record = func(a oauthstore.Approved) []partner.Event {
		if a.Installed {
			return s.eventOf(events.AppInstalled, i)
		}
		return nil
	}
	return d
}

func (s *Scene) eventOf(name string, i Issue) []partner.Event {
	recorded := s.event(name, noon)
	recorded[0].ID = i.Event
	return recorded
}

package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// standingColumns select the state of everything that an artifact x depends on, joined by
// standingJoins. An artifact without a grant or a family has NULL there.
const standingColumns = `a.id, a.client_id, a.status, a.scopes, i.id, i.business_id, i.status, i.scopes,
	g.id, g.ended_at, g.left_at, x.user_id, u.status`

const standingJoins = ` JOIN partnerkit_app a ON a.id = x.app_id
	JOIN partnerkit_installation i ON i.id = x.installation_id
	LEFT JOIN partnerkit_grant g ON g.id = x.grant_id
	LEFT JOIN partnerkit_user_state u ON u.user_id = x.user_id`

// A token of a family has the grant and the user of the family f, which take-overs change.
var (
	tokenColumns = strings.Replace(standingColumns, "x.user_id", "COALESCE(f.user_id, x.user_id)", 1)
	tokenJoins   = " LEFT JOIN partnerkit_family f ON f.id = x.family_id" +
		strings.NewReplacer("x.grant_id", "COALESCE(f.grant_id, x.grant_id)", "x.user_id", "COALESCE(f.user_id, x.user_id)").Replace(standingJoins)
)

// standingRow is the scan target for standingColumns. Columns that need no decoding are
// scanned into the Standing directly.
type standingRow struct {
	to                           *oauthstore.Standing
	appScopes, installedScopes   string
	grant, user                  sql.NullString
	grantEnded, grantLeft        sql.NullInt64
	family                       sql.NullString
	familyEnded, familyGenerated sql.NullInt64
}

func (r *standingRow) dest() []any {
	s := r.to
	return append(make([]any, 0, 25), // with room for what its artifact adds
		// Statuses as plain strings, which need no reflection.
		&s.AppID, &s.ClientID, (*string)(&s.AppStatus), &r.appScopes,
		&s.InstallationID, &s.BusinessID, (*string)(&s.InstallationStatus), &r.installedScopes,
		&r.grant, &r.grantEnded, &r.grantLeft, &s.UserID, &r.user)
}

// decode completes the Standing; own are the scopes of the artifact itself.
func (r *standingRow) decode(own stored) error {
	r.to.GrantID, r.to.GrantEnded, r.to.GrantLeft, r.to.UserStatus = r.grant.String, r.grantEnded.Valid, r.grantLeft.Valid, userStatus(r.user)
	r.to.FamilyID, r.to.FamilyEnded = r.family.String, r.familyEnded.Valid
	return decoded(stored{r.appScopes, &r.to.AppScopes}, stored{r.installedScopes, &r.to.InstallationScopes}, own)
}

// userStatus returns the status of a user; a user without a row is active.
func userStatus(said sql.NullString) identity.UserStatus {
	if !said.Valid {
		return identity.UserActive
	}
	return identity.UserStatus(said.String)
}

// parents are the ids of the app, installation, user and grant that a token depends on,
// which are read before the transaction. Only TakeOver changes any of them: user and grant of
// a family. It ends the earlier grant, which shows under its lock.
type parents struct {
	app, installation, user string
	grant                   string // empty for an exchanged token
}

func parentsOf(o oauthstore.Owners) parents {
	return parents{app: o.AppID, installation: o.InstallationID, user: o.UserID, grant: o.GrantID}
}

// owners are parents as statement arguments, converted once for several statements.
type owners struct{ app, installation, grant, user any }

func (p parents) owners() owners {
	return owners{app: p.app, installation: p.installation, grant: nullText(p.grant), user: p.user}
}

// locked is the state of the parents. It cannot change until the transaction ends, because
// operations that end a parent wait for its row. The user is not locked: tokens issued to a
// user who is suspended at the same moment are rejected with the user.
type locked struct {
	app                partner.AppStatus
	installation       partner.InstallationStatus
	grantEnded         bool
	user               identity.UserStatus
	appScopes, granted identity.Scopes
}

// lockedColumns select the state of the parents. The app, installation and grant have the
// aliases a, i and g; the user's id follows.
const (
	lockedColumns = "a.status, a.scopes, i.status, i.scopes, (SELECT u.status FROM partnerkit_user_state u WHERE u.user_id = "
	grantColumn   = ", g.ended_at"
)

// lockedRow is the scan target for lockedColumns, with or without a grant.
type lockedRow struct {
	state              locked
	appScopes, granted string
	user               sql.NullString
	grantEnded         sql.NullInt64
}

func (r *lockedRow) dest() []any {
	return append(make([]any, 0, 8), // with room for what else is read
		(*string)(&r.state.app), &r.appScopes, (*string)(&r.state.installation), &r.granted, &r.user)
}

func (r *lockedRow) decode() (locked, error) {
	r.state.grantEnded, r.state.user = r.grantEnded.Valid, userStatus(r.user)
	err := decoded(stored{r.appScopes, &r.state.appScopes}, stored{r.granted, &r.state.granted})
	return r.state, err
}

// lockStatement reads and locks the parents in the order app, installation, grant.
// Exchanged session tokens have no grant.
func lockStatement(d storage.Dialect, grant bool) string {
	columns := lockedColumns + "$1)"
	from, where := " FROM partnerkit_app a JOIN partnerkit_installation i ON i.app_id = a.id", " WHERE i.id = $2"
	if !grant {
		return "SELECT " + columns + from + where + d.ShareOf("a, i")
	}
	return "SELECT " + columns + grantColumn + from + " JOIN partnerkit_grant g ON g.installation_id = i.id" + where + " AND g.id = $3" + d.ShareOf("a, i, g")
}

// use begins the issue of tokens: it locks the parents, then uses up the artifact with a
// single conditional write, which selects the winner of a race. Both statements are sent
// together, so the write has happened even if the state forbids the issue; the caller must
// then roll back with errStop. use returns ErrNotFound if a parent does not exist.
func (t *tx) use(ctx context.Context, p parents, write string, args ...any) (_ locked, won bool, err error) {
	var row struct {
		lockedRow
		found bool
	}
	query, of, dest := t.sql.lock, append(make([]any, 0, 3), p.user, p.installation), row.dest()
	if p.grant != "" {
		query, of, dest = t.sql.lockWithGrant, append(of, p.grant), append(dest, &row.grantEnded)
	}
	if err := storage.OneLater(ctx, t.on, &row.found, query, of, dest...); err != nil {
		return locked{}, false, err
	}
	n, err := t.exec(ctx, write, args...)
	switch {
	case err != nil:
		return locked{}, false, err
	case !row.found:
		return locked{}, false, partner.ErrNotFound
	}
	state, err := row.decode()
	return state, n > 0, err
}

// result returns the outcome for tokens of these scopes: Issued with the scopes that are
// still allowed, or the reason for refusal. What has ended for good comes before what may
// pass.
func (l locked) result(scopes identity.Scopes, m oauthstore.NewTokens) oauthstore.IssueResult {
	left := scopes.Intersect(l.appScopes).Intersect(l.granted)
	switch {
	case l.app != partner.AppActive:
		return oauthstore.IssueResult{Outcome: oauthstore.ClientDead}
	case l.installation == partner.InstallationRevoked:
		return oauthstore.IssueResult{Outcome: oauthstore.Revoked}
	case l.installation != partner.InstallationActive, l.grantEnded:
		return oauthstore.IssueResult{Outcome: oauthstore.Dead}
	case l.user != identity.UserActive, m.NotMember:
		return oauthstore.IssueResult{Outcome: oauthstore.UserBarred}
	case left.IsEmpty():
		return oauthstore.IssueResult{Outcome: oauthstore.NoScopes}
	}
	return oauthstore.IssueResult{Outcome: oauthstore.Issued, Scopes: left}
}

// mayPass reports whether the cause of a refusal may pass.
func mayPass(o oauthstore.Outcome) bool {
	return o == oauthstore.UserBarred || o == oauthstore.NoScopes
}

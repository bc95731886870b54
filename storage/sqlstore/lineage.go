package sqlstore

import (
	"context"
	"database/sql"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

// standingColumns are the state of all that an artifact x hangs on, read with
// standingJoins. An artifact without a grant or a family has NULL there.
const standingColumns = `a.id, a.client_id, a.status, a.scopes, i.id, i.business_id, i.status, i.scopes,
	g.id, g.ended_at, x.user_id, u.status`

const standingJoins = ` JOIN partnerkit_app a ON a.id = x.app_id
	JOIN partnerkit_installation i ON i.id = x.installation_id
	LEFT JOIN partnerkit_grant g ON g.id = x.grant_id
	LEFT JOIN partnerkit_user_state u ON u.user_id = x.user_id`

// standingRow is where a row of standingColumns is scanned to. What needs no
// decoding goes to its place at once.
type standingRow struct {
	to                           *oauthserver.Standing
	appScopes, installedScopes   string
	grant, user                  sql.NullString
	grantEnded                   sql.NullInt64
	family                       sql.NullString
	familyEnded, familyGenerated sql.NullInt64
}

func (r *standingRow) dest() []any {
	s := r.to
	return append(make([]any, 0, 24), // with room for what its artifact adds
		// Statuses as plain strings, which need no reflection.
		&s.AppID, &s.ClientID, (*string)(&s.AppStatus), &r.appScopes,
		&s.InstallationID, &s.BusinessID, (*string)(&s.InstallationStatus), &r.installedScopes,
		&r.grant, &r.grantEnded, &s.UserID, &r.user)
}

// decode completes the standing; own are the scopes of the artifact itself.
func (r *standingRow) decode(own stored) error {
	r.to.GrantID, r.to.GrantEnded, r.to.UserStatus = r.grant.String, r.grantEnded.Valid, userStatus(r.user)
	r.to.FamilyID, r.to.FamilyEnded = r.family.String, r.familyEnded.Valid
	return decoded(stored{r.appScopes, &r.to.AppScopes}, stored{r.installedScopes, &r.to.InstallationScopes}, own)
}

// userStatus is that of a user about whom something was said, or not.
func userStatus(said sql.NullString) oauthserver.UserStatus {
	if !said.Valid {
		return oauthserver.UserActive
	}
	return oauthserver.UserStatus(said.String)
}

// lineage names what a mint hangs on. It never changes, so it can be known from
// a look beforehand.
type lineage struct {
	app, installation, user string
	grant                   string // empty for an exchanged token
}

func lineageOf(s oauthserver.Standing) lineage {
	return lineage{app: s.AppID, installation: s.InstallationID, user: s.UserID, grant: s.GrantID}
}

// owners are a lineage as arguments of statements, made once for several of them.
type owners struct{ app, installation, grant, user any }

func (l lineage) owners() owners {
	return owners{app: l.app, installation: l.installation, grant: nullText(l.grant), user: l.user}
}

// locked is the state of a lineage, which stays so until the transaction ends:
// whoever wants to end one of its parts waits. Only the user is not locked: what a user
// gets who is suspended at this moment is dead with the user.
type locked struct {
	app                oauthserver.AppStatus
	installation       oauthserver.InstallationStatus
	grantEnded         bool
	user               oauthserver.UserStatus
	appScopes, granted identity.Scopes
}

// lockedColumns are the state of a lineage whose app, installation and grant are a, i and
// g, and whose user is named behind them.
const (
	lockedColumns = "a.status, a.scopes, i.status, i.scopes, (SELECT u.status FROM partnerkit_user_state u WHERE u.user_id = "
	grantColumn   = ", g.ended_at"
)

// lockedRow is where a row of lockedColumns is scanned to, with or without a grant.
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

// lockStatement reads and locks a lineage, in the order app, installation, grant. Not
// every one has a grant.
func lockStatement(d storage.Dialect, grant bool) string {
	columns := lockedColumns + "$1)"
	from, where := " FROM partnerkit_app a JOIN partnerkit_installation i ON i.app_id = a.id", " WHERE i.id = $2"
	if !grant {
		return "SELECT " + columns + from + where + d.ShareOf("a, i")
	}
	return "SELECT " + columns + grantColumn + from + " JOIN partnerkit_grant g ON g.installation_id = i.id" + where + " AND g.id = $3" + d.ShareOf("a, i, g")
}

// use is how a mint begins: it locks the lineage, then uses up what the tokens are given
// for, by the one conditional write that picks the winner. Both travel together, so a
// mint that the state forbids has written by then, and must be undone with errStop. A
// part that is missing has ended.
func (t *tx) use(ctx context.Context, l lineage, write string, args ...any) (_ locked, won bool, err error) {
	var row struct {
		lockedRow
		found bool
	}
	query, of, dest := t.sql.lock, append(make([]any, 0, 3), l.user, l.installation), row.dest()
	if l.grant != "" {
		query, of, dest = t.sql.lockWithGrant, append(of, l.grant), append(dest, &row.grantEnded)
	}
	if err := storage.OneLater(ctx, t.on, &row.found, query, of, dest...); err != nil {
		return locked{}, false, err
	}
	n, err := t.exec(ctx, write, args...)
	switch {
	case err != nil:
		return locked{}, false, err
	case !row.found:
		return locked{}, false, oauthserver.ErrNotFound
	}
	state, err := row.decode()
	return state, n > 0, err
}

// isAlive reports whether nothing of the lineage has ended.
func (l locked) isAlive() bool {
	return l.app == oauthserver.AppActive && l.installation == oauthserver.InstallationActive && !l.grantEnded && l.user == oauthserver.UserActive
}

// verdict is what the state means for a mint of these scopes: Issued so far with
// those that are left, or why not.
func (l locked) verdict(scopes identity.Scopes) oauthserver.IssueResult {
	left := scopes.Intersect(l.appScopes).Intersect(l.granted)
	switch {
	case l.app != oauthserver.AppActive:
		return oauthserver.IssueResult{Outcome: oauthserver.ClientDead}
	case l.installation == oauthserver.InstallationRevoked:
		return oauthserver.IssueResult{Outcome: oauthserver.Revoked}
	case !l.isAlive(), left.IsEmpty():
		return oauthserver.IssueResult{Outcome: oauthserver.Dead}
	}
	return oauthserver.IssueResult{Outcome: oauthserver.Issued, Scopes: left}
}

package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

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
	family                  string // of a refresh; empty for a mint that begins one
}

// lineageOf is that of a mint that begins a family.
func lineageOf(s oauthserver.Standing) lineage {
	return lineage{app: s.AppID, installation: s.InstallationID, user: s.UserID, grant: s.GrantID}
}

// locked is the state of a lineage, which stays so until the transaction ends:
// whoever wants to end one of its parts waits.
type locked struct {
	app                oauthserver.AppStatus
	installation       oauthserver.InstallationStatus
	grantEnded         bool
	user               oauthserver.UserStatus
	appScopes, granted identity.Scopes
	// Of the family, for a refresh.
	familyScopes identity.Scopes
	generation   int64
	familyEnded  bool
}

// parts are those that not every lineage has.
type parts struct{ grant, family bool }

func lockStatements(d storage.Dialect) map[parts]string {
	all := make(map[parts]string)
	for _, has := range []parts{{}, {grant: true}, {family: true}, {grant: true, family: true}} {
		all[has] = lockStatement(d, has)
	}
	return all
}

// lockStatement reads and locks a lineage, in the order app, installation, grant,
// family.
func lockStatement(d storage.Dialect, has parts) string {
	columns := "a.status, a.scopes, i.status, i.scopes, (SELECT u.status FROM partnerkit_user_state u WHERE u.user_id = $1)"
	from := " FROM partnerkit_app a JOIN partnerkit_installation i ON i.app_id = a.id"
	where, shared, owned, values := " WHERE i.id = $2", "a, i", "", 2
	if has.grant {
		values++
		columns += ", g.ended_at"
		from += " JOIN partnerkit_grant g ON g.installation_id = i.id"
		where += fmt.Sprintf(" AND g.id = $%d", values)
		shared += ", g"
	}
	if has.family {
		values++
		columns += ", f.scopes, f.generation, f.ended_at"
		from += " JOIN partnerkit_family f ON f.installation_id = i.id"
		where += fmt.Sprintf(" AND f.id = $%d", values)
		owned = d.UpdateOf("f")
	}
	return "SELECT " + columns + from + where + d.ShareOf(shared) + owned
}

// lock takes the locks of a mint. A part that is missing has ended.
func (t *tx) lock(ctx context.Context, l lineage) (locked, error) {
	var row struct {
		state                            locked
		appScopes, granted, familyScopes string
		user                             sql.NullString
		grantEnded, familyEnded          sql.NullInt64
	}
	state := &row.state
	has := parts{grant: l.grant != "", family: l.family != ""}
	args := append(make([]any, 0, 4), l.user, l.installation)
	dest := append(make([]any, 0, 9), (*string)(&state.app), &row.appScopes, (*string)(&state.installation), &row.granted, &row.user)
	if has.grant {
		args, dest = append(args, l.grant), append(dest, &row.grantEnded)
	}
	if has.family {
		args, dest = append(args, l.family), append(dest, &row.familyScopes, &state.generation, &row.familyEnded)
	} else {
		row.familyScopes = "[]"
	}
	if err := t.one(ctx, t.sql.locks[has], args, dest...); err != nil {
		return locked{}, notFound(err)
	}
	state.grantEnded, state.familyEnded, state.user = row.grantEnded.Valid, row.familyEnded.Valid, userStatus(row.user)
	err := decoded(stored{row.appScopes, &state.appScopes}, stored{row.granted, &state.granted}, stored{row.familyScopes, &state.familyScopes})
	return *state, err
}

// isAlive reports whether nothing of the lineage has ended.
func (l locked) isAlive() bool {
	return l.app == oauthserver.AppActive && l.installation == oauthserver.InstallationActive && !l.grantEnded && l.user == oauthserver.UserActive && !l.familyEnded
}

// verdict is what the state means for a mint of these scopes: Issued so far with
// those that are left, or why not.
func (l locked) verdict(scopes identity.Scopes) oauthserver.Minted {
	left := scopes.Intersect(l.appScopes).Intersect(l.granted)
	switch {
	case l.app != oauthserver.AppActive:
		return oauthserver.Minted{Outcome: oauthserver.ClientDead}
	case l.installation == oauthserver.InstallationRevoked:
		return oauthserver.Minted{Outcome: oauthserver.Revoked}
	case !l.isAlive(), left.IsEmpty():
		return oauthserver.Minted{Outcome: oauthserver.Dead}
	}
	return oauthserver.Minted{Outcome: oauthserver.Issued, Scopes: left}
}

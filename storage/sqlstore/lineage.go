package sqlstore

import (
	"context"
	"database/sql"

	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver"
)

// standingColumns are the state of all that an artifact x hangs on, read with
// standingJoins. An artifact without a grant or a family has NULL there.
const standingColumns = `a.id, a.client_id, a.status, a.scopes, i.id, i.business_id, i.status, i.scopes,
	g.id, g.ended_at, x.user_id, COALESCE(u.status, 'ACTIVE')`

const standingJoins = ` JOIN partnerkit_app a ON a.id = x.app_id
	JOIN partnerkit_installation i ON i.id = x.installation_id
	LEFT JOIN partnerkit_grant g ON g.id = x.grant_id
	LEFT JOIN partnerkit_user_state u ON u.user_id = x.user_id`

// standingRow is where a row of standingColumns is scanned to. What needs no
// decoding goes to its place at once.
type standingRow struct {
	to                           *oauthserver.Standing
	appScopes, installedScopes   string
	grant                        sql.NullString
	grantEnded                   sql.NullInt64
	family                       sql.NullString
	familyEnded, familyGenerated sql.NullInt64
}

func (r *standingRow) dest() []any {
	s := r.to
	return append(make([]any, 0, 24), // with room for what its artifact adds
		// Statuses as plain strings: database/sql would convert them by reflection.
		&s.AppID, &s.ClientID, (*string)(&s.AppStatus), &r.appScopes,
		&s.InstallationID, &s.BusinessID, (*string)(&s.InstallationStatus), &r.installedScopes,
		&r.grant, &r.grantEnded, &s.UserID, (*string)(&s.UserStatus))
}

// decode completes the standing; own are the scopes of the artifact itself.
func (r *standingRow) decode(own stored) error {
	r.to.GrantID, r.to.GrantEnded = r.grant.String, r.grantEnded.Valid
	r.to.FamilyID, r.to.FamilyEnded = r.family.String, r.familyEnded.Valid
	return decoded(stored{r.appScopes, &r.to.AppScopes}, stored{r.installedScopes, &r.to.InstallationScopes}, own)
}

// lineage names what a mint hangs on. It never changes, so it can be known from
// a look beforehand.
type lineage struct {
	app, installation, grant, user string
}

func lineageOf(s oauthserver.Standing) lineage {
	return lineage{s.AppID, s.InstallationID, s.GrantID, s.UserID}
}

// locked is the state of a lineage, which stays so until the transaction ends:
// whoever wants to end one of its parts waits.
type locked struct {
	app                oauthserver.AppStatus
	installation       oauthserver.InstallationStatus
	grantEnded         bool
	user               oauthserver.UserStatus
	appScopes, granted identity.Scopes
}

// lock takes the locks of a mint, in the order app, installation, grant. A part
// that is missing has ended.
func (t *tx) lock(ctx context.Context, l lineage) (locked, error) {
	var state locked
	var appScopes, granted string
	var grantEnded sql.NullInt64
	query := `SELECT a.status, a.scopes, i.status, i.scopes, g.ended_at,
			COALESCE((SELECT u.status FROM partnerkit_user_state u WHERE u.user_id = $3), 'ACTIVE')
		FROM partnerkit_app a JOIN partnerkit_installation i ON i.app_id = a.id JOIN partnerkit_grant g ON g.installation_id = i.id
		WHERE i.id = $1 AND g.id = $2` + t.dialect.ShareOf("a, i, g")
	args := []any{l.installation, l.grant, l.user}
	if l.grant == "" { // an exchanged token hangs on installation and user alone
		query = `SELECT a.status, a.scopes, i.status, i.scopes, NULL,
				COALESCE((SELECT u.status FROM partnerkit_user_state u WHERE u.user_id = $2), 'ACTIVE')
			FROM partnerkit_app a JOIN partnerkit_installation i ON i.app_id = a.id
			WHERE i.id = $1` + t.dialect.ShareOf("a, i")
		args = []any{l.installation, l.user}
	}
	if err := t.one(ctx, query, args, &state.app, &appScopes, &state.installation, &granted, &grantEnded, &state.user); err != nil {
		return state, notFound(err)
	}
	state.grantEnded = grantEnded.Valid
	return state, decoded(stored{appScopes, &state.appScopes}, stored{granted, &state.granted})
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
	case l.installation != oauthserver.InstallationActive, l.grantEnded, l.user != oauthserver.UserActive, left.IsEmpty():
		return oauthserver.Minted{Outcome: oauthserver.Dead}
	}
	return oauthserver.Minted{Outcome: oauthserver.Issued, Scopes: left}
}

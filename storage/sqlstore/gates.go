package sqlstore

import (
	"database/sql"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/webhooks"
)

// gateColumns and gateJoins add to deliveries d all that decides whether one may be
// sent, and where to.
const (
	gateColumns = "w.url, w.secret, w.previous_secret, w.previous_expires_at, w.enabled, w.deleted_at, app.status, app.scopes, i.scopes"
	gateJoins   = ` LEFT JOIN partnerkit_webhook w ON w.id = d.webhook_id LEFT JOIN partnerkit_app app ON app.id = d.app_id
		LEFT JOIN partnerkit_installation i ON i.app_id = d.app_id AND i.business_id = d.business_id AND i.status = 'ACTIVE'`
)

// gateRow is where gateColumns are scanned to. What is missing has been purged.
type gateRow struct {
	url                                  sql.NullString
	secret, previous                     []byte
	previousExpires                      sql.NullInt64
	enabled                              sql.NullBool
	deleted                              sql.NullInt64
	status, appScopes, installationScope sql.NullString
}

func (r *gateRow) dest() []any {
	return []any{&r.url, &r.secret, &r.previous, &r.previousExpires, &r.enabled, &r.deleted, &r.status, &r.appScopes, &r.installationScope}
}

func (r *gateRow) secrets() webhooks.Secrets {
	return webhooks.Secrets{Secret: r.secret, Previous: r.previous, PreviousExpiresAt: fromNullMS(r.previousExpires)}
}

func (r *gateRow) standing(appID string) (webhooks.Standing, error) {
	now := webhooks.Standing{
		IsDeleted: !r.url.Valid || r.deleted.Valid, IsEnabled: r.enabled.Bool, IsAppUsable: r.status.String == string(oauthserver.AppActive),
	}
	now.Viewer.AppID, now.Viewer.IsInstalled = appID, r.installationScope.Valid
	var lists []stored
	if r.appScopes.Valid {
		lists = append(lists, stored{r.appScopes.String, &now.Viewer.AppScopes})
	}
	if r.installationScope.Valid {
		lists = append(lists, stored{r.installationScope.String, &now.Viewer.InstallationScopes})
	}
	return now, decoded(lists...)
}

package sqlstore

import (
	"database/sql"

	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// gateColumns and gateJoins add to deliveries d all that decides whether one may be
// sent.
const (
	gateColumns = "w.id, w.enabled, w.deleted_at, w.unverified_since, app.status, app.scopes, i.scopes"
	gateJoins   = ` LEFT JOIN partnerkit_webhook w ON w.id = d.webhook_id LEFT JOIN partnerkit_app app ON app.id = d.app_id
		LEFT JOIN partnerkit_installation i ON i.app_id = d.app_id AND i.business_id = d.business_id AND i.status = 'ACTIVE'`
)

// gateRow scans gateColumns. What is missing has been purged.
type gateRow struct {
	webhook                              sql.NullString
	enabled                              sql.NullBool
	deleted, unverified                  sql.NullInt64
	status, appScopes, installationScope sql.NullString
}

func (r *gateRow) dest() []any {
	return []any{&r.webhook, &r.enabled, &r.deleted, &r.unverified, &r.status, &r.appScopes, &r.installationScope}
}

func (r *gateRow) standing(appID string) (webhookstore.Standing, error) {
	now := webhookstore.Standing{
		IsDeleted: !r.webhook.Valid || r.deleted.Valid, IsEnabled: r.enabled.Bool, IsUnverified: r.unverified.Valid, IsAppUsable: r.status.String == string(partner.AppActive),
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

package sqlstore

import (
	"context"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

var _ console.Store = (*Store)(nil)

// OrganizationApps implements console.Store.
func (s *Store) OrganizationApps(ctx context.Context, organizationIDs []string, before string, limit int) ([]oauthserver.App, error) {
	if len(organizationIDs) == 0 {
		return nil, nil
	}
	where := "a.organization_id IN (" + places(0, len(organizationIDs)) + ")"
	args := anys(organizationIDs)
	if before != "" {
		args = append(args, before)
		where += " AND a.id < " + places(len(args)-1, 1)
	}
	args = append(args, limit)
	var all []oauthserver.App
	err := storage.Each(ctx, s, s.sql.of("SELECT "+appColumns+" FROM partnerkit_app a WHERE "+where+" ORDER BY a.id DESC LIMIT "+places(len(args)-1, 1)), args,
		func(scan func(...any) error) error {
			var row appRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			one, err := row.value()
			all = append(all, one)
			return err
		})
	return all, wrap("apps of organizations", err)
}

package sqlstore

import (
	"context"
	"strings"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
)

var _ console.Store = (*Store)(nil)

// Apps implements oauthserver.AppStore and console.Store.
func (s *Store) Apps(ctx context.Context, q oauthserver.AppQuery) ([]oauthserver.App, error) {
	var args []any
	where := make([]string, 0, 2)
	switch {
	case q.ClientID != "":
		q.Before, q.Limit = "", 1
		args = []any{q.ClientID}
		where = append(where, "a.client_id = $1")
	case q.All:
	case len(q.OrganizationIDs) == 0:
		return nil, nil
	default:
		args = anys(q.OrganizationIDs)
		where = append(where, "a.organization_id IN ("+places(0, len(args))+")")
	}
	if q.Text != "" {
		args = append(args, "%"+likeEscaper.Replace(q.Text)+"%", q.Text)
		part, whole := places(len(args)-2, 1), places(len(args)-1, 1)
		where = append(where, "(LOWER(a.name) LIKE LOWER("+part+") ESCAPE '!' OR a.id = "+whole+" OR a.client_id = "+whole+" OR a.organization_id = "+whole+")")
	}
	if q.Status != "" {
		args = append(args, string(q.Status))
		where = append(where, "a.status = "+places(len(args)-1, 1))
	}
	if q.Before != "" {
		args = append(args, q.Before)
		where = append(where, "a.id < "+places(len(args)-1, 1))
	}
	query := "SELECT " + appColumns + " FROM partnerkit_app a"
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	args = append(args, q.Limit)
	var all []oauthserver.App
	err := storage.Each(ctx, s, s.sql.of(query+" ORDER BY a.id DESC LIMIT "+places(len(args)-1, 1)), args,
		func(scan func(...any) error) error {
			var row appRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			one, err := row.value()
			all = append(all, one)
			return err
		})
	return all, wrap("apps", err)
}

// likeEscaper escapes what LIKE would take for a wildcard.
var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

package sqlstore

import (
	"context"
	"strings"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

var _ consolestore.Store = (*Store)(nil)

// Apps implements oauthstore.Store and consolestore.Store.
func (s *Store) Apps(ctx context.Context, q partner.AppQuery) ([]partner.App, error) {
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
		matches := []string{"LOWER(a.name) LIKE LOWER(" + part + ") ESCAPE '!'", "a.id = " + whole, "a.client_id = " + whole, "a.organization_id = " + whole}
		for _, pattern := range hostPatterns(q.Text) {
			args = append(args, pattern)
			matches = append(matches, "LOWER(a.redirect_uris) LIKE "+places(len(args)-1, 1)+" ESCAPE '!'")
		}
		if len(q.TextOrganizations) > 0 {
			matches = append(matches, "a.organization_id IN ("+places(len(args), len(q.TextOrganizations))+")")
			args = append(args, anys(q.TextOrganizations)...)
		}
		where = append(where, "("+strings.Join(matches, " OR ")+")")
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
	var all []partner.App
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

// hostPatterns returns what a list of redirect URIs with this host is like, as it is stored.
func hostPatterns(host string) []string {
	if host == "" || strings.ContainsAny(host, `/"\\?# `) {
		return nil
	}
	var all []string
	for _, scheme := range []string{"http", "https"} {
		for _, end := range []string{"/", ":", `"`, "?"} {
			all = append(all, `%"`+scheme+"://"+likeEscaper.Replace(strings.ToLower(host))+end+"%")
		}
	}
	return all
}

// likeEscaper escapes what LIKE would take for a wildcard.
var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

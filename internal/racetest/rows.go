package racetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// tables are the statements that read the rows; %s is the list of ids.
var tables = []struct{ kind, sql string }{
	{"app", "SELECT 'app', id, '', '', '', status || CASE WHEN custom_business_id = '' THEN '' ELSE ' names' END, 0 FROM partnerkit_app WHERE id IN (%s)"},
	{"installation", "SELECT 'installation', id, '', '', '', status || CASE WHEN ended_at IS NULL THEN '' ELSE ' ended' END, 0 FROM partnerkit_installation WHERE id IN (%s)"},
	{"grant", "SELECT 'grant', id, '', installation_id, '', CASE WHEN ended_at IS NULL THEN 'live' ELSE 'ended' END || ' ' || permissions, 0 FROM partnerkit_grant WHERE id IN (%s)"},
	{"code", "SELECT 'code', id, COALESCE(family_id, ''), installation_id, grant_id, CASE WHEN used_at IS NULL THEN 'open' ELSE 'used' END, 0 FROM partnerkit_code WHERE id IN (%s)"},
	{"family", "SELECT 'family', id, '', installation_id, COALESCE(grant_id, ''), CASE WHEN ended_at IS NULL THEN 'live' ELSE 'ended' END, generation FROM partnerkit_family WHERE id IN (%s)"},
	{"access", "SELECT 'access', id, COALESCE(family_id, ''), installation_id, COALESCE(grant_id, ''), CASE WHEN revoked_at IS NULL THEN 'live' ELSE 'ended' END, generation FROM partnerkit_access_token WHERE id IN (%s)"},
	{"refresh", "SELECT 'refresh', t.id, t.family_id, '', '', CASE WHEN t.generation < f.generation THEN 'used' ELSE 'open' END, t.generation FROM partnerkit_refresh_token t JOIN partnerkit_family f ON f.id = t.family_id WHERE t.id IN (%s)"},
	{"device", "SELECT 'device', id, '', COALESCE(installation_id, ''), COALESCE(grant_id, ''), status, CASE WHEN polled_at IS NULL THEN 0 ELSE 1 END FROM partnerkit_device_code WHERE id IN (%s)"},
	{"session", "SELECT 'session', token_id, '', '', '', 'used', 0 FROM partnerkit_used_session_token WHERE token_id IN (%s)"},
	{"event", "SELECT 'event', id, '', '', '', type, 0 FROM partnerkit_event WHERE id IN (%s)"},
}

// tokenRows reads every row of a scenario of OAuth with one statement, and returns them as
// text with names in place of ids, so that scenarios compare equal.
func (sc *scenario) tokenRows(ctx context.Context, s *sqlstore.Store) (string, error) {
	ids := map[string][]string{"app": {sc.Connection.AppID}, "session": {sc.Connection.Session}, "code": {sc.Connection.UsedCode.ID, sc.Connection.FreshCode.ID}, "device": {sc.Connection.Pending.ID, sc.Connection.Approved.ID}}
	add := func(l storetest.Issue) {
		for kind, value := range map[string]string{"installation": l.Installation, "grant": l.Grant, "event": l.Event,
			"family": l.Tokens.FamilyID, "access": l.Tokens.AccessID, "refresh": l.Tokens.RefreshID} {
			ids[kind] = append(ids[kind], value)
		}
	}
	add(storetest.Issue{Tokens: sc.Connection.Old, Installation: sc.Connection.Connected.Installation.ID, Grant: sc.Connection.Connected.Grant.ID})
	add(storetest.Issue{Tokens: sc.Connection.Current})
	add(sc.Connection.Custom)
	for _, l := range sc.Connection.Issues {
		add(l)
	}
	var parts []string
	var args []any
	for _, table := range tables {
		var places []string
		for _, value := range ids[table.kind] {
			args = append(args, value)
			places = append(places, fmt.Sprintf("$%d", len(args)))
		}
		parts = append(parts, fmt.Sprintf(table.sql, strings.Join(places, ", ")))
	}
	query := strings.Join(parts, " UNION ALL ")
	if schema := s.Dialect().Schema; schema != "" {
		query = strings.ReplaceAll(query, "partnerkit_", `"`+schema+`".partnerkit_`)
	}
	var lines []string
	err := storage.Each(ctx, s, query, args, func(scan func(...any) error) error {
		var kind, id, family, installation, grant, state string
		var n int64
		err := scan(&kind, &id, &family, &installation, &grant, &state, &n)
		line := fmt.Sprintf("%s: %s (%s %s %s) %s %d", kind, sc.name(id), sc.name(family), sc.name(installation), sc.name(grant), state, n)
		lines = append(lines, strings.Join(strings.Fields(line), " "))
		return err
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n"), err
}

func (sc *scenario) name(id string) string {
	if name, ok := sc.Connection.Names[id]; ok {
		return name
	}
	return id
}

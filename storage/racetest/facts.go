package racetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/internal/storetest"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// fact is one row of the database as read with plain SQL.
type fact struct {
	kind, id                    string
	family, installation, grant string
	state                       string
	n                           int64
}

// facts are all rows of one scenario.
type facts []fact

// tables are the statements that read the rows; %s is the list of ids.
var tables = []struct{ kind, sql string }{
	{"app", "SELECT 'app', id, '', '', '', status, 0 FROM partnerkit_app WHERE id IN (%s)"},
	{"installation", "SELECT 'installation', id, '', '', '', status || CASE WHEN ended_at IS NULL THEN '' ELSE ' ended' END, 0 FROM partnerkit_installation WHERE id IN (%s)"},
	{"grant", "SELECT 'grant', id, '', installation_id, '', CASE WHEN ended_at IS NULL THEN 'live' ELSE 'ended' END, 0 FROM partnerkit_grant WHERE id IN (%s)"},
	{"code", "SELECT 'code', id, COALESCE(family_id, ''), installation_id, grant_id, CASE WHEN used_at IS NULL THEN 'open' ELSE 'used' END, 0 FROM partnerkit_code WHERE id IN (%s)"},
	{"family", "SELECT 'family', id, '', installation_id, COALESCE(grant_id, ''), CASE WHEN ended_at IS NULL THEN 'live' ELSE 'ended' END, generation FROM partnerkit_family WHERE id IN (%s)"},
	{"access", "SELECT 'access', id, COALESCE(family_id, ''), installation_id, COALESCE(grant_id, ''), CASE WHEN revoked_at IS NULL THEN 'live' ELSE 'ended' END, generation FROM partnerkit_access_token WHERE id IN (%s)"},
	{"refresh", "SELECT 'refresh', t.id, t.family_id, '', '', CASE WHEN t.generation < f.generation THEN 'used' ELSE 'open' END, t.generation FROM partnerkit_refresh_token t JOIN partnerkit_family f ON f.id = t.family_id WHERE t.id IN (%s)"},
	{"device", "SELECT 'device', id, '', COALESCE(installation_id, ''), COALESCE(grant_id, ''), status, CASE WHEN polled_at IS NULL THEN 0 ELSE 1 END FROM partnerkit_device_code WHERE id IN (%s)"},
	{"session", "SELECT 'session', token_id, '', '', '', 'used', 0 FROM partnerkit_used_session_token WHERE token_id IN (%s)"},
	{"event", "SELECT 'event', id, '', '', '', type, 0 FROM partnerkit_event WHERE id IN (%s)"},
}

// readFacts reads every row of the scenario with one statement.
func (sc *scenario) readFacts(ctx context.Context, s *sqlstore.Store) (facts, error) {
	ids := map[string][]string{"app": {sc.Connection.AppID}, "session": {sc.Connection.Session}, "code": {sc.Connection.UsedCode.ID, sc.Connection.FreshCode.ID}, "device": {sc.Connection.Pending.ID, sc.Connection.Approved.ID}}
	add := func(l storetest.Issue) {
		for kind, value := range map[string]string{"installation": l.Installation, "grant": l.Grant, "event": l.Event,
			"family": l.Tokens.FamilyID, "access": l.Tokens.AccessID, "refresh": l.Tokens.RefreshID} {
			ids[kind] = append(ids[kind], value)
		}
	}
	add(storetest.Issue{Tokens: sc.Connection.Old, Installation: sc.Connection.Connected.Installation.ID, Grant: sc.Connection.Connected.Grant.ID})
	add(storetest.Issue{Tokens: sc.Connection.Current})
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
	var all facts
	err := storage.Each(ctx, s, query, args, func(scan func(...any) error) error {
		var f fact
		err := scan(&f.kind, &f.id, &f.family, &f.installation, &f.grant, &f.state, &f.n)
		all = append(all, f)
		return err
	})
	return all, err
}

// find returns the row with that id.
func (all facts) find(id string) (fact, bool) {
	i := slices.IndexFunc(all, func(f fact) bool { return f.id == id })
	if i < 0 {
		return fact{}, false
	}
	return all[i], true
}

func (all facts) count(where func(fact) bool) (n int) {
	for _, f := range all {
		if where(f) {
			n++
		}
	}
	return n
}

// is reports whether the row with that id exists and is in that state.
func (all facts) is(id, state string) bool {
	f, ok := all.find(id)
	return ok && f.state == state
}

// stands reports whether the app, installation, consent and token family above a token are
// all alive. It reads the rows only, not the store.
func (all facts) stands(family, installation, grant string) bool {
	apps := all.count(func(f fact) bool { return f.kind == "app" && f.state == string(oauthserver.AppActive) })
	return apps == 1 && all.is(installation, string(oauthserver.InstallationActive)) &&
		(grant == "" || all.is(grant, "live")) && (family == "" || all.is(family, "live"))
}

// isLive reports whether the store should accept an access token.
func (all facts) isLive(token fact) bool {
	if family, ok := all.find(token.family); token.family != "" && (!ok || family.n != token.n) {
		return false
	}
	return token.state == "live" && all.stands(token.family, token.installation, token.grant)
}

// describe writes the rows with names in place of ids, so that scenarios compare equal.
func (all facts) describe(sc *scenario) string {
	var lines []string
	for _, f := range all {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s: %s (%s %s %s) %s %d", f.kind, sc.name(f.id), sc.name(f.family), sc.name(f.installation), sc.name(f.grant), f.state, f.n)), " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (sc *scenario) name(id string) string {
	if name, ok := sc.Connection.Names[id]; ok {
		return name
	}
	return id
}

package grown

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/webhooks/webhookstore"
)

// age is how old the oldest row is.
const age = 25 * 24 * time.Hour

// blocks is how many instants the rows were made at.
const blocks = 1000

// rows describes the rows of the database: n tokens of each kind, families, events,
// deliveries and values, a tenth as many installations and short-lived rows of each kind,
// and a hundredth as many businesses.
type rows struct {
	n     int
	now   time.Time
	heads []string // of their ids, for each instant
	apps  []app
	hooks []partner.Webhook
}

// id returns the id of the i-th row of a kind.
func (f rows) id(kind id.Kind, i int) string {
	return string(kind) + f.heads[i/(f.n/blocks)] + fmt.Sprintf("%011d0", i)
}

// installations returns how many there are. The one of family and token i is i modulo that.
func (f rows) installations() int { return f.n / 10 }

// businesses returns how many there are: business_0 has half of everything.
func (f rows) businesses() int { return f.n / 100 }

// fill creates the rows in a database that contains only apps and webhooks. A SQLite
// database must have no other open connection.
func (f rows) fill(ctx context.Context, db *sql.Conn, d dialect) error {
	run := func(statements ...string) error {
		for _, text := range statements {
			if _, err := db.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("grown: %w in %.200s", err, text)
			}
		}
		return nil
	}
	if err := run(d.before...); err != nil {
		return err
	}
	indexes, err := d.dropIndexes(ctx, db)
	if err != nil {
		return err
	}
	for _, statements := range [][]string{f.given(), {f.counted(d)}, f.made(d), indexes, {
		"DROP TABLE fill_line", "DROP TABLE fill", "DROP TABLE fill_type", "DROP TABLE fill_webhook", "DROP TABLE fill_app", "DROP TABLE fill_block",
	}, d.after} {
		if err := run(statements...); err != nil {
			return err
		}
	}
	return nil
}

// given are small tables of what is known here.
func (f rows) given() []string {
	list := func(n int, row func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = "(" + row(i) + ")"
		}
		return strings.Join(all, ", ")
	}
	return []string{
		"CREATE TEMP TABLE fill_block (b INTEGER PRIMARY KEY, at BIGINT, head TEXT)",
		"INSERT INTO fill_block VALUES " + list(blocks, func(b int) string {
			left := 1 - float64(b)/blocks
			at := f.now.Add(-time.Duration(left * left * float64(age))) // more and more of them
			f.heads[b] = id.New(id.Event, at)[len(id.Event):][:14]      // the rest of an id is random
			return fmt.Sprintf("%d, %d, '%s'", b, at.UnixMilli(), f.heads[b])
		}),
		"CREATE TEMP TABLE fill_app (k INTEGER PRIMARY KEY, id TEXT, field_0 TEXT, field_1 TEXT)",
		"INSERT INTO fill_app VALUES " + list(len(f.apps), func(k int) string {
			return fmt.Sprintf("%d, '%s', '%s', '%s'", k, f.apps[k].id, f.apps[k].fields[0], f.apps[k].fields[1])
		}),
		"CREATE TEMP TABLE fill_webhook (k INTEGER PRIMARY KEY, id TEXT, app_id TEXT, shard BIGINT)",
		"INSERT INTO fill_webhook VALUES " + list(len(f.hooks), func(k int) string {
			return fmt.Sprintf("%d, '%s', '%s', %d", k, f.hooks[k].ID, f.hooks[k].AppID, webhookstore.ShardOf(f.hooks[k].ID, webhookstore.DefaultShards))
		}),
		"CREATE TEMP TABLE fill_type (k INTEGER PRIMARY KEY, name TEXT)",
		"INSERT INTO fill_type VALUES " + list(len(types), func(k int) string { return fmt.Sprintf("%d, '%s'", k, types[k]) }),
		"CREATE TEMP TABLE fill (i INTEGER PRIMARY KEY, at BIGINT, tail TEXT)",
		"CREATE TEMP TABLE fill_line (j INTEGER PRIMARY KEY, app_id TEXT, installation_id TEXT, grant_id TEXT, user_id TEXT, business_id TEXT, at BIGINT)",
	}
}

// counted makes the numbers of the rows, with their times and the ends of their ids.
func (f rows) counted(d dialect) string {
	per := f.n / blocks
	return strings.NewReplacer("{series}", d.series(per), "{per}", fmt.Sprint(per), "{padded}", d.padded("b.b * "+fmt.Sprint(per)+" + s.i")).Replace(
		`INSERT INTO fill SELECT b.b * {per} + s.i, b.at, b.head || {padded} || '0' FROM fill_block b CROSS JOIN {series} ORDER BY 1`)
}

// rows are the tables themselves.
func (f rows) made(d dialect) []string {
	replacer := strings.NewReplacer(
		"{digest}", d.digest, "{scopes}", "'"+scopes.String()+"'", "{apps}", fmt.Sprint(len(f.apps)), "{types}", fmt.Sprint(len(types)),
		"{installations}", fmt.Sprint(f.installations()), "{businesses}", fmt.Sprint(f.businesses()-1), "{webhooks}", fmt.Sprint(len(f.hooks)-1),
		"{young}", fmt.Sprint(f.n-f.n/10), "{later}", fmt.Sprint(f.now.Add(24*time.Hour).UnixMilli()), "{body}", d.bytes(`{"id":"evt_","type":"invoice.created","apiVersion":"2026-01-01","data":{"invoice":{"id":"inv_1","number":"2026-0001","status":"SENT","currency":"EUR","total":"119.00"}}}`),
		"{answer}", d.bytes("ok"))
	all := make([]string, len(tables))
	for i, text := range tables {
		all[i] = replacer.Replace(text)
	}
	return all
}

var tables = []string{
	`INSERT INTO fill_line SELECT f.i, a.id, 'inst_' || f.tail, 'grt_' || f.tail, 'user_' || f.i, 'business_' || (f.i / 10), f.at
		FROM fill f JOIN fill_app a ON a.k = f.i % {apps} WHERE f.i < {installations}`,
	`INSERT INTO partnerkit_installation (id, app_id, business_id, status, scopes, created_at)
		SELECT installation_id, app_id, business_id, 'ACTIVE', {scopes}, at FROM fill_line ORDER BY j`,
	`INSERT INTO partnerkit_grant (id, installation_id, user_id, scopes, created_at)
		SELECT grant_id, installation_id, user_id, {scopes}, at FROM fill_line ORDER BY j`,
	`INSERT INTO partnerkit_family (id, app_id, installation_id, grant_id, user_id, scopes, generation)
		SELECT 'fam_' || f.tail, l.app_id, l.installation_id, l.grant_id, l.user_id, {scopes}, 1
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} ORDER BY f.i`,
	`INSERT INTO partnerkit_access_token (id, digest, app_id, installation_id, grant_id, user_id, family_id, generation, scopes, expires_at)
		SELECT 'tok_' || f.tail, {digest}, l.app_id, l.installation_id, l.grant_id, l.user_id, 'fam_' || f.tail, 1, {scopes}, {later}
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} ORDER BY f.i`,
	`INSERT INTO partnerkit_refresh_token (id, digest, family_id, generation, expires_at)
		SELECT 'tok_' || f.tail, {digest}, 'fam_' || f.tail, 1, {later} + f.i FROM fill f ORDER BY f.i`,
	`INSERT INTO partnerkit_used_refresh_token (digest, family_id) SELECT {digest}, 'fam_' || f.tail FROM fill f ORDER BY 1`,
	`INSERT INTO partnerkit_event (id, type, business_id, data, created_at)
		SELECT 'evt_' || f.tail, t.name, CASE f.i % 2 WHEN 0 THEN 'business_0' ELSE 'business_' || (1 + f.i / 2 % {businesses}) END,
			'{"invoice":{"id":"inv_' || f.i || '","number":"2026-0001","status":"SENT","currency":"EUR","total":"119.00"}}', f.at
		FROM fill f JOIN fill_type t ON t.k = f.i / 2 % {types} ORDER BY f.i`,
	`INSERT INTO partnerkit_event_number (event_id, business_id, app_id, type, number)
		SELECT 'evt_' || f.tail, CASE f.i % 2 WHEN 0 THEN 'business_0' ELSE 'business_' || (1 + f.i / 2 % {businesses}) END, '', t.name,
			CASE f.i % 2 WHEN 0 THEN f.i / 2 + 1 ELSE f.i / 2 / {businesses} + 1 END
		FROM fill f JOIN fill_type t ON t.k = f.i / 2 % {types} ORDER BY f.i`,
	`INSERT INTO partnerkit_event_counter (business_id, last) SELECT business_id, MAX(number) FROM partnerkit_event_number GROUP BY business_id`,
	`INSERT INTO partnerkit_event_counter (business_id, last) SELECT 'quiet_' || f.i, 1 FROM fill f WHERE f.i < {installations}`,
	`INSERT INTO partnerkit_delivery (id, webhook_id, app_id, event_id, event_type, business_id, body, status, attempts, response_code, next_attempt_at, created_at)
		SELECT 'dlv_' || f.tail, w.id, w.app_id, 'evt_' || f.tail, 'invoice.created', 'business_0', {body},
			CASE WHEN f.i / 2 % 2 = 0 THEN NULL WHEN f.i % 100 = 3 THEN 'failed' ELSE 'delivered' END, CASE f.i / 2 % 2 WHEN 0 THEN 0 ELSE 1 END,
			CASE f.i / 2 % 2 WHEN 0 THEN NULL ELSE 200 END,
			CASE f.i / 2 % 2 WHEN 0 THEN CASE f.i / 4 % 4 WHEN 3 THEN {later} ELSE f.at END ELSE NULL END, f.at
		FROM fill f JOIN fill_webhook w ON w.k = CASE f.i % 2 WHEN 0 THEN 0 ELSE 1 + f.i / 2 % {webhooks} END ORDER BY f.i`,
	`INSERT INTO partnerkit_delivery_queue (webhook_id, due_at, delivery_id, shard)
		SELECT w.id, CASE f.i / 4 % 4 WHEN 3 THEN {later} ELSE f.at END, 'dlv_' || f.tail, w.shard
		FROM fill f JOIN fill_webhook w ON w.k = CASE f.i % 2 WHEN 0 THEN 0 ELSE 1 + f.i / 2 % {webhooks} END WHERE f.i / 2 % 2 = 0
		ORDER BY 1, 2, 3`,
	`INSERT INTO partnerkit_attempt (delivery_id, id, round, number, signature, started_at, took_ms, response_code, answer)
		SELECT 'dlv_' || f.tail, 'att_' || f.tail, 0, 1, 't=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd', f.at, 12, CASE f.i % 100 WHEN 3 THEN 500 ELSE 200 END, {answer}
		FROM fill f WHERE f.i / 2 % 2 = 1 ORDER BY f.i`,
	`INSERT INTO partnerkit_webhook_minute (webhook_id, epoch, minute_at, succeeded, failed, succeeded_at, failed_at)
		SELECT w.id, 0, f.at + f.i, 9, 1, f.at + f.i, f.at + f.i FROM fill f JOIN fill_webhook w ON w.k = f.i % ({webhooks} + 1) WHERE f.i >= {young}`,
	`INSERT INTO partnerkit_app_data_space (id, app_id, business_id)
		SELECT 'ads_' || f.tail, l.app_id, l.business_id FROM fill_line l JOIN fill f ON f.i = l.j ORDER BY l.j`,
	`INSERT INTO partnerkit_app_data_value (id, space_id, resource_id, field_id, value, created_at, updated_at)
		SELECT 'adv_' || f.tail, 'ads_' || s.tail, 'invoice_' || (f.i / 4), CASE f.i / 2 % 2 WHEN 0 THEN a.field_0 ELSE a.field_1 END, '"a value of some length"', f.at, f.at
		FROM fill f JOIN fill s ON s.i = CASE f.i % 2 WHEN 0 THEN 0 ELSE 1 + f.i / 4 % ({installations} - 1) END JOIN fill_app a ON a.k = s.i % {apps} ORDER BY f.i`,
	`INSERT INTO partnerkit_authorization_request (id, purpose, business_id, digest, browser, session, app_id, redirect_uri, scopes, code_challenge, created_at, expires_at)
		SELECT 'arq_' || f.tail, '', '', {digest}, {digest}, {digest}, l.app_id, 'https://app.example.com/callback', {scopes}, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', f.at, {later}
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_code (id, digest, app_id, installation_id, grant_id, user_id, redirect_uri, code_challenge, scopes, created_at, expires_at)
		SELECT 'cod_' || f.tail, {digest}, l.app_id, l.installation_id, l.grant_id, l.user_id, 'https://app.example.com/callback', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', {scopes}, f.at, {later}
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_device_code (id, digest, user_code, app_id, scopes, status, created_at, expires_at)
		SELECT 'dvc_' || f.tail, {digest}, 'code_' || f.i, l.app_id, {scopes}, 'PENDING', f.at, {later}
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_registration_token (id, digest, organization_id, created_at, expires_at)
		SELECT 'rgt_' || f.tail, {digest}, 'org_1', f.at, {later} FROM fill f WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_console_token (id, digest, organization_id, user_id, name, created_at, expires_at)
		SELECT 'ctk_' || f.tail, {digest}, 'org_' || f.i, 'user_1', 'ci', f.at, {later} FROM fill f WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_used_session_token (token_id, expires_at) SELECT 'ses_' || f.tail, {later} + f.i FROM fill f WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_used_assertion (digest, expires_at) SELECT {digest}, {later} + f.i FROM fill f WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_idempotency_key (app_id, business_id, name, fingerprint, owner, lease_ends, expires_at, status, header, body, is_omitted)
		SELECT l.app_id, l.business_id, 'key_' || f.i, {digest}, 'owner_' || f.i, f.at, {later} + f.i, 200, '{}', {answer}, FALSE
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} WHERE f.i >= {young}`,
	`INSERT INTO partnerkit_calls (app_id, hour_at, calls, errors, rate_limited, ms_5, ms_10, ms_25, ms_50, ms_100, ms_250, ms_500, ms_1000, ms_2500, ms_5000, ms_10000, ms_over)
		SELECT a.id, {later} - CAST(3600000 AS BIGINT) * f.i, 9, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 FROM fill f CROSS JOIN fill_app a WHERE f.i < 600`,
	`INSERT INTO partnerkit_calls_group (app_id, kind, day_at, name, calls, errors, rate_limited, bytes)
		SELECT a.id, CASE WHEN f.i % 2 = 0 THEN 'route' ELSE 'business' END, {later} - CAST(86400000 AS BIGINT) * (f.i % 25), 'GET /' || f.i, 9, 0, 0, 900 FROM fill f CROSS JOIN fill_app a WHERE f.i < 600`,
	`INSERT INTO partnerkit_request (id, app_id, business_id, method, route, status, bytes, code, request_id, error, took, created_at)
		SELECT 'req_' || f.tail, l.app_id, l.business_id, 'GET', 'GET /invoices', 200, 900, '', '', '', 1, f.at
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} WHERE f.i >= {young} ORDER BY f.i`,
	`INSERT INTO partnerkit_last_use (id, used_at) SELECT installation_id, at FROM fill_line`,
	`INSERT INTO partnerkit_user_state (user_id, status, changed_at) SELECT 'stranger_' || f.i, 'SUSPENDED', f.at FROM fill f WHERE f.i >= {young}`,
	`INSERT INTO partnerkit_audit (id, app_id, user_id, by_developer, action, target, detail, reason, token, created_at)
		SELECT 'aud_' || f.tail, l.app_id, l.user_id, FALSE, 'consent.allowed', l.business_id, '', '', '', f.at
		FROM fill f JOIN fill_line l ON l.j = f.i % {installations} WHERE f.i >= {young} ORDER BY f.i`,
}

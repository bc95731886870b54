package storetest

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/partnerkit/partnerkit/internal/secret"
	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// beforeCases: what was there before a migration is what it was.
var beforeCases = []testCase[storage.DB]{
	// Refresh tokens from before migration 12 say themselves whether they were used, and
	// tokens from before migration 13 carry no id.
	{"Tokens from before", func(t *testing.T, db storage.DB) {
		get[*sqlstore.Store](t)(sqlstore.New(t.Context(), db, sqlstore.Config{Migrations: firstMigrations(t, 11)}))
		access, used, unused := secret.DigestOf("access"), secret.DigestOf("used"), secret.DigestOf("unused")
		first, second, ended := secret.DigestOf("first"), secret.DigestOf("second"), secret.DigestOf("ended")
		fill(t, db, `INSERT INTO partnerkit_app VALUES ('app_1', 'client', 'CONFIDENTIAL', 'ACTIVE', 'console', 'App', 'org_1', TRUE, '[]', '["invoices:read"]', '', '', '', 0, 0, 0)`)
		fill(t, db, `INSERT INTO partnerkit_client_secret (id, app_id, digest, prefix, created_at, ended_at)
			VALUES ('sec_1', 'app_1', $1, '', 0, 5), ('sec_2', 'app_1', $2, '', 0, NULL), ('sec_3', 'app_1', $3, '', 0, NULL)`, ended.Bytes(), first.Bytes(), second.Bytes())
		fill(t, db, `INSERT INTO partnerkit_installation (id, app_id, business_id, status, scopes, created_at) VALUES ('inst_1', 'app_1', 'biz_1', 'ACTIVE', '["invoices:read"]', 0)`)
		fill(t, db, `INSERT INTO partnerkit_family (id, app_id, installation_id, user_id, scopes, generation, created_at, expires_at)
			VALUES ('fam_1', 'app_1', 'inst_1', 'usr_1', '["invoices:read"]', 2, 0, 0)`)
		fill(t, db, `INSERT INTO partnerkit_refresh_token (id, digest, family_id, generation, created_at, expires_at, used_at, answer)
			VALUES ('tok_1', $1, 'fam_1', 1, 0, 0, 5, $1), ('tok_2', $2, 'fam_1', 2, 5, 0, NULL, NULL)`, used.Bytes(), unused.Bytes())
		fill(t, db, `INSERT INTO partnerkit_access_token (id, digest, app_id, installation_id, user_id, family_id, generation, scopes, created_at, expires_at)
			VALUES ('tok_3', $1, 'app_1', 'inst_1', 'usr_1', 'fam_1', 2, '["invoices:read"]', 0, $2)`, access.Bytes(), noon.Add(time.Hour).UnixMilli())
		fill(t, db, `INSERT INTO partnerkit_user_state (user_id, status, changed_at) VALUES ('usr_2', 'SUSPENDED', 0)`)

		store := get[*sqlstore.Store](t)(sqlstore.New(t.Context(), db, sqlstore.Config{}))
		if client := get[oauthserver.Client](t)(store.Client(t.Context(), "client")); len(client.Secrets) != 2 || client.Secrets[0] != first || client.Secrets[1] != second {
			t.Errorf("the client has %d secrets", len(client.Secrets))
		}
		if token := get[oauthserver.AccessToken](t)(store.AccessToken(t.Context(), "", access)); token.ID != "tok_3" || !token.IsLive(noon) {
			t.Errorf("the access token is %+v", token)
		}
		for _, step := range []struct {
			digest  oauthserver.Digest
			isUsed  bool
			outcome oauthserver.Outcome
		}{{unused, false, oauthserver.Issued}, {unused, true, oauthserver.Lost}, {used, true, oauthserver.Revoked}} {
			token := get[oauthserver.RefreshToken](t)(store.RefreshToken(t.Context(), "", step.digest))
			_, toRotate, err := store.ClientAndToken(t.Context(), "client", "", step.digest)
			if err != nil || token.Used != step.isUsed || toRotate.ID != token.ID || toRotate.Used != step.isUsed {
				t.Errorf("%s, %s used: %v, %v, %v", token.ID, toRotate.ID, token.Used, toRotate.Used, err)
			}
			if minted := get[oauthserver.Minted](t)(store.RotateRefresh(t.Context(), oauthserver.Rotation{Token: token}, mint(noon))); minted.Outcome != step.outcome {
				t.Errorf("rotation of %s: %q, want %q", token.ID, minted.Outcome, step.outcome)
			}
		}
	}},
}

func firstMigrations(t *testing.T, n int) fs.FS {
	t.Helper()
	some := fstest.MapFS{}
	for _, name := range get[[]string](t)(fs.Glob(sqlstore.Migrations(), "*.sql"))[:n] {
		some[name] = &fstest.MapFile{Data: get[[]byte](t)(fs.ReadFile(sqlstore.Migrations(), name))}
	}
	return some
}

// fill writes rows as they were at the time.
func fill(t *testing.T, db storage.DB, statement string, args ...any) {
	t.Helper()
	if schema := db.Dialect().Schema; schema != "" {
		statement = strings.ReplaceAll(statement, "partnerkit_", `"`+schema+`".partnerkit_`)
	}
	must(t, db.Write(t.Context(), func(ctx context.Context, tx storage.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

package oauth

import (
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/internal/benchmarks/bench"
	"github.com/partnerkit/partnerkit/internal/id"
)

// commits writes in a transaction each.
func commits(db *sql.DB, clients, n int, write func(tx *sql.Tx, client int) error) error {
	return bench.Parallel(clients, n, func(client, n int) error {
		for range n {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			if err := write(tx, client); err != nil {
				return errors.Join(err, tx.Rollback())
			}
			if err := tx.Commit(); err != nil {
				return err
			}
		}
		return nil
	})
}

// shortRows returns a function that writes the given number of rows of a few short
// columns. The primary key is the only index.
func shortRows(db *sql.DB, table string, clients int) (write func(rows int) func(tx *sql.Tx, client int) error, err error) {
	if _, err := db.Exec("CREATE TABLE " + table + " (id TEXT PRIMARY KEY, a TEXT, b BIGINT, c BIGINT)"); err != nil {
		return nil, err
	}
	insert, err := db.Prepare("INSERT INTO " + table + " VALUES ($1, $2, $3, $4)")
	if err != nil {
		return nil, err
	}
	next := make([]int, clients)
	return func(rows int) func(tx *sql.Tx, client int) error {
		return func(tx *sql.Tx, client int) error {
			own := tx.Stmt(insert)
			for range rows {
				next[client]++
				if _, err := own.Exec(fmt.Sprintf("row_%06d%020d", client, next[client]), "a value of some length, as an id has", client, next[client]); err != nil {
					return err
				}
			}
			return nil
		}
	}, nil
}

// ourRows writes the rows that partnerkit writes, in the same tables: the work that
// remains without reads, locks and checks.
type ourRows struct {
	family, code, newFamily, access, refresh *sql.Stmt
}

const scopes = "customers:read invoices:read"

func newOurRows(db *sql.DB, schema string, clients int) (*ourRows, error) {
	var r ourRows
	for to, text := range map[**sql.Stmt]string{
		&r.family: "UPDATE %spartnerkit_family SET generation = generation + 1 WHERE id = $1",
		&r.code:   "UPDATE %spartnerkit_code SET used_at = $1, family_id = $2 WHERE id = $3",
		&r.newFamily: `INSERT INTO %spartnerkit_family (id, app_id, installation_id, grant_id, user_id, scopes, generation)
			VALUES ($1, $2, $3, $4, $5, $6, 1)`,
		&r.access: `INSERT INTO %spartnerkit_access_token (id, digest, scopes, expires_at, app_id, installation_id, grant_id, user_id, family_id, generation)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1)`,
		&r.refresh: `INSERT INTO %spartnerkit_refresh_token (id, digest, family_id, generation, expires_at)
			VALUES ($1, $2, $3, 1, $4)`,
	} {
		var err error
		if *to, err = db.Prepare(fmt.Sprintf(text, schema)); err != nil {
			return nil, err
		}
	}
	insertCode := fmt.Sprintf(`INSERT INTO %spartnerkit_code (id, digest, app_id, installation_id, grant_id, user_id, redirect_uri, code_challenge, scopes, created_at, expires_at)
		VALUES ($1, $2, 'app_1', 'inst_1', 'grt_1', $3, $4, $5, $6, 0, 0)`, schema)
	for client := range clients {
		if _, err := db.Exec(insertCode, codeOf(client), digest(), user, redirectURI, challenge, scopes); err != nil {
			return nil, err
		}
		if err := commits(db, 1, 1, func(tx *sql.Tx, _ int) error { return r.startFamily(tx, familyOf(client)) }); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

func codeOf(client int) string   { return fmt.Sprintf("cod_%026d", client) }
func familyOf(client int) string { return fmt.Sprintf("fam_%026d", client) }

func digest() []byte {
	b := make([]byte, 32)
	_, _ = rand.Read(b)
	return b
}

// ofRefresh writes the rows of a refresh.
func (r *ourRows) ofRefresh(tx *sql.Tx, client int) error {
	family := familyOf(client)
	if _, err := tx.Stmt(r.family).Exec(family); err != nil {
		return err
	}
	return r.tokens(tx, family)
}

// ofExchange writes those of a code exchange.
func (r *ourRows) ofExchange(tx *sql.Tx, client int) error {
	now := time.Now()
	family := id.New(id.Family, now)
	if _, err := tx.Stmt(r.code).Exec(now.UnixMilli(), family, codeOf(client)); err != nil {
		return err
	}
	return r.startFamily(tx, family)
}

func (r *ourRows) startFamily(tx *sql.Tx, family string) error {
	_, err := tx.Stmt(r.newFamily).Exec(family, "app_1", "inst_1", "grt_1", user, scopes)
	if err != nil {
		return err
	}
	return r.tokens(tx, family)
}

func (r *ourRows) tokens(tx *sql.Tx, family string) error {
	now := time.Now()
	ms := now.UnixMilli()
	if _, err := tx.Stmt(r.access).Exec(id.New(id.Token, now), digest(), scopes, ms, "app_1", "inst_1", "grt_1", user, family); err != nil {
		return err
	}
	_, err := tx.Stmt(r.refresh).Exec(id.New(id.Token, now), digest(), family, ms)
	return err
}

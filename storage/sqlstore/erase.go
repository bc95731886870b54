package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/partnerkit/partnerkit/idempotency/keystore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/oauthserver/oauthstore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// eraseStep does one batch of a step of an erasure, of the rows behind after. It returns
// where its next batch begins; empty: the step is complete.
type eraseStep func(ctx context.Context, tx *tx, e oauthstore.EraseUser, after string) (partner.Erasure, string, error)

// eraseSteps are the steps of an erasure in their order. The suspension comes first: by it
// every token is dead at once and none is issued. An approval or an exchange that read the
// user's status before holds a lock on its app until it commits. Locking every app once
// waits for it, so that the steps behind find its rows. A row is ended in the transaction
// in which it loses the id, since the suspension no longer applies to it then.
//
// Tables are read in the order of their primary keys. An index on user_id would cost every
// issued token, and erasures are rare.
var eraseSteps = []eraseStep{
	suspendErased,
	passApps,
	userColumn{table: "partnerkit_grant", end: "ended_at", count: func(e *partner.Erasure) *int { return &e.Consents }}.erase,
	userColumn{table: "partnerkit_family", end: "ended_at", count: func(e *partner.Erasure) *int { return &e.Families }}.erase,
	userColumn{table: "partnerkit_access_token", end: "revoked_at", only: "family_id IS NULL"}.erase, // others ended with their family
	userColumn{table: "partnerkit_code"}.erase,
	userColumn{table: "partnerkit_device_code"}.erase,
	userColumn{table: "partnerkit_console_token", end: "revoked_at"}.erase,
	userColumn{table: "partnerkit_listing_revision", column: "reviewer_id"}.erase,
	userColumn{table: "partnerkit_submission", column: "reviewer_id"}.erase,
	eraseAudit,
	eraseKeys,
	forgetStatus,
}

// EraseUser implements oauthstore.Store. Its cursor is the number of a step and
// the last row that the step has passed.
func (s *Store) EraseUser(ctx context.Context, e oauthstore.EraseUser) (oauthstore.Erased, error) {
	number, after, _ := strings.Cut(e.After, " ")
	step, err := strconv.Atoi("0" + number)
	if err != nil || step >= len(eraseSteps) || e.Limit < 1 {
		return oauthstore.Erased{}, fmt.Errorf("erase user: no part after %q with limit %d", e.After, e.Limit)
	}
	var done oauthstore.Erased
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		did, next, err := eraseSteps[step](ctx, tx, e, after)
		done = oauthstore.Erased{Erasure: did}
		switch {
		case next != "":
			done.Next = fmt.Sprint(step, " ", next)
		case step+1 < len(eraseSteps):
			done.Next = strconv.Itoa(step + 1)
		}
		return err
	})
	return done, wrap("erase user", err)
}

// suspendErased makes every token of the user dead.
func suspendErased(ctx context.Context, tx *tx, e oauthstore.EraseUser, _ string) (none partner.Erasure, _ string, err error) {
	_, err = tx.exec(ctx, setUserStatus, e.UserID, string(identity.UserSuspended), ms(e.Now))
	return none, "", err
}

// forgetStatus ends the suspension with the last row that has the id.
func forgetStatus(ctx context.Context, tx *tx, e oauthstore.EraseUser, _ string) (none partner.Erasure, _ string, err error) {
	_, err = tx.exec(ctx, "DELETE FROM partnerkit_user_state WHERE user_id = $1", e.UserID)
	return none, "", err
}

// maxPassed is how many apps passApps locks at once.
const maxPassed = 100

// passApps locks apps and changes nothing. It waits for what is being issued or approved.
func passApps(ctx context.Context, tx *tx, e oauthstore.EraseUser, after string) (none partner.Erasure, last string, err error) {
	n, limit := 0, min(e.Limit, maxPassed)
	err = storage.Each(ctx, tx.on, tx.sql.of("SELECT id FROM partnerkit_app WHERE id > $1 ORDER BY id LIMIT $2"+tx.dialect.ForUpdate), []any{after, limit},
		func(scan func(...any) error) error {
			n++
			return scan(&last)
		})
	if n < limit {
		last = ""
	}
	return none, last, err
}

// userColumn is the column of a table that has ids of users.
type userColumn struct {
	table  string
	column string // empty: user_id
	end    string // the column that ends a row; empty: the row depends on others that end
	only   string // which rows end; empty: all
	count  func(*partner.Erasure) *int
}

func (c userColumn) erase(ctx context.Context, tx *tx, e oauthstore.EraseUser, after string) (done partner.Erasure, next string, err error) {
	last, next, err := tx.batch(ctx, c.table, after, e.Limit)
	if err != nil || last == "" {
		return done, "", err
	}
	column := cmp.Or(c.column, "user_id")
	rows := " WHERE id > $1 AND id <= $2 AND " + column + " = $3"
	if c.end != "" {
		ended, err := tx.exec(ctx, "UPDATE "+c.table+" SET "+c.end+" = $4"+rows+" AND "+c.end+" IS NULL AND "+cmp.Or(c.only, "TRUE"), after, last, e.UserID, ms(e.Now))
		if err != nil {
			return done, "", err
		}
		if c.count != nil {
			*c.count(&done) = int(ended)
		}
	}
	n, err := tx.exec(ctx, "UPDATE "+c.table+" SET "+column+" = $4"+rows, after, last, e.UserID, partner.ErasedUser)
	done.Records = int(n)
	return done, next, err
}

// batch returns the id of the last row of a batch, empty when there is none, and where the
// next batch begins, empty when there is none.
func (t *tx) batch(ctx context.Context, table, after string, limit int) (last, next string, err error) {
	var n int
	var found sql.NullString
	err = t.one(ctx, "SELECT COUNT(*), MAX(id) FROM (SELECT id FROM "+table+" WHERE id > $1 ORDER BY id LIMIT $2) b", []any{after, limit}, &n, &found)
	if n == limit {
		next = found.String
	}
	return found.String, next, err
}

func eraseAudit(ctx context.Context, tx *tx, e oauthstore.EraseUser, after string) (done partner.Erasure, next string, err error) {
	last, next, err := tx.batch(ctx, "partnerkit_audit", after, e.Limit)
	if err != nil || last == "" {
		return done, "", err
	}
	n, err := tx.exec(ctx, `UPDATE partnerkit_audit SET user_id = CASE WHEN user_id = $3 THEN $4 ELSE user_id END, target = CASE WHEN target = $3 THEN $4 ELSE target END
		WHERE id > $1 AND id <= $2 AND (user_id = $3 OR target = $3)`, after, last, e.UserID, partner.ErasedUser)
	done.AuditEntries, done.Records = int(n), int(n)
	return done, next, err
}

// eraseKeys deletes the idempotency keys of the user.
func eraseKeys(ctx context.Context, tx *tx, e oauthstore.EraseUser, _ string) (done partner.Erasure, next string, err error) {
	n, err := tx.exec(ctx, `DELETE FROM partnerkit_idempotency_key WHERE (app_id, business_id, name) IN (
		SELECT app_id, business_id, name FROM partnerkit_idempotency_key WHERE app_id = $1 LIMIT $2)`, keystore.UserCallerID(e.UserID), e.Limit)
	done.Records = int(n)
	if int(n) == e.Limit {
		next = "more"
	}
	return done, next, err
}

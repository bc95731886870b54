package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

const fieldColumns = "id, app_id, resource_type, field_key, type, label, rules, created_at, updated_at, version"

// fieldRow scans a row of fieldColumns.
type fieldRow struct {
	field            valuestore.Field
	rules            string
	created, updated int64
}

func (r *fieldRow) dest() []any {
	f := &r.field
	return []any{&f.ID, &f.AppID, &f.ResourceType, &f.Key, (*string)(&f.Type), &f.Label, &r.rules, &r.created, &r.updated, &f.Version}
}

func (r *fieldRow) value() (valuestore.Field, error) {
	r.field.CreatedAt, r.field.UpdatedAt = fromMS(r.created), fromMS(r.updated)
	if err := json.Unmarshal([]byte(r.rules), &r.field.Rules); err != nil {
		return r.field, fmt.Errorf("stored rules: %w", err)
	}
	return r.field, nil
}

func rulesText(r valuestore.Rules) (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// Fields implements valuestore.Store.
func (s *Store) Fields(ctx context.Context, appID string) ([]valuestore.Field, error) {
	all, err := readFields(ctx, s, s.sql, appID)
	return all, wrap("fields", err)
}

func readFields(ctx context.Context, from storage.Querier, sql *sqlText, appID string) ([]valuestore.Field, error) {
	var all []valuestore.Field
	err := storage.Each(ctx, from, sql.of("SELECT "+fieldColumns+" FROM partnerkit_app_data_field WHERE app_id = $1 AND deleted_at IS NULL ORDER BY created_at, id"), []any{appID},
		func(scan func(...any) error) error {
			var row fieldRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			one, err := row.value()
			all = append(all, one)
			return err
		})
	return all, err
}

// ChangeFields implements valuestore.Store. It holds the app, which every change of its
// fields waits for. Deleting a field marks its row, and waits for writes of values that hold
// it.
func (s *Store) ChangeFields(ctx context.Context, appID string, now time.Time, change func([]valuestore.Field) ([]valuestore.Field, error)) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var one int
		if err := tx.one(ctx, "SELECT 1 FROM partnerkit_app WHERE id = $1"+tx.dialect.ForUpdate, []any{appID}, &one); err != nil {
			return noAppData(err)
		}
		before, err := readFields(ctx, tx.on, tx.sql, appID)
		if err != nil {
			return err
		}
		diff, err := changedItems(before, func(f valuestore.Field) string { return f.ID }, change)
		if err != nil {
			return err
		}
		for _, f := range diff.gone {
			if _, err := tx.exec(ctx, "UPDATE partnerkit_app_data_field SET deleted_at = $2 WHERE id = $1 AND deleted_at IS NULL", f.ID, ms(now)); err != nil {
				return err
			}
		}
		for _, f := range diff.changed {
			if err := tx.updateField(ctx, f); err != nil {
				return err
			}
		}
		for _, f := range diff.added {
			f.AppID = appID
			if err := tx.addField(ctx, f); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("change fields", err)
}

func (t *tx) updateField(ctx context.Context, f valuestore.Field) error {
	rules, err := rulesText(f.Rules)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, "UPDATE partnerkit_app_data_field SET label = $2, rules = $3, updated_at = $4, version = $5 WHERE id = $1", f.ID, f.Label, rules, ms(f.UpdatedAt), f.Version)
	return err
}

func (t *tx) addField(ctx context.Context, f valuestore.Field) error {
	rules, err := rulesText(f.Rules)
	if err != nil {
		return err
	}
	n, err := t.exec(ctx, "INSERT INTO partnerkit_app_data_field ("+fieldColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (app_id, resource_type, field_key) WHERE deleted_at IS NULL DO NOTHING`,
		f.ID, f.AppID, f.ResourceType, f.Key, string(f.Type), f.Label, rules, ms(f.CreatedAt), ms(f.UpdatedAt), f.Version)
	if err == nil && n == 0 {
		return valuestore.ErrTaken
	}
	return err
}

// noAppData turns an empty result into the error of the interface.
func noAppData(err error) error {
	if errors.Is(err, storage.ErrNoRows) {
		return partner.ErrNotFound
	}
	return err
}

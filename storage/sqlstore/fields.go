package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/storage"
)

const fieldColumns = "id, app_id, resource_type, field_key, type, label, rules, created_at, updated_at"

// liveField is one of an app that is not deleted.
const liveField = "SELECT " + fieldColumns + " FROM partnerkit_app_data_field WHERE id = $2 AND app_id = $1 AND deleted_at IS NULL"

// fieldRow is where a row of fieldColumns is scanned to.
type fieldRow struct {
	field            appdata.Field
	rules            string
	created, updated int64
}

func (r *fieldRow) dest() []any {
	f := &r.field
	return []any{&f.ID, &f.AppID, &f.ResourceType, &f.Key, (*string)(&f.Type), &f.Label, &r.rules, &r.created, &r.updated}
}

func (r *fieldRow) value() (appdata.Field, error) {
	r.field.CreatedAt, r.field.UpdatedAt = fromMS(r.created), fromMS(r.updated)
	if err := json.Unmarshal([]byte(r.rules), &r.field.Rules); err != nil {
		return r.field, fmt.Errorf("stored rules: %w", err)
	}
	return r.field, nil
}

func rulesText(r appdata.Rules) (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// CreateField implements appdata.FieldStore. Whoever adds a field to the app at the same
// time waits for its row, so that the count is right.
func (s *Store) CreateField(ctx context.Context, f appdata.Field, limit int) error {
	rules, err := rulesText(f.Rules)
	if err != nil {
		return wrap("create field", err)
	}
	err = s.write(ctx, func(ctx context.Context, tx *tx) error {
		var one, has int
		if err := tx.one(ctx, "SELECT 1 FROM partnerkit_app WHERE id = $1"+tx.dialect.ForUpdate, []any{f.AppID}, &one); err != nil {
			return noAppData(err)
		}
		if err := tx.one(ctx, "SELECT COUNT(*) FROM partnerkit_app_data_field WHERE app_id = $1 AND deleted_at IS NULL", []any{f.AppID}, &has); err != nil {
			return err
		}
		if has >= limit {
			return appdata.ErrTooMany
		}
		n, err := tx.exec(ctx, "INSERT INTO partnerkit_app_data_field ("+fieldColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT (app_id, resource_type, field_key) WHERE deleted_at IS NULL DO NOTHING`,
			f.ID, f.AppID, f.ResourceType, f.Key, string(f.Type), f.Label, rules, ms(f.CreatedAt), ms(f.UpdatedAt))
		if err == nil && n == 0 {
			return appdata.ErrTaken
		}
		return err
	})
	return wrap("create field", err)
}

// Field implements appdata.FieldStore.
func (s *Store) Field(ctx context.Context, appID, fieldID string) (appdata.Field, error) {
	var row fieldRow
	if err := s.read(ctx, liveField, []any{appID, fieldID}, row.dest()...); err != nil {
		return appdata.Field{}, wrap("field", noAppData(err))
	}
	return row.value()
}

// Fields implements appdata.FieldStore.
func (s *Store) Fields(ctx context.Context, appID string) ([]appdata.Field, error) {
	var all []appdata.Field
	err := storage.Each(ctx, s, s.sql.of("SELECT "+fieldColumns+" FROM partnerkit_app_data_field WHERE app_id = $1 AND deleted_at IS NULL ORDER BY created_at, id"), []any{appID},
		func(scan func(...any) error) error {
			var row fieldRow
			if err := scan(row.dest()...); err != nil {
				return err
			}
			one, err := row.value()
			all = append(all, one)
			return err
		})
	return all, wrap("fields", err)
}

// UpdateField implements appdata.FieldStore.
func (s *Store) UpdateField(ctx context.Context, appID, fieldID string, change func(appdata.Field) (appdata.Field, error)) (appdata.Field, error) {
	var changed appdata.Field
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var row fieldRow
		if err := tx.one(ctx, liveField+tx.dialect.ForUpdate, []any{appID, fieldID}, row.dest()...); err != nil {
			return noAppData(err)
		}
		before, err := row.value()
		if err != nil {
			return err
		}
		next, err := change(before)
		if err != nil {
			return err
		}
		changed = before
		changed.Label, changed.Rules, changed.UpdatedAt = next.Label, next.Rules, next.UpdatedAt
		rules, err := rulesText(changed.Rules)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE partnerkit_app_data_field SET label = $2, rules = $3, updated_at = $4 WHERE id = $1",
			fieldID, changed.Label, rules, ms(changed.UpdatedAt))
		return err
	})
	return changed, wrap("update field", err)
}

// DeleteField implements appdata.FieldStore. It marks the row, and waits for writes of
// values that hold it.
func (s *Store) DeleteField(ctx context.Context, appID, fieldID string, now time.Time) error {
	n, err := s.exec(ctx, "UPDATE partnerkit_app_data_field SET deleted_at = $3 WHERE id = $2 AND app_id = $1 AND deleted_at IS NULL", appID, fieldID, ms(now))
	if err == nil && n == 0 {
		err = appdata.ErrNotFound
	}
	return wrap("delete field", err)
}

// noAppData turns an empty result into the answer that it is.
func noAppData(err error) error {
	if errors.Is(err, storage.ErrNoRows) {
		return appdata.ErrNotFound
	}
	return err
}

package sqlstore

import (
	"context"
	"slices"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

var _ valuestore.Store = (*Store)(nil)

const valueColumns = "v.id, v.resource_id, v.field_id, v.value, v.created_at, v.updated_at"

// valueRow scans a row of valueColumns. Key and type of record are its
// field's.
type valueRow struct {
	value            valuestore.Value
	field, text      string
	created, updated int64
}

func (r *valueRow) dest() []any {
	return []any{&r.value.ID, &r.value.ResourceID, &r.field, &r.text, &r.created, &r.updated}
}

func (r *valueRow) decoded() valuestore.Value {
	r.value.Value, r.value.CreatedAt, r.value.UpdatedAt = []byte(r.text), fromMS(r.created), fromMS(r.updated)
	return r.value
}

// Values implements valuestore.Store. The fields, which are few, are read separately.
func (s *Store) Values(ctx context.Context, q valuestore.Query) ([]valuestore.Value, error) {
	declared, err := s.Fields(ctx, q.AppID)
	if err != nil {
		return nil, wrap("values", err)
	}
	fields := make(map[string]valuestore.Field, len(declared))
	for _, f := range declared {
		if (q.ResourceType == "" || f.ResourceType == q.ResourceType) && (q.Key == "" || f.Key == q.Key) {
			fields[f.ID] = f
		}
	}
	if len(fields) == 0 || len(q.ResourceIDs) == 0 {
		return nil, nil
	}
	ids := padded(q.ResourceIDs)
	var found []valuestore.Value
	err = storage.Each(ctx, s, s.sql.of("SELECT "+valueColumns+` FROM partnerkit_app_data_value v
			WHERE v.space_id = (SELECT id FROM partnerkit_app_data_space WHERE app_id = $1 AND business_id = $2 AND ended_at IS NULL)
			AND v.resource_id IN (`+places(2, len(ids))+") ORDER BY v.id"), append([]any{q.AppID, q.BusinessID}, anys(ids)...),
		func(scan func(...any) error) error {
			var row valueRow
			err := scan(row.dest()...)
			if f, ok := fields[row.field]; ok {
				row.value.ResourceType, row.value.Key = f.ResourceType, f.Key
				found = append(found, row.decoded())
			}
			return err
		})
	return found, wrap("values", err)
}

// WriteValues implements valuestore.Store. It locks the fields and then the space, so that the
// values it reads do not change before it writes: concurrent writes to the same space wait.
func (s *Store) WriteValues(ctx context.Context, w valuestore.Write) ([]valuestore.Value, error) {
	var all []valuestore.Value
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		if err := tx.holdFields(ctx, w); err != nil {
			return err
		}
		space, err := tx.holdSpace(ctx, w)
		if err != nil {
			return err
		}
		before, err := tx.placed(ctx, space, w.Drafts)
		if err != nil {
			return err
		}
		all = make([]valuestore.Value, len(w.Drafts))
		var changed []valuestore.Value
		var rows [][]any
		for i, d := range w.Drafts {
			all[i] = d.Value
			if old, ok := before[place{d.ResourceID, d.FieldID}]; ok {
				all[i].ID, all[i].CreatedAt = old.ID, old.CreatedAt
				if string(old.Value) == string(d.Value.Value) {
					all[i].UpdatedAt = old.UpdatedAt
					continue
				}
			}
			v := all[i]
			changed = append(changed, v)
			rows = append(rows, []any{v.ID, space, v.ResourceID, d.FieldID, string(v.Value), ms(v.CreatedAt), ms(v.UpdatedAt)})
		}
		if len(changed) > 0 {
			err := tx.upsertMany(ctx, "INSERT INTO partnerkit_app_data_value (id, space_id, resource_id, field_id, value, created_at, updated_at) VALUES", rows,
				" ON CONFLICT (id) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at")
			if err != nil {
				return err
			}
			if err := tx.record(ctx, w.Record(changed)); err != nil {
				return err
			}
		}
		return w.Respond(ctx, tx.on, all)
	})
	return all, wrap("write values", err)
}

// holdFields locks the fields of a write; partner.ErrNotFound when one is gone.
func (t *tx) holdFields(ctx context.Context, w valuestore.Write) error {
	ids := make([]string, len(w.Drafts))
	for i, d := range w.Drafts {
		ids[i] = d.FieldID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	in := padded(ids)
	held := 0
	err := storage.Each(ctx, t.on, t.sql.of("SELECT id FROM partnerkit_app_data_field WHERE app_id = $1 AND deleted_at IS NULL AND id IN ("+places(1, len(in))+")"+t.dialect.ForShare),
		append([]any{w.AppID}, anys(in)...),
		func(scan func(...any) error) error {
			held++
			return scan(new(string))
		})
	if err == nil && held < len(ids) {
		return partner.ErrNotFound
	}
	return err
}

// holdSpace locks the space of a write, and makes it when there is none.
func (t *tx) holdSpace(ctx context.Context, w valuestore.Write) (id string, err error) {
	err = t.one(ctx, `INSERT INTO partnerkit_app_data_space (id, app_id, business_id) VALUES ($1, $2, $3)
		ON CONFLICT (app_id, business_id) WHERE ended_at IS NULL DO UPDATE SET ended_at = partnerkit_app_data_space.ended_at RETURNING id`,
		[]any{w.SpaceID, w.AppID, w.BusinessID}, &id)
	return id, err
}

// place identifies a value in its space.
type place struct{ resource, field string }

// placed returns the values that stand where the drafts go.
func (t *tx) placed(ctx context.Context, space string, drafts []valuestore.Draft) (map[place]valuestore.Value, error) {
	resources, fields := make([]string, len(drafts)), make([]string, len(drafts))
	for i, d := range drafts {
		resources[i], fields[i] = d.ResourceID, d.FieldID
	}
	resources, fields = padded(resources), padded(fields)
	n := len(resources)
	there := make(map[place]valuestore.Value, len(drafts))
	err := storage.Each(ctx, t.on, t.sql.of("SELECT "+valueColumns+` FROM partnerkit_app_data_value v
			WHERE v.space_id = $1 AND v.resource_id IN (`+places(1, n)+") AND v.field_id IN ("+places(1+n, n)+")"),
		append([]any{space}, anys(slices.Concat(resources, fields))...),
		func(scan func(...any) error) error {
			var row valueRow
			err := scan(row.dest()...)
			v := row.decoded()
			there[place{v.ResourceID, row.field}] = v
			return err
		})
	return there, err
}

// DeleteValue implements valuestore.Store. Concurrent writes to the space wait for it, and
// exactly one of several concurrent deletions finds the value.
func (s *Store) DeleteValue(ctx context.Context, r valuestore.Removal) error {
	err := s.write(ctx, func(ctx context.Context, tx *tx) error {
		var row valueRow
		err := tx.one(ctx, "SELECT "+valueColumns+`, f.resource_type, f.field_key FROM partnerkit_app_data_value v
				JOIN partnerkit_app_data_space s ON s.id = v.space_id JOIN partnerkit_app_data_field f ON f.id = v.field_id
			WHERE v.id = $3 AND s.app_id = $1 AND s.business_id = $2 AND s.ended_at IS NULL AND f.deleted_at IS NULL`+tx.dialect.UpdateOf("s"),
			[]any{r.AppID, r.BusinessID, r.ValueID}, append(row.dest(), &row.value.ResourceType, &row.value.Key)...)
		if err != nil {
			return noAppData(err)
		}
		gone := row.decoded()
		if err := r.Check(gone); err != nil {
			return err
		}
		n, err := tx.exec(ctx, "DELETE FROM partnerkit_app_data_value WHERE id = $1", r.ValueID)
		if err != nil {
			return err
		}
		if n == 0 {
			return partner.ErrNotFound
		}
		if err := tx.record(ctx, r.Record(gone)); err != nil {
			return err
		}
		return r.Respond(ctx, tx.on)
	})
	return wrap("delete value", err)
}

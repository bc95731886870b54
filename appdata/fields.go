package appdata

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
)

// errTooMany means that the app has as many fields as it may have.
var errTooMany = errors.New("too many fields")

// Check returns what is wrong with the declaration of a new field: a validation error of
// apierror, or INVALID_CHOICES.
func (s *Service) Check(d Declaration) error {
	_, err := s.newField(d)
	return err
}

// CheckChange does the same for a change of a field.
func (s *Service) CheckChange(f valuestore.Field, d Declaration) error {
	_, err := d.changed(f)
	return err
}

// DeclareField adds a field to an app. Its error is one of apierror: a validation
// error that names everything that is wrong, and wraps [valuestore.ErrTaken] or too many when
// that is it, or INVALID_CHOICES. [partner.ErrNotFound] when there is no such app.
func (s *Service) DeclareField(ctx context.Context, appID string, d Declaration) (valuestore.Field, error) {
	f, err := s.newField(d)
	if err != nil {
		return valuestore.Field{}, err
	}
	now := s.now()
	f.ID, f.AppID, f.CreatedAt, f.UpdatedAt, f.Version = id.New(id.AppDataField, now), appID, now, now, 1
	err = s.cfg.Store.ChangeFields(ctx, appID, now, func(all []valuestore.Field) ([]valuestore.Field, error) {
		if len(all) >= MaxFields {
			return nil, errTooMany
		}
		return append(all, f), nil
	})
	switch {
	case errors.Is(err, valuestore.ErrTaken):
		return valuestore.Field{}, apierror.InvalidAt("key", "%s is declared for %s already", f.Key, f.ResourceType).WithCause(err)
	case errors.Is(err, errTooMany):
		return valuestore.Field{}, apierror.Invalid(fmt.Sprintf("an app has at most %d fields", MaxFields)).WithCause(err)
	case err != nil:
		return valuestore.Field{}, err
	}
	return f, nil
}

// Fields returns the fields of an app, oldest first.
func (s *Service) Fields(ctx context.Context, appID string) ([]valuestore.Field, error) {
	return s.cfg.Store.Fields(ctx, appID)
}

// Field returns a field of an app; [partner.ErrNotFound].
func (s *Service) Field(ctx context.Context, appID, fieldID string) (valuestore.Field, error) {
	all, err := s.cfg.Store.Fields(ctx, appID)
	if err != nil {
		return valuestore.Field{}, err
	}
	i, err := indexOf(all, fieldID)
	if err != nil {
		return valuestore.Field{}, err
	}
	return all[i], nil
}

// indexOf returns the index of a field, or [partner.ErrNotFound].
func indexOf(all []valuestore.Field, fieldID string) (int, error) {
	i := slices.IndexFunc(all, func(f valuestore.Field) bool { return f.ID == fieldID })
	if i < 0 {
		return 0, partner.ErrNotFound
	}
	return i, nil
}

// ChangeField changes the label and the rules of a field. Values that are there stay as
// they are. ResourceType, Key and Type of the declaration may only repeat what they
// are. [partner.ErrNotFound], or an error of apierror as with [Service.DeclareField], or CONFLICT.
func (s *Service) ChangeField(ctx context.Context, appID, fieldID string, d Declaration) (valuestore.Field, error) {
	now := s.now()
	var changed valuestore.Field
	err := s.cfg.Store.ChangeFields(ctx, appID, now, func(all []valuestore.Field) ([]valuestore.Field, error) {
		i, err := indexOf(all, fieldID)
		if err != nil {
			return nil, err
		}
		all[i].UpdatedAt = now
		if changed, err = d.changed(all[i]); err != nil {
			return nil, err
		}
		all[i] = changed
		return all, nil
	})
	return changed, err
}

// DeleteField deletes a field and, in every business, its values; [partner.ErrNotFound].
func (s *Service) DeleteField(ctx context.Context, appID, fieldID string) error {
	return s.cfg.Store.ChangeFields(ctx, appID, s.now(), func(all []valuestore.Field) ([]valuestore.Field, error) {
		i, err := indexOf(all, fieldID)
		if err != nil {
			return nil, err
		}
		return slices.Delete(all, i, i+1), nil
	})
}

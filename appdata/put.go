package appdata

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/identity"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

type valuesBody struct {
	Values []valuestore.Value `json:"values"`
}

// PutValues serves PUT /app-data behind a guard: it writes values, all or none, and
// responds with them as they are then, in the order of the request.
func (s *Service) PutValues(w http.ResponseWriter, r *http.Request) error {
	p, err := caller(r)
	if err != nil {
		return err
	}
	given, err := s.parsePut(r)
	if err != nil {
		return err
	}
	drafts, err := s.check(r.Context(), p, given)
	if err != nil {
		return err
	}
	if err := s.checkRecords(r.Context(), p.BusinessID, drafts); err != nil {
		return err
	}
	now := s.now()
	for i := range drafts {
		d := &drafts[i]
		d.ID = id.New(id.AppDataValue, now.Add(time.Duration(i)*id.Resolution)) // in the order of the request
		d.CreatedAt, d.UpdatedAt = now, now
	}
	eventID := id.New(id.Event, now)
	written, err := s.cfg.Store.WriteValues(r.Context(), valuestore.Write{
		AppID: p.AppID, BusinessID: p.BusinessID, SpaceID: id.New(id.AppDataSpace, now), Drafts: drafts,
		Record: func(changed []valuestore.Value) []partner.Event { return updated(p, eventID, now, valuesBody{changed}) },
		Respond: func(ctx context.Context, tx storage.Tx, all []valuestore.Value) error {
			return s.response(ctx, tx, http.StatusOK, valuesBody{all})
		},
	})
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return s.fieldGone(r.Context(), p, given, err)
	case err != nil:
		return fmt.Errorf("appdata: %w", err)
	case s.cfg.Respond != nil:
		return nil
	}
	return apierror.WriteJSON(w, http.StatusOK, valuesBody{written})
}

// respond lets the host decide the response of a write in its transaction.
func (s *Service) response(ctx context.Context, tx storage.Tx, status int, body any) error {
	if s.cfg.Respond == nil {
		return nil
	}
	return s.cfg.Respond(ctx, tx, status, body)
}

// place identifies a field: an app has at most one field for each place.
type place struct{ resourceType, key string }

// check finds the fields of the values, and checks the call and each value.
func (s *Service) check(ctx context.Context, p identity.Principal, given []givenValue) ([]valuestore.Draft, error) {
	for _, v := range given {
		if err := s.access(p, v.ResourceType); err != nil {
			return nil, err
		}
	}
	declared, err := s.cfg.Store.Fields(ctx, p.AppID)
	if err != nil {
		return nil, fmt.Errorf("appdata: %w", err)
	}
	fields := make(map[place]valuestore.Field, len(declared))
	for _, f := range declared {
		fields[place{f.ResourceType, f.Key}] = f
	}
	for _, v := range given {
		if _, ok := fields[place{v.ResourceType, v.Key}]; !ok {
			return nil, codes.UnknownAppDataField.New(v.Key, v.ResourceType)
		}
	}
	var broken []codes.ValueDetail
	drafts := make([]valuestore.Draft, len(given))
	for i, v := range given {
		field := fields[place{v.ResourceType, v.Key}]
		drafts[i] = valuestore.Draft{FieldID: field.ID, Value: valuestore.Value{ResourceType: v.ResourceType, ResourceID: v.ResourceID, Key: v.Key, Value: v.Value}}
		if reason := checkValue(field, v.Value); reason != "" {
			broken = append(broken, codes.ValueDetail{ResourceType: v.ResourceType, ResourceID: v.ResourceID, Key: v.Key, Reason: reason})
		}
	}
	if len(broken) > 0 {
		return nil, codes.InvalidValues(broken...)
	}
	return drafts, nil
}

// fieldGone responds to a write that lost its field on the way: as if it had come later.
func (s *Service) fieldGone(ctx context.Context, p identity.Principal, given []givenValue, cause error) error {
	if _, err := s.check(ctx, p, given); err != nil {
		return err
	}
	return apierror.Unavailable(cause) // declared again meanwhile
}

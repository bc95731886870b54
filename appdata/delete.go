package appdata

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/codes"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/partner"
	"github.com/partnerkit/partnerkit/storage"
)

// DeleteValue serves DELETE /app-data/{id} behind a guard.
func (s *Service) DeleteValue(w http.ResponseWriter, r *http.Request) error {
	p, err := caller(r)
	if err != nil {
		return err
	}
	valueID := r.PathValue("id")
	if !id.Valid(id.AppDataValue, valueID) {
		return codes.AppDataValueNotFound.New(valueID)
	}
	now := s.now()
	eventID := id.New(id.Event, now)
	err = s.cfg.Store.DeleteValue(r.Context(), valuestore.Removal{
		AppID: p.AppID, BusinessID: p.BusinessID, ValueID: valueID,
		Check: func(v valuestore.Value) error { return s.access(p, v.ResourceType) },
		Record: func(v valuestore.Value) []partner.Event {
			gone := []deletedValue{{v.ID, v.ResourceType, v.ResourceID, v.Key}}
			return updated(p, eventID, now, map[string][]deletedValue{"deleted": gone})
		},
		Respond: func(ctx context.Context, tx storage.Tx) error { return s.response(ctx, tx, http.StatusNoContent, nil) },
	})
	switch {
	case errors.Is(err, partner.ErrNotFound):
		return codes.AppDataValueNotFound.New(valueID)
	case err != nil:
		return fmt.Errorf("appdata: %w", err)
	case s.cfg.Respond == nil:
		w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

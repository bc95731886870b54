package appdata

import (
	"context"
	"fmt"
	"slices"

	"github.com/partnerkit/partnerkit/appdata/valuestore"
	"github.com/partnerkit/partnerkit/internal/codes"
)

// Record is something of the host's that values are attached to.
type Record struct {
	ResourceType string // of Config.Types
	ResourceID   string // as the app sent it: anything of up to maxResourceID characters
}

// Records tells which records the host has. It is safe for concurrent
// use.
type Records interface {
	// ExistingRecords returns those of the asked ones that exist in the business,
	// in any order. It is called once for a request, with each record once.
	ExistingRecords(ctx context.Context, businessID string, asked []Record) ([]Record, error)
}

// checkRecords asks the host once, for all records.
func (s *Service) checkRecords(ctx context.Context, businessID string, drafts []valuestore.Draft) error {
	var asked []Record
	exists := make(map[Record]bool, len(drafts))
	for _, d := range drafts {
		one := Record{d.ResourceType, d.ResourceID}
		if _, ok := exists[one]; !ok {
			asked = append(asked, one)
			exists[one] = false
		}
	}
	found, err := s.cfg.Records.ExistingRecords(ctx, businessID, slices.Clone(asked))
	if err != nil {
		return fmt.Errorf("appdata: %w", err)
	}
	for _, one := range found {
		exists[one] = true
	}
	for _, one := range asked {
		if !exists[one] {
			return codes.RecordNotFound.New(one.ResourceType, one.ResourceID)
		}
	}
	return nil
}

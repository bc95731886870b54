package ledger

import (
	"context"

	"github.com/partnerkit/partnerkit/appdata"
	"github.com/partnerkit/partnerkit/storage"
)

var _ appdata.Records = (*Ledger)(nil)

// ExistingRecords implements appdata.Records, with one statement for each type.
func (l *Ledger) ExistingRecords(ctx context.Context, businessID string, asked []appdata.Record) ([]appdata.Record, error) {
	byType := make(map[string][]string)
	for _, one := range asked {
		byType[one.ResourceType] = append(byType[one.ResourceType], one.ResourceID)
	}
	var found []appdata.Record
	for _, exist := range []existence{exists(invoices), exists(customers), exists(suppliers), exists(payments), exists(accounts), exists(entries)} {
		some, err := exist(ctx, l.cfg.Store, businessID, byType)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	return found, nil
}

// existence finds those of the asked ones, by type, that are in a table.
type existence func(ctx context.Context, from storage.Querier, businessID string, byType map[string][]string) ([]appdata.Record, error)

func exists[T any](t table[T]) existence {
	return func(ctx context.Context, from storage.Querier, businessID string, byType map[string][]string) ([]appdata.Record, error) {
		records, err := t.among(ctx, from, businessID, byType[t.resource], "")
		found := make([]appdata.Record, len(records))
		for i, record := range records {
			found[i] = appdata.Record{ResourceType: t.resource, ResourceID: t.idOf(record)}
		}
		return found, err
	}
}

package sqlstore

import (
	"context"
	"strings"

	"github.com/partnerkit/partnerkit/console/consolestore"
	"github.com/partnerkit/partnerkit/internal/id"
	"github.com/partnerkit/partnerkit/storage"
)

// ownerQueries are the statements that find what a record belongs to: its app, webhook and business.
var ownerQueries = map[id.Kind]string{
	id.Webhook:      "SELECT app_id, id, '' FROM partnerkit_webhook WHERE id = $1",
	id.Delivery:     "SELECT app_id, webhook_id, business_id FROM partnerkit_delivery WHERE id = $1",
	id.Request:      "SELECT app_id, '', business_id FROM partnerkit_request WHERE id = $1",
	id.Installation: "SELECT app_id, '', business_id FROM partnerkit_installation WHERE id = $1",
	id.Event:        "SELECT COALESCE(app_id, ''), '', business_id FROM partnerkit_event WHERE id = $1",
}

// Owner implements consolestore.Store.
func (s *Store) Owner(ctx context.Context, recordID string) (o consolestore.Owner, err error) {
	prefix, _, _ := strings.Cut(recordID, "_")
	query, ok := ownerQueries[id.Kind(prefix+"_")]
	if !ok {
		return consolestore.Owner{}, nil
	}
	err = storage.Each(ctx, s, s.sql.of(query), []any{recordID}, func(scan func(...any) error) error {
		return scan(&o.AppID, &o.WebhookID, &o.BusinessID)
	})
	return o, wrap("owner", err)
}

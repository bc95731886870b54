package pages

import (
	"slices"

	"github.com/partnerkit/partnerkit/internal/look"
	"github.com/partnerkit/partnerkit/webhooks"
)

// perPage is how many of the recent deliveries a page lists.
const perPage = 25

type deliveryRow struct {
	webhooks.Delivery
	Badge look.Badge
}

func newDeliveryRow(d webhooks.Delivery) deliveryRow {
	return deliveryRow{Delivery: d, Badge: deliveryBadge(d.Status)}
}

func deliveryBadge(s webhooks.Status) look.Badge {
	switch s {
	case webhooks.Queued:
		return look.Badge{Kind: "info", Text: "Queued"}
	case webhooks.Retrying:
		return look.Badge{Kind: "warn", Text: "Retrying"}
	case webhooks.Delivered:
		return look.Badge{Kind: "ok", Text: "Delivered"}
	case webhooks.Failed:
		return look.Badge{Kind: "bad", Text: "Failed"}
	}
	return look.Badge{Text: string(s)}
}

// cut is a page of the recent deliveries: those after one of them, and where the
// next page begins. After one that is no longer among them it is the first page.
func cut(all []webhooks.Delivery, after string) (rows []deliveryRow, next string) {
	begin := 1 + slices.IndexFunc(all, func(d webhooks.Delivery) bool { return d.ID == after })
	end := min(begin+perPage, len(all))
	for _, d := range all[begin:end] {
		rows = append(rows, newDeliveryRow(d))
	}
	if end < len(all) {
		next = all[end-1].ID
	}
	return rows, next
}

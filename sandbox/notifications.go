package sandbox

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/events"
	"github.com/partnerkit/partnerkit/internal/stamp"
)

const (
	// notificationsKept is how many notifications development mode shows.
	notificationsKept = 200
	// notificationsWithin is how long the list waits for those that are being told.
	notificationsWithin = time.Second
)

// notifications is the Notifier of development mode: it stores the notifications, and passes
// them on.
type notifications struct {
	next events.Notifier

	mu   sync.Mutex
	kept []events.Notification // oldest first
}

// Notify implements events.Notifier.
func (n *notifications) Notify(ctx context.Context, told events.Notification) error {
	n.mu.Lock()
	n.kept = append(n.kept, told)
	n.kept = n.kept[max(0, len(n.kept)-notificationsKept):]
	n.mu.Unlock()
	return n.next.Notify(ctx, told)
}

// notificationView is a notification as JSON.
type notificationView struct {
	Kind       events.NotificationKind `json:"kind"`
	Time       stamp.Time              `json:"time"`
	AppID      string                  `json:"appId,omitempty"`
	BusinessID string                  `json:"businessId,omitempty"`
	UserID     string                  `json:"userId,omitempty"`
	WebhookID  string                  `json:"webhookId,omitempty"`
	Text       string                  `json:"text"`
}

// newest returns what was kept, newest first.
func (n *notifications) newest() []notificationView {
	n.mu.Lock()
	defer n.mu.Unlock()
	views := make([]notificationView, 0, len(n.kept))
	for i := len(n.kept) - 1; i >= 0; i-- {
		told := n.kept[i]
		views = append(views, notificationView{
			Kind: told.Kind, Time: stamp.Of(told.At), AppID: told.AppID, BusinessID: told.BusinessID, UserID: told.UserID,
			WebhookID: told.WebhookID, Text: told.Text(),
		})
	}
	return views
}

// devNotifications lists the notifications that the Notifier received.
func (s *server) devNotifications(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), notificationsWithin)
	defer cancel()
	_ = s.platform.Notifications().Settle(ctx) // later notifications are in the next list
	return apierror.WriteJSON(w, http.StatusOK, map[string]any{"data": s.told.newest()})
}

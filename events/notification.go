package events

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Notifier receives notifications for the host's staff, so that it can send mail, post to
// a chat or open a ticket.
//
// Notify is called after the change has committed, outside of the request that made it,
// and for one notification at a time. Its context ends after ten seconds; other
// notifications do not wait for a call that ignores this.
//
// After an error or a panic Notify is called again for the same notification, with growing
// delays, the last time one hour after the first. Other notifications go on meanwhile.
// Notifications wait in memory: what waits when the process ends is tried once more and then
// dropped.
//
// A call that the host makes inside a transaction of its own, with the store's Transact,
// WithTx or BeginTx, is the exception: its notification is queued when the call returns,
// which is before the host commits. If the host then rolls back, the notification is about
// something that did not happen.
type Notifier interface {
	Notify(ctx context.Context, n Notification) error
}

// NotifierFunc is a function that implements [Notifier].
type NotifierFunc func(ctx context.Context, n Notification) error

// Notify implements [Notifier].
func (f NotifierFunc) Notify(ctx context.Context, n Notification) error { return f(ctx, n) }

// NotificationKind is the subject of a notification.
type NotificationKind string

// The kinds of notifications.
const (
	NotifyAppConnected    NotificationKind = "app.connected"
	NotifyAppDisconnected NotificationKind = "app.disconnected"
	NotifyAccessRevoked   NotificationKind = "app.access_revoked"
	NotifyScopesChanged   NotificationKind = "app.scopes_changed"
	// NotifyConnectionOrphaned is sent when a person has left a business, for each app that the
	// person had connected there. The calls of the app for this person are rejected until another
	// person takes the connection over; then NotifyConnectionTakenOver is sent.
	NotifyConnectionOrphaned   NotificationKind = "connection.orphaned"
	NotifyConnectionTakenOver  NotificationKind = "connection.taken_over"
	NotifyReuseDetected        NotificationKind = "token.reuse_detected"
	NotifyClientLockedOut      NotificationKind = "client.locked_out"
	NotifyWebhookFailing       NotificationKind = "webhook.failing"
	NotifyWebhookRecovered     NotificationKind = "webhook.recovered"
	NotifyWebhookDisabled      NotificationKind = "webhook.disabled"
	NotifySecretCreated        NotificationKind = "secret.created"
	NotifySecretRevoked        NotificationKind = "secret.revoked"
	NotifySigningSecretRotated NotificationKind = "signing_secret.rotated"
	NotifyAppCreated           NotificationKind = "app.created"
	NotifyAppSuspended         NotificationKind = "app.suspended"
	NotifyAppReactivated       NotificationKind = "app.reactivated"
	NotifyAppDeactivated       NotificationKind = "app.deactivated"
	NotifyListingSubmitted     NotificationKind = "listing.submitted"
	NotifyListingDecided       NotificationKind = "listing.decided"
	NotifyBusinessRedacted     NotificationKind = "business.redacted"
)

// Notification describes one change. Fields that do not apply to its kind are empty.
type Notification struct {
	Kind       NotificationKind
	At         time.Time
	AppID      string
	BusinessID string
	// UserID is the person who made the change, whose token it is about, or who left.
	UserID    string
	WebhookID string
	// ClientID is set for client.locked_out, where no app may exist.
	ClientID string
	// Detail holds further information: the scopes of app.connected and
	// app.scopes_changed, the decision of listing.decided, the address of
	// client.locked_out, the prefix of a secret.
	Detail string
}

// sentences are the texts of the kinds.
var sentences = map[NotificationKind]string{
	NotifyAppConnected:         "An app was connected to a business",
	NotifyAppDisconnected:      "An app was removed from a business",
	NotifyAccessRevoked:        "A business revoked the access of an app",
	NotifyScopesChanged:        "The scopes of an app in a business changed",
	NotifyConnectionOrphaned:   "A person who connected an app has left the business; the app no longer works for them until somebody takes the connection over",
	NotifyConnectionTakenOver:  "A person took over the connection of an app whose person had left the business",
	NotifyReuseDetected:        "A used refresh token was presented again; its token family was revoked",
	NotifyClientLockedOut:      "A client was locked out after failed authentications",
	NotifyWebhookFailing:       "A webhook is failing",
	NotifyWebhookRecovered:     "A webhook works again",
	NotifyWebhookDisabled:      "A webhook was disabled because it kept failing",
	NotifySecretCreated:        "A client secret was created",
	NotifySecretRevoked:        "A client secret was revoked",
	NotifySigningSecretRotated: "The signing secret of a webhook was rotated",
	NotifyAppCreated:           "An app was created",
	NotifyAppSuspended:         "An app was suspended",
	NotifyAppReactivated:       "An app was reactivated",
	NotifyAppDeactivated:       "An app was deactivated",
	NotifyListingSubmitted:     "An app or its listing was submitted for review",
	NotifyListingDecided:       "An app or its listing was reviewed",
	NotifyBusinessRedacted:     "The data of a business is due for deletion by an app",
}

// Text returns the notification as one English sentence without its ids.
func (n Notification) Text() string {
	text, ok := sentences[n.Kind]
	switch {
	case !ok:
		text = string(n.Kind)
	case n.Detail != "":
		return fmt.Sprintf("%s: %s.", text, n.Detail)
	}
	return text + "."
}

// LogNotifier returns a Notifier that logs each notification. It is the default.
func LogNotifier(logger *slog.Logger) Notifier {
	return NotifierFunc(func(ctx context.Context, n Notification) error {
		attrs := make([]slog.Attr, 0, 7)
		for _, one := range []struct{ key, value string }{
			{"kind", string(n.Kind)}, {"app", n.AppID}, {"business", n.BusinessID}, {"user", n.UserID},
			{"webhook", n.WebhookID}, {"client", n.ClientID}, {"detail", n.Detail},
		} {
			if one.value != "" {
				attrs = append(attrs, slog.String(one.key, one.value))
			}
		}
		logger.LogAttrs(ctx, slog.LevelInfo, "notification", attrs...)
		return nil
	})
}

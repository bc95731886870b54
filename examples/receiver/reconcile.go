package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/examples/receiver/inbox"
)

// reconcile fetches at once, and then every so often, what no webhook brought.
func reconcile(ctx context.Context, box *inbox.Inbox, o options, log *slog.Logger) {
	feed := inbox.EventsAPI{URL: o.api, Client: &http.Client{Transport: bearer(o.token), Timeout: 30 * time.Second}}
	tick := time.NewTicker(o.every)
	defer tick.Stop()
	for {
		// One token is one business; another business's would not know the place, and
		// its events be read from the beginning.
		report, err := box.Reconcile(ctx, "the token's", feed)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.WarnContext(ctx, "reconciling failed", "err", err)
		case report.Fresh > 0 || report.Restarted:
			log.InfoContext(ctx, "reconciled", "read", report.Read, "missed", report.Fresh, "restarted", report.Restarted)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// bearer sends an access token as it is; examples/partner knows how to renew one.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

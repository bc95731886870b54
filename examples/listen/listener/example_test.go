package listener_test

import (
	"context"
	"fmt"

	"github.com/partnerkit/partnerkit/examples/listen/listener"
	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

// A test of yours that waits for a webhook.
func Example() {
	server, err := servertest.Launch() // yours runs already: go run ./examples/server
	if err != nil {
		panic(err)
	}
	defer server.Stop()

	ctx := context.Background()
	l, err := listener.Start(ctx, listener.Config{
		API: server.API, UserID: "usr_dev", ClientID: "ledgerlink-sync",
		Events: []string{"app.scopes_updated"},
	})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	id, err := l.Trigger(ctx, listener.Occurrence{BusinessID: "biz_bakery", Type: "app.scopes_updated"})
	if err != nil {
		panic(err)
	}
	delivery := <-l.Deliveries()
	fmt.Println(delivery.Type, delivery.BusinessID, delivery.EventID == id)
	// Output: app.scopes_updated biz_bakery true
}

package analytics_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/partnerkit/partnerkit/analytics"
	"github.com/partnerkit/partnerkit/storage/sqlite"
)

// Calls are counted in memory and written by Run; its end writes the rest.
func Example() {
	store, err := sqlite.Open(context.Background(), sqlite.Config{Path: sqlite.Memory})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	counter, err := analytics.New(analytics.Config{Store: store})
	if err != nil {
		log.Print(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- counter.Run(ctx) }()

	counter.Count(analytics.Call{AppID: "app_1", At: time.Now(), Status: http.StatusOK, Took: 12 * time.Millisecond})
	counter.Count(analytics.Call{AppID: "app_1", At: time.Now(), Status: http.StatusTooManyRequests, RateLimited: true, Took: time.Millisecond})

	stop() // after the last request
	if err := <-done; err != nil {
		log.Print(err)
	}
	report, err := counter.Report(context.Background(), "app_1", 7)
	if err != nil {
		log.Print(err)
		return
	}
	fmt.Printf("%+v on %d days\n", report.Totals.Counts, len(report.Days))
	// Output: {Calls:2 Errors:1 RateLimited:1} on 7 days
}

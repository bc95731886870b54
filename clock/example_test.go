package clock_test

import (
	"context"
	"fmt"
	"time"

	"github.com/partnerkit/partnerkit/clock"
)

func Example() {
	now := clock.NewManual(time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
	expires := now.Now().Add(time.Hour)

	woken := make(chan error)
	go func() { woken <- clock.Wait(context.Background(), now, expires) }()

	now.Advance(time.Hour) // no test waits for an hour
	fmt.Println(<-woken, now.Now().Format(time.TimeOnly))
	// Output: <nil> 13:00:00
}

// On a running server time goes on, and can be moved ahead.
func ExampleOffset() {
	now := new(clock.Offset)
	if err := now.Advance(24 * time.Hour); err != nil {
		fmt.Println(err)
	}
	fmt.Println(now.Ahead(), now.Now().After(time.Now().Add(23*time.Hour)))
	// Output: 24h0m0s true
}

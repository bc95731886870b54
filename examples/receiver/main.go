// Command receiver takes webhooks: it verifies them, responds at once, works on
// them afterwards, and fetches through the Events API what it missed.
//
//	go run ./examples/receiver -secret whsec_…
//
// Its README describes what a crash leaves behind.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(exitCode()) }

func exitCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintln(os.Stderr, "receiver:", err)
		return 2
	}
	_, _ = fmt.Fprintln(os.Stderr, "receiver:", err)
	return 1
}

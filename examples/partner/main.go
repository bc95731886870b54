// Command partner is a partner's web app: it connects a business, calls the API,
// takes webhooks, and says on standard output what it did.
//
//	go run ./examples/server &
//	go run ./examples/partner
//
// Its README tells the story; the package client is the code to take along.
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
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintln(os.Stderr, "partner:", err)
		return 2
	}
	_, _ = fmt.Fprintln(os.Stderr, "partner:", err)
	return 1
}

// Command listen shows the webhooks of an app as they come and passes them on to the
// program that you are working on; it needs a reference server in development mode,
// and no tunnel.
//
//	go run ./examples/listen -forward http://127.0.0.1:4242/hook
//	go run ./examples/listen trigger invoice.paid      # in another terminal
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
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	_, _ = fmt.Fprintln(os.Stderr, "listen:", err)
	if errors.Is(err, errUsage) {
		return 2
	}
	return 1
}

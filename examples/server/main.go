// Command server is the reference server: the whole partner surface on one
// machine, with demo data, pages to sign in on and, in development mode, a clock
// that can be moved.
//
//	go run ./examples/server
//
// Its README says what it promises.
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
	context.AfterFunc(ctx, stop) // who asks twice does not want to wait
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		return 0 // asked to stop before it was ready
	case errors.Is(err, errUsage):
		_, _ = fmt.Fprintln(os.Stderr, "server:", err)
		return 2
	}
	_, _ = fmt.Fprintln(os.Stderr, "server:", err)
	return 1
}

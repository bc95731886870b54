// Command device is a partner without a browser: a program on the command line that
// asks a business for access by the device flow (RFC 8628), makes one call with the
// token that it gets, and gives the token back.
//
//	go run ./examples/server          # in another terminal
//	go run ./examples/device
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"
)

func main() { os.Exit(exitCode()) }

func exitCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], environment{os.Getenv, os.Stdout, os.Stderr, http.DefaultTransport, wait})
	if ctx.Err() != nil {
		err = errors.New("stopped")
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintln(os.Stderr, "device:", err)
	}
	return codeOf(err)
}

// codeOf returns the exit code by which scripts know how it went.
func codeOf(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.Is(err, errUsage):
		return 2
	case errors.Is(err, errDenied):
		return 3
	case errors.Is(err, errExpired):
		return 4
	}
	return 1
}

// wait lets time pass between two polls.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

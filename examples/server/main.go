// Command server is the reference server: the whole partner surface on one
// machine, with demo data, pages to sign in on and, in development mode, a clock
// that can be moved.
//
//	go run ./examples/server
//
// The README lists its guarantees. platform.go configures the library. The backend that
// the library needs is package books.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/partnerkit/partnerkit/console/jscheck"
)

// checkFunction is the only argument of the processes that check uploaded functions.
const checkFunction = "check-function"

func main() { os.Exit(exitCode()) }

func isCheck(args []string) bool { return len(args) == 2 && args[1] == checkFunction }

// newFunctionChecker checks uploaded functions in processes of this program.
func newFunctionChecker() (*jscheck.Checker, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return jscheck.New(jscheck.Config{Command: []string{program, checkFunction}})
}

func exitCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // who asks twice does not want to wait
	var err error
	if isCheck(os.Args) {
		err = jscheck.Main(os.Stdin, os.Stdout)
	} else {
		err = run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	}
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

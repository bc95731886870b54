package jscheck_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/console/jscheck"
)

// What the test binary does when it is started with one of these arguments.
const (
	asChecker = "check-function"
	asStuck   = "wait-forever"
	asBroken  = "fail"
)

func TestMain(m *testing.M) {
	if len(os.Args) != 2 {
		goleak.VerifyTestMain(m)
		return
	}
	switch os.Args[1] {
	case asChecker:
		if err := jscheck.Main(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case asStuck:
		if err := os.WriteFile("started", nil, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		time.Sleep(time.Hour) // an empty select is a deadlock in a program without cgo
	case asBroken:
		fmt.Fprintln(os.Stderr, "no such library")
		os.Exit(1)
	default:
		goleak.VerifyTestMain(m)
	}
}

package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// The tests read the repository from its root.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

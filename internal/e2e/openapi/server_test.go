package openapi_test

import (
	"testing"

	"github.com/partnerkit/partnerkit/examples/server/servertest"
)

func TestMain(m *testing.M) {
	registerDecoders()
	m.Run()
}

// service is a reference server in a process of its own, with clients that hold all
// that is said against the description.
type service struct {
	t        *testing.T
	API, App string
	checker  *checker
}

// serve starts one with the demo, on free ports.
func serve(t *testing.T, database string) *service {
	t.Helper()
	process, err := servertest.Launch("-db", database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Stop()
		if t.Failed() {
			t.Logf("log of the server:\n%s", process.Log())
		}
	})
	s := &service{t: t, API: process.API, App: process.App}
	s.checker = newChecker(t, s.API)
	return s
}

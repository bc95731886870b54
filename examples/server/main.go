// Command server is the reference server: the whole partner surface on one
// machine, with demo data, pages to sign in on and, in development mode, a clock
// that can be moved.
//
//	go run ./examples/server
//
// The README lists its guarantees. It is package sandbox over package books: platform.go
// puts the books into the configuration of the library, people.go loads the demo.
package main

import (
	_ "embed" // for the description

	"github.com/partnerkit/partnerkit/examples/server/fixtures"
	"github.com/partnerkit/partnerkit/sandbox"
	"github.com/partnerkit/partnerkit/sandbox/servers"
)

// description describes the pages of the books.
//
//go:embed description.yaml
var description string

func main() { newProgram().Main() }

func newProgram() sandbox.Program {
	var b backend
	p := sandbox.Program{
		Name: "server", Database: "partnerkit.db", Fixtures: fixtures.Demo, Description: description,
		Flags: b.addFlags, Check: b.check, Configure: b.configure,
	}
	servers.Add(&p) // PostgreSQL and Redis, which a sandbox for laptops does without
	return p
}

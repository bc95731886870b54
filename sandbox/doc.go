// Package sandbox makes a program of a host's own platform, which its partners run on
// their laptops and in their tests: the same routes, scopes, events and versions, and
// everything that a partner needs to see each state without waiting for it.
//
//	func main() {
//		sandbox.Main(func(c *partnerkit.Config) error {
//			c.Host, c.Routes, c.Service = backend, backend.Routes(), "Ledger"
//			return nil
//		})
//	}
//
// The program serves the API host and the app host on two ports of loopback. It keeps its
// data in memory unless -db names a file, prints one line of JSON when it is ready, and
// stops when it is asked to. docs/sandbox.md describes it for partners.
//
// # Development mode
//
// While both listeners and both public URLs are on loopback and no proxy is trusted,
// the program is in development mode: programs on the same machine can move its clock, sign
// anybody in, change the state of apps, users and connections, record events, and make
// calls and deliveries fail, by JSON calls below /dev on the API host. The same is on pages
// below /sandbox on the app host. No web page of another origin and no other machine
// reaches /dev.
//
// # People
//
// The users, organizations and businesses of a file of fixtures exist beside those of the
// host: [Program.Configure] sets a Config.Host, and the sandbox answers for the people of
// the fixtures and asks the host about everybody else. They are kept in memory, so that the
// host's own tables need not know them. A host that keeps them itself implements [People];
// the reference server, examples/server, is such a program over examples/books.
//
// # Files
//
// The program itself is in program.go, options.go, assemble.go, run.go and serve.go. The files
// whose names begin with dev are the calls below /dev, and pages.go and viewer.go the pages below
// /sandbox. fill.go and people.go have the fixtures and their people; listen.go, door.go,
// connections.go and refusal.go protect the listeners. All of it is one program, of which hosts
// see [Main], [Program] and [People] only.
package sandbox

// Package proofs is the folder of the proofs that take the reference server as its
// users have it: real processes over real sockets. Each has a short form, which CI runs and
// CI=true go test, and a long one in make prove. Without CI=true go test skips them.
//
//   - nodes: three processes on one PostgreSQL and one Redis
//   - crash: kill -9, databases that restart, a full disk
//   - hostile: what clients may send to do harm
//   - mutants: rules broken on purpose, and the tests that notice
//   - powerloss: what a power loss leaves of an SQLite file
//   - fresh: the README's commands where nothing is installed, and reproducible builds
//   - plans: the plans of statements on a database that has grown, and no process
//
// The races of single operations are explored in internal/racetest, statement by statement.
package proofs

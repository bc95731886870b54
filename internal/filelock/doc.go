// Package filelock locks a file for one process, on each kind of system. It is a package
// of its own so that the code for all systems can be vetted without compiling a database.
package filelock

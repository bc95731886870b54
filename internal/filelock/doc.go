// Package filelock keeps a file for one process, on each kind of system. It stands
// alone so that all of them can be vetted without compiling a database.
package filelock

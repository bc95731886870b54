// Package powerloss tests what a power loss leaves of a database of package
// storage/sqlite.
//
// A child process commits operations and acknowledges each one, while strace records
// what it writes and syncs. For many moments of that record the test builds files as a
// disk could hold them if the power had failed at that moment: all that was synced, and
// any part of the rest. It opens these files and compares them with the
// acknowledgements.
package powerloss

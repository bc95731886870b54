// Package mutants breaks rules on purpose and runs the tests that have to notice.
package mutants

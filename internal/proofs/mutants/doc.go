// Package mutants breaks rules on purpose and runs the tests that have to notice.
//
// Each mutant is a text file in this folder:
//
//	rule: CODE-06
//	advisory: CVE-2026-47386
//	breaks: a code is redeemed without a look whether it was used before
//	file: storage/sqlstore/issue.go
//	package: ./oauthserver
//	test: TestCodeRace
//	--- old
//	WHERE id = $1 AND used_at IS NULL"
//	+++ new
//	WHERE id = $1"
//
// It breaks the rule that it names, with the known fault of the advisory if there is
// one, and the rule's own test must fail. The old text occurs once in the file; there
// may be several pairs of old and new, inside functions only. Mutated files reach the
// compiler as an overlay, so that the working tree stays as it is.
//
// A mutant that survives shows that a test is missing: add the test, and keep the
// mutant. go test looks at the form of all and runs a few; make mutants runs all.
package mutants

package apierror

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The bounds of a list of problems in a response.
const (
	maxProblems = 50
	maxProblem  = 500 // bytes of one
)

// A Validation collects what is wrong with a request, so that a client repairs it in
// one go. It keeps the first 50 problems and counts the others, and it cuts a problem of
// more than 500 bytes. The zero value is ready; it is not safe for concurrent use.
type Validation struct {
	problems []string
	more     int      // that are not kept
	skip     []string // paths of members whose problems are not added
}

// Add notes a problem, formatted like fmt.Sprintf. By convention the text
// begins with the path of the member: "values[3].key must not be empty".
func (v *Validation) Add(format string, args ...any) {
	problem := fmt.Sprintf(format, args...)
	if v.isSkipped(problem) {
		return
	}
	if len(v.problems) == maxProblems {
		v.more++
		return
	}
	v.problems = append(v.problems, clip(problem, maxProblem))
}

// isSkipped reports whether a problem is one of a member that has one already, of something
// in that member, or of what the member is in: a value that could not be decoded is not
// missing too, and what it is part of cannot be checked.
func (v *Validation) isSkipped(problem string) bool {
	if len(v.skip) == 0 {
		return false
	}
	of, _, _ := strings.Cut(problem, " ")
	of = strings.TrimSuffix(of, ":")
	return slices.ContainsFunc(v.skip, func(path string) bool { return isPart(of, path) || isPart(path, of) })
}

// isPart reports whether a path is another one, or leads to something in it.
func isPart(path, of string) bool {
	rest, ok := strings.CutPrefix(path, of)
	return ok && of != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Include adds the problems of another validation, so that one error reports them all.
// Any other error is returned unchanged.
func (v *Validation) Include(err error) error {
	invalid, ok := errors.AsType[*Error](err)
	if !ok || !invalid.isList {
		return err
	}
	for _, problem := range invalid.messages {
		v.Add("%s", problem)
	}
	v.more += invalid.more
	return nil
}

// Err returns nil when nothing was added, otherwise [Invalid] with the problems in the
// order in which they were added.
func (v *Validation) Err() error {
	if v.count() == 0 {
		return nil
	}
	e := Invalid(v.problems...)
	e.more = v.more
	return e
}

func (v *Validation) count() int { return len(v.problems) + v.more }

package apierror

import (
	"errors"
	"fmt"
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
	more     int // that are not kept
}

// Add notes a problem, formatted like fmt.Sprintf. By convention the text
// begins with the path of the member: "values[3].key must not be empty".
func (v *Validation) Add(format string, args ...any) {
	if len(v.problems) == maxProblems {
		v.more++
		return
	}
	v.problems = append(v.problems, clip(fmt.Sprintf(format, args...), maxProblem))
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

package apierror

import (
	"errors"
	"fmt"
)

// A Validation collects everything that is wrong with a request, so that a
// client repairs it in one go. The zero value is ready; it is not safe for
// concurrent use.
type Validation struct {
	problems []string
}

// Add notes a problem, formatted like fmt.Sprintf. By convention the text
// begins with the path of the member: "values[3].key must not be empty".
func (v *Validation) Add(format string, args ...any) {
	v.problems = append(v.problems, fmt.Sprintf(format, args...))
}

// Include notes the problems of another validation, so that they are told together.
// Any other error is returned as it is.
func (v *Validation) Include(err error) error {
	invalid, ok := errors.AsType[*Error](err)
	if !ok || !invalid.isList {
		return err
	}
	v.problems = append(v.problems, invalid.messages...)
	return nil
}

// Err returns nil when nothing was added, otherwise [Invalid] with all problems
// in the order in which they were added.
func (v *Validation) Err() error {
	if len(v.problems) == 0 {
		return nil
	}
	return Invalid(v.problems...)
}

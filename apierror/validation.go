package apierror

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/internal/text"
)

// The bounds of a list of problems in a response.
const (
	maxProblems = 50
	maxProblem  = 500 // bytes of one
)

// A Problem is one thing that is wrong with a request.
type Problem struct {
	// Path is the member or parameter that the problem is about, such as "redirectUris[1]".
	// It is empty if the problem is about the request as a whole.
	Path string
	// Text is an English sentence. It often begins with Path: "redirectUris[1] is not https".
	Text string
	// Code is the code of the error; empty if it has none.
	Code Code
}

func texts(problems []Problem) []string {
	texts := make([]string, len(problems))
	for i, p := range problems {
		texts[i] = p.Text
	}
	return texts
}

// A Validation collects what is wrong with a request, so that a client repairs it in
// one go. It keeps the first 50 problems and counts the others, and it cuts a problem of
// more than 500 bytes. The zero value is ready; it is not safe for concurrent use.
type Validation struct {
	problems []Problem
	more     int      // that are not kept
	skip     []string // paths of members whose problems are not added
}

// Add adds a problem with a member or parameter, such as "values[3].key". The text is the
// path and the format, formatted like fmt.Sprintf: "values[3].key must not be empty". With an
// empty path the format is the whole sentence.
func (v *Validation) Add(path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path != "" {
		text = path + " " + text
	}
	v.AddProblem(Problem{Path: path, Text: text})
}

// AddProblem adds a problem whose text is a sentence that does not begin with its path.
func (v *Validation) AddProblem(p Problem) {
	if v.isSkipped(p.Path) {
		return
	}
	if len(v.problems) == maxProblems {
		v.more++
		return
	}
	p.Path, p.Text = text.Clip(p.Path, maxProblem), text.Clip(p.Text, maxProblem)
	v.problems = append(v.problems, p)
}

// Skip makes v leave out the problems that are added from now on about the members at the paths,
// about what is in them and about what they are in: a value that could not be decoded is not
// missing too, and what it is part of cannot be checked.
func (v *Validation) Skip(paths ...string) { v.skip = append(v.skip, paths...) }

// isSkipped reports whether a path is one that [Validation.Skip] leaves out.
func (v *Validation) isSkipped(of string) bool {
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
	for _, p := range invalid.problems {
		v.AddProblem(p)
	}
	v.more += invalid.more
	return nil
}

// Err returns nil when nothing was added, otherwise a 400 with the problems in the order in
// which they were added.
func (v *Validation) Err() error {
	if v.count() == 0 {
		return nil
	}
	return v.invalid()
}

func (v *Validation) invalid() *Error {
	return &Error{status: http.StatusBadRequest, isList: true, problems: slices.Clone(v.problems), more: v.more}
}

func (v *Validation) count() int { return len(v.problems) + v.more }

package racetest

import (
	"context"
	"fmt"
	"slices"

	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// result is the result of one operation.
type result struct {
	operation operation
	answer    answer
	err       error
	// isStruck reports that a fault was injected, so that an error is a valid answer.
	isStruck bool
}

// outcome is how a run ended: every operation's answer and the rows of the database. Ids
// are replaced by names that are the same in every scenario.
type outcome struct {
	answers []answer
	rows    string
}

func (o outcome) String() string { return fmt.Sprintf("%q\n%s", o.answers, o.rows) }

// without returns the outcome with the answer of one contender replaced by fault.
func (o outcome) without(contender int) outcome {
	o.answers = slices.Clone(o.answers)
	o.answers[contender] = fault
	return o
}

func (o outcome) isOneOf(all []outcome) bool {
	return slices.ContainsFunc(all, func(other outcome) bool { return other.String() == o.String() })
}

// findings are the results of checking a finished run.
type findings struct {
	violations []string
	outcome    outcome
	struck     []bool // by contender: a fault was injected
}

func (v *findings) add(format string, args ...any) {
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

// check reads the end of a run.
func (sc *scenario) check(ctx context.Context, s *sqlstore.Store, all []result) (v findings, err error) {
	if sc.Connection == nil {
		v.outcome.rows, err = sc.Digest(ctx, s, s.Dialect().Schema)
	} else {
		v.outcome.rows, err = sc.tokenRows(ctx, s)
	}
	for _, c := range all {
		v.outcome.answers = append(v.outcome.answers, c.answer)
		v.struck = append(v.struck, c.isStruck)
	}
	sc.vocabulary(&v, all)
	return v, err
}

// vocabulary checks that every operation returned one of its documented answers, and no
// unexpected error.
func (sc *scenario) vocabulary(v *findings, all []result) {
	for _, c := range all {
		if c.isStruck && c.answer == fault {
			continue
		}
		if c.err != nil || !c.operation.mayAnswer(c.answer) {
			v.add("vocabulary: %s answered %q, %v", c.operation.name, c.answer, c.err)
		}
	}
}

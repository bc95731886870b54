package racetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/oauthserver"
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
	rows       facts
}

func (v *findings) add(format string, args ...any) {
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

// check checks the end of a run: the rows, read with plain SQL, and the store's own view of
// every token.
func (sc *scenario) check(ctx context.Context, s *sqlstore.Store, all []result) (findings, error) {
	if sc.Connection == nil {
		return sc.checkRows(ctx, s, all)
	}
	var v findings
	rows, err := sc.readFacts(ctx, s)
	if err != nil {
		return v, err
	}
	v.rows, v.outcome.rows = rows, rows.describe(sc)
	for _, c := range all {
		v.outcome.answers = append(v.outcome.answers, c.answer)
		v.struck = append(v.struck, c.isStruck)
	}
	sc.vocabulary(&v, all)
	sc.halfStates(&v, rows, all)
	sc.winners(&v, rows, all)
	live, err := sc.liveTokens(ctx, s, &v, rows)
	if err != nil {
		return v, err
	}
	sc.survivors(&v, rows, live, all)
	return v, nil
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

// halfStates checks that rows written by one transaction are all there or all missing.
func (sc *scenario) halfStates(v *findings, rows facts, all []result) {
	for _, f := range rows {
		family, hasFamily := rows.find(f.family)
		switch f.kind {
		case "access", "refresh":
			if f.family != "" && (!hasFamily || f.n > family.n) {
				v.add("half-state: %s without its family, or ahead of it", sc.name(f.id))
			}
		case "code":
			isSpent := f.state == "used" && f.family == "" && slices.ContainsFunc(all, func(c result) bool { return c.operation.name == spend })
			if !isSpent && (f.state == "used") != (f.family != "") || f.family != "" && !hasFamily {
				v.add("half-state: %s is %s with the family %q", sc.name(f.id), f.state, sc.name(f.family))
			}
		case "family":
			for n := int64(1); n <= f.n; n++ {
				of := func(kind string) int {
					return rows.count(func(t fact) bool { return t.kind == kind && t.family == f.id && t.n == n })
				}
				if of("access") != 1 || of("refresh") != 1 {
					v.add("half-state: generation %d of %s has %d access and %d refresh tokens", n, sc.name(f.id), of("access"), of("refresh"))
				}
			}
		case "installation":
			if strings.HasPrefix(f.state, string(oauthserver.InstallationActive)) == strings.HasSuffix(f.state, "ended") {
				v.add("half-state: installation %s", f.state)
			}
		}
	}
	if n := rows.count(func(f fact) bool {
		return f.kind == "installation" && f.state == string(oauthserver.InstallationActive)
	}); n > 1 {
		v.add("half-state: %d active installations", n)
	}
	ends := rows.count(func(f fact) bool { return f.kind == "installation" && strings.HasSuffix(f.state, "ended") })
	told := rows.count(func(f fact) bool { return f.kind == "event" && f.state == "app.uninstalled" })
	if ends != told {
		v.add("half-state: %d installations ended, and %d events say so", ends, told)
	}
	sc.countEnds(v, rows, all)
	for contender, c := range all {
		if c.isStruck && c.answer == fault {
			continue
		}
		if _, exists := rows.find(sc.Connection.Issues[contender].Tokens.AccessID); exists != (c.answer == issued) {
			v.add("half-state: %s answered %q, and its token is there: %v", c.operation.name, c.answer, exists)
		}
	}
}

// countEnds checks that as many installations and consents have ended as operations
// reported.
func (sc *scenario) countEnds(v *findings, rows facts, all []result) {
	installations, grants := 0, 0
	for _, c := range all {
		switch {
		case c.isStruck && c.answer == fault:
			return
		case c.answer == done && (c.operation.name == uninstall || c.operation.name == revokeAccess):
			installations++
		case c.answer == done && c.operation.name == revokeConsent:
			grants++
		}
	}
	for kind, n := range map[string]int{"installation": installations, "grant": grants} {
		if is := rows.count(func(f fact) bool { return f.kind == kind && strings.HasSuffix(f.state, "ended") }); is != n {
			v.add("half-state: %d of %s ended, %d operations said so", is, kind, n)
		}
	}
}

// winners checks that each artifact gave tokens once, and that every decision was made
// once.
func (sc *scenario) winners(v *findings, rows facts, all []result) {
	won := map[string]int{}
	code, _ := rows.find(sc.Connection.FreshCode.ID)
	isSpent := code.state == "used" && code.family == ""
	if isSpent {
		won["fresh code"]++
	}
	spenders := 0
	for _, c := range all {
		if c.operation.name == spend && c.answer == done {
			spenders++
		}
	}
	if spenders > 1 || spenders == 1 && !isSpent {
		v.add("one winner: %d used the code up without tokens, and its row says so: %v", spenders, isSpent)
	}
	for contender, c := range all {
		_, exists := rows.find(sc.Connection.Issues[contender].Tokens.AccessID)
		switch {
		case exists:
			won[c.operation.artifact()]++
		case c.answer == done && (c.operation.name == approve || c.operation.name == deny):
			won["decision"]++
		}
	}
	for what, n := range won {
		if n > 1 {
			v.add("one winner: %d of %s", n, what)
		}
	}
	taken := map[string]bool{
		"fresh code":      rows.is(sc.Connection.FreshCode.ID, "used"),
		"session token":   rows.is(sc.Connection.Session, "used"),
		"pending device":  rows.is(sc.Connection.Pending.ID, string(oauthserver.DeviceCollected)),
		"approved device": rows.is(sc.Connection.Approved.ID, string(oauthserver.DeviceCollected)),
	}
	if won["refresh token"] == 1 && !rows.is(sc.Connection.Current.RefreshID, "used") {
		v.add("half-state: the refresh token that gave tokens is not used up")
	}
	for what, is := range taken {
		if is != (won[what] == 1) {
			v.add("half-state: %s is used up: %v, and %d got tokens for it", what, is, won[what])
		}
	}
}

// artifact names the artifact that the operation exchanges for tokens.
func (a operation) artifact() string {
	switch a.name {
	case redeem, burn:
		return "fresh code"
	case refresh:
		return "refresh token"
	case poll:
		return "pending device"
	case collect:
		return "approved device"
	case exchange:
		return "session token"
	}
	return a.name
}

package racetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/partnerkit/partnerkit/oauthserver"
	"github.com/partnerkit/partnerkit/storage/sqlstore"
)

// contender is what one act did and heard.
type contender struct {
	act    act
	answer answer
	err    error
	// isStruck: a fault was made for it on purpose, so that it may answer with one.
	isStruck bool
}

// outcome is how a run ended: what everybody heard, and what is in the database, in
// names that are the same in every world.
type outcome struct {
	answers []answer
	rows    string
}

func (o outcome) String() string { return fmt.Sprintf("%q\n%s", o.answers, o.rows) }

// without is the outcome when one of them never heard its answer.
func (o outcome) without(lane int) outcome {
	o.answers = slices.Clone(o.answers)
	o.answers[lane] = fault
	return o
}

func (o outcome) isOneOf(all []outcome) bool {
	return slices.ContainsFunc(all, func(other outcome) bool { return other.String() == o.String() })
}

// verdict is a finished run, judged.
type verdict struct {
	violations []string
	outcome    outcome
	struck     []bool // by a fault that was made on purpose
	rows       facts
}

func (v *verdict) add(format string, args ...any) {
	v.violations = append(v.violations, fmt.Sprintf(format, args...))
}

// judge looks at the end of a run: at the rows, with SQL of its own, and at what
// the store says of every token.
func (w *world) judge(ctx context.Context, s *sqlstore.Store, all []contender) (verdict, error) {
	var v verdict
	rows, err := w.readFacts(ctx, s)
	if err != nil {
		return v, err
	}
	v.rows, v.outcome.rows = rows, rows.describe(w)
	for _, c := range all {
		v.outcome.answers = append(v.outcome.answers, c.answer)
		v.struck = append(v.struck, c.isStruck)
	}
	w.vocabulary(&v, all)
	w.halfStates(&v, rows, all)
	w.winners(&v, rows, all)
	live, err := w.liveTokens(ctx, s, &v, rows)
	if err != nil {
		return v, err
	}
	w.survivors(&v, rows, live, all)
	return v, nil
}

// vocabulary: an act says what it may say, and no fault reaches its caller.
func (w *world) vocabulary(v *verdict, all []contender) {
	for _, c := range all {
		if c.isStruck && c.answer == fault {
			continue
		}
		if c.err != nil || !slices.Contains(c.act.answers, c.answer) {
			v.add("vocabulary: %s answered %q, %v", c.act.name, c.answer, c.err)
		}
	}
}

// halfStates: what belongs together is there together.
func (w *world) halfStates(v *verdict, rows facts, all []contender) {
	for _, f := range rows {
		family, hasFamily := rows.find(f.family)
		switch f.kind {
		case "access", "refresh":
			if f.family != "" && (!hasFamily || f.n > family.n) {
				v.add("half-state: %s without its family, or ahead of it", w.name(f.id))
			}
		case "code":
			isSpent := f.state == "used" && f.family == "" && slices.ContainsFunc(all, func(c contender) bool { return c.act.name == spend })
			if !isSpent && (f.state == "used") != (f.family != "") || f.family != "" && !hasFamily {
				v.add("half-state: %s is %s with the family %q", w.name(f.id), f.state, w.name(f.family))
			}
		case "family":
			for n := int64(1); n <= f.n; n++ {
				of := func(kind string) int {
					return rows.count(func(t fact) bool { return t.kind == kind && t.family == f.id && t.n == n })
				}
				if of("access") != 1 || of("refresh") != 1 {
					v.add("half-state: generation %d of %s has %d access and %d refresh tokens", n, w.name(f.id), of("access"), of("refresh"))
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
	w.countEnds(v, rows, all)
	for lane, c := range all {
		if c.isStruck && c.answer == fault {
			continue
		}
		if _, exists := rows.find(w.lanes[lane].mint.AccessID); exists != (c.answer == minted) {
			v.add("half-state: %s answered %q, and its token is there: %v", c.act.name, c.answer, exists)
		}
	}
}

// countEnds: whoever was told that it ended an installation or a consent did.
func (w *world) countEnds(v *verdict, rows facts, all []contender) {
	installations, grants := 0, 0
	for _, c := range all {
		switch {
		case c.isStruck && c.answer == fault:
			return
		case c.answer == done && (c.act.name == uninstall || c.act.name == revokeAccess):
			installations++
		case c.answer == done && c.act.name == revokeConsent:
			grants++
		}
	}
	for kind, n := range map[string]int{"installation": installations, "grant": grants} {
		if is := rows.count(func(f fact) bool { return f.kind == kind && strings.HasSuffix(f.state, "ended") }); is != n {
			v.add("half-state: %d of %s ended, %d acts said so", is, kind, n)
		}
	}
}

// winners: each artifact gives tokens once, and every decision is made once.
func (w *world) winners(v *verdict, rows facts, all []contender) {
	won := map[string]int{}
	code, _ := rows.find(w.freshCode.id)
	isSpent := code.state == "used" && code.family == ""
	if isSpent {
		won["fresh code"]++
	}
	spenders := 0
	for _, c := range all {
		if c.act.name == spend && c.answer == done {
			spenders++
		}
	}
	if spenders > 1 || spenders == 1 && !isSpent {
		v.add("one winner: %d used the code up without tokens, and its row says so: %v", spenders, isSpent)
	}
	for lane, c := range all {
		_, exists := rows.find(w.lanes[lane].mint.AccessID)
		switch {
		case exists:
			won[c.act.artifact()]++
		case c.answer == done && (c.act.name == approve || c.act.name == deny):
			won["decision"]++
		}
	}
	for what, n := range won {
		if n > 1 {
			v.add("one winner: %d of %s", n, what)
		}
	}
	taken := map[string]bool{
		"fresh code":      rows.is(w.freshCode.id, "used"),
		"session token":   rows.is(w.session, "used"),
		"pending device":  rows.is(w.pending.id, string(oauthserver.DeviceCollected)),
		"approved device": rows.is(w.approved.id, string(oauthserver.DeviceCollected)),
	}
	if won["refresh token"] == 1 && !rows.is(w.current.RefreshID, "used") {
		v.add("half-state: the refresh token that gave tokens is not used up")
	}
	for what, is := range taken {
		if is != (won[what] == 1) {
			v.add("half-state: %s is used up: %v, and %d got tokens for it", what, is, won[what])
		}
	}
}

// artifact is what the act gets tokens for.
func (a act) artifact() string {
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

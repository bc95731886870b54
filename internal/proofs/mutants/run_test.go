package mutants_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/partnerkit/partnerkit/internal/proof"
	"github.com/partnerkit/partnerkit/internal/testenv"
)

// quick are the packages whose mutants CI runs: they build in no time.
var quick = []string{"./internal/secret", "./ratelimit", "./webhooks/signature"}

// Every mutant is killed: the rule's own test passes without it, and fails with it.
// In this folder go test prints how.
func TestMutants(t *testing.T) {
	testenv.Long(t)
	all := load(t)
	if !testenv.Proving() {
		all = slices.DeleteFunc(all, func(m mutant) bool { return !slices.Contains(quick, m.pkg) })
	}
	tried := proof.Begin(t, "Mutants", "mutants")
	built := bench(t, all)
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			tried.Tried(1)
			killer, took, err := built[m.pkg].try(t, m)
			if err != nil {
				fmt.Printf("%-8s %-46s NOT KILLED\n", m.rule, m.name)
				tried.Violation("%s: %v", m.name, err)
				return
			}
			fmt.Printf("%-8s %-46s %-20s killed by %s of %s in %.1f s\n", m.rule, m.name, m.advisory, killer, m.pkg, took.Seconds())
		})
	}
}

// try returns the test that kills the mutant and how long that took, or why none does.
func (p *pkg) try(t *testing.T, m mutant) (killer string, took time.Duration, err error) {
	binary, err := p.binary()
	if err != nil {
		return "", 0, err
	}
	before, err := m.run(t, binary, "")
	if err != nil {
		return "", 0, err
	}
	if !slices.Contains(before.tests("PASS"), m.test) {
		return "", 0, fmt.Errorf("%s of %s does not pass without it\n%s", m.test, m.pkg, before.end())
	}
	began := time.Now()
	out, err := m.run(t, binary, m.name)
	if err != nil {
		return "", 0, err
	}
	failed := out.tests("FAIL")
	switch {
	case brokeOff.MatchString(string(out)):
		return "", 0, fmt.Errorf("the test broke off\n%s", out.end())
	case !slices.Contains(failed, m.test):
		return "", 0, fmt.Errorf("it survives: %s, and %s of %s passes", m.breaks, m.test, m.pkg)
	}
	killer = slices.MaxFunc(failed, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return killer, time.Since(began), nil
}

// output is what go test -v prints.
type output string

var (
	verdictLine = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL|SKIP): (\S+) \(`)
	brokeOff    = regexp.MustCompile(`(?m)^(panic|fatal error): `)
)

// tests are those with a verdict.
func (o output) tests(verdict string) []string {
	var all []string
	for _, found := range verdictLine.FindAllStringSubmatch(string(o), -1) {
		if found[1] == verdict {
			all = append(all, found[2])
		}
	}
	return all
}

func (o output) end() output { return o[max(0, len(o)-2000):] }

// run runs the mutant's test in the short form and without services: what needs one
// skips. The mutant does its harm if it is the active one.
func (m mutant) run(t *testing.T, binary, active string) (output, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	parts := strings.Split(m.test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.timeout=4m", "-test.run="+strings.Join(parts, "/"))
	cmd.Dir = filepath.Join(root, m.pkg)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{testenv.ProveVar, testenv.PostgresVar, testenv.RedisVar, proof.FileVar, "CI"}, name)
	})
	cmd.Env = append(cmd.Env, activeVar+"="+active)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &failed) {
		return "", fmt.Errorf("%s of %s: %w\n%s", m.test, m.pkg, errors.Join(err, ctx.Err()), output(out).end())
	}
	return output(out), nil
}

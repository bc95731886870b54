package mutants_test

import (
	"strings"
	"testing"
)

// A mutant that does no harm, one whose test breaks off and one whose test there is not
// are not killed, and what cannot be applied or built is none.
func TestWhatIsNoKill(t *testing.T) {
	t.Parallel()
	const parsed = "	return Wrap(presented), nil"
	secret := mutant{file: "internal/secret/secret.go", pkg: "./internal/secret", test: "TestParseTellsKindsApart"}
	with := func(name, before, after string) mutant {
		m := secret
		m.name, m.edits = name, []edit{{before, after}}
		return m
	}
	elsewhere := with("elsewhere", parsed, "	return Secret{}, nil")
	elsewhere.test = "TestNobodyWrote"
	for _, together := range []map[string]mutant{
		{
			"it survives":              with("harmless", parsed, "	return Wrap(presented + \"\"), nil"),
			"the test broke off":       with("panic", parsed, "	panic(presented)"),
			"does not pass without it": elsewhere,
		},
		{"the old text 0 times": with("gone", "nobody wrote this", "")},
		{"more than the inside": with("constant", "length = 43", "length = 44")},
		{"does not build": with("type", parsed, "	return presented, nil")},
	} {
		var all []mutant
		for _, m := range together {
			all = append(all, m)
		}
		built := bench(t, all)
		for want, m := range together {
			if killer, _, err := built[m.pkg].try(t, m); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: killed by %q, %v; want %s", m.name, killer, err, want)
			}
		}
	}
}

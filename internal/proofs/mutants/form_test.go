package mutants_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// groups are those of the rules.
var groups = strings.Fields(`META AZ TOK CODE REF DEV TX REV INT REG CIMD LOCK OLIM LIM AN API VER IDEM ERR OERR
	INST APP BIZ APD CAT EVT WH SIG DLV RDL TST CON OPS SBX CLI`)

var ruleForm = regexp.MustCompile(`^([A-Z]{2,5})-[0-9]{2}$`)

// Every mutant can be applied, its file still parses, and it names a test that names the rule.
func TestFormOfMutants(t *testing.T) {
	t.Parallel()
	known, err := os.ReadFile(filepath.Join(root, "docs/security.md"))
	if err != nil {
		t.Fatal(err)
	}
	rules, advisories, seen := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, m := range load(t) {
		text, err := switched(m.file, []mutant{m})
		if err == nil {
			_, err = functions(text)
		}
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if !m.isNamed(t) {
			t.Errorf("%s: no file of %s has both %s and %s", m.name, m.pkg, m.test, m.rule)
		}
		form := ruleForm.FindStringSubmatch(m.rule)
		if form == nil || !slices.Contains(groups, form[1]) {
			t.Errorf("%s: there is no rule %s", m.name, m.rule)
			continue
		}
		if !strings.HasPrefix(m.name, strings.ToLower(m.rule)+"-") {
			t.Errorf("%s: the name does not begin with the rule %s", m.name, m.rule)
		}
		if m.advisory != "" && !strings.Contains(string(known), "| "+m.advisory+" |") {
			t.Errorf("%s: docs/security.md does not have %s", m.name, m.advisory)
		}
		rules[m.rule], seen[form[1]], advisories[m.advisory] = true, true, true
	}
	delete(advisories, "")
	for _, group := range groups {
		if !seen[group] {
			t.Errorf("no rule of %s is broken", group)
		}
	}
	if len(rules) < 40 || len(advisories) < 12 {
		t.Errorf("%d rules and %d advisories, want 40 and 12", len(rules), len(advisories))
	}
}

// isNamed reports whether the file of the mutant's test names the rule. The tests of
// stores are in storetest.
func (m mutant) isNamed(t *testing.T) bool {
	t.Helper()
	pattern, test := filepath.Join(m.pkg, "*_test.go"), "\nfunc "+m.topTest()+"(t *testing.T)"
	if m.topTest() == "TestStore" {
		pattern, test = "internal/storetest/*.go", `{"`+strings.ReplaceAll(path.Base(m.test), "_", " ")+`", func(`
	}
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), test) && strings.Contains(string(text), m.rule)
	})
}

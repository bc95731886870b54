package main

import (
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
		err      string
	}{
		{"all is well", `{"what":"B","tried":1234567,"unit":"kills","seconds":3}` + "\n" + `{"what":"A","tried":2,"unit":"acts","note":"fast"}`,
			[]string{"A      2 acts", "1,234,567 kills", "fast", "2 proofs, 0 violations"}, ""},
		{"violations", `{"what":"A","tried":2,"violations":3}`, []string{"1 proofs, 3 violations"}, "3 violations"},
		{"untried", `{"what":"A"}`, nil, "1 of 1 proofs tried nothing"},
		{"empty", ``, nil, "0 of 0 proofs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, err := read(strings.NewReader(c.in))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			err = write(&out, lines)
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in:\n%s", want, out.String())
				}
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
	if _, err := read(strings.NewReader("{")); err == nil {
		t.Error("half a line was read")
	}
}

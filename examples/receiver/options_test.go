package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOptions(t *testing.T) {
	t.Parallel()
	env := func(name string) string {
		return map[string]string{"RECEIVER_SECRET": "whsec_env", "RECEIVER_TOKEN": "token"}[name]
	}
	none := func(string) string { return "" }
	for _, test := range []struct {
		args    string
		env     func(string) string
		secrets []string
		want    string // what is wrong
	}{
		{"-secret a,b", none, []string{"a", "b"}, ""},
		{"-api http://localhost:8080/", env, []string{"whsec_env"}, ""},
		{"", none, nil, "-secret"},
		{"-secret ,", none, nil, "-secret"},
		{"-secret a", env, nil, "without -api"},
		{"-secret a -every 0s", none, nil, "-every"},
		{"-secret a more", none, nil, "no flag"},
		{"-nonsense", none, nil, "nonsense"},
	} {
		o, err := parseOptions(strings.Fields(test.args), test.env, io.Discard)
		if test.want != "" {
			if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %v, want %q", test.args, err, test.want)
			}
			continue
		}
		if diff := cmp.Diff(test.secrets, o.secrets); err != nil || diff != "" || strings.HasSuffix(o.api, "/") {
			t.Errorf("%s: %v %s", test.args, err, diff)
		}
	}
}

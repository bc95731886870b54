package main

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindForm(t *testing.T) {
	t.Parallel()
	const page = `<form action="/logout" method="post"><input type="hidden" name="csrf" value="1"><button>Sign out</button></form>
<form class="card" method="post" action="/login?a=1&amp;b=2">
<input value="x &#34;y&#34;" name="return_to" type="hidden">
<input id="email" name="email" type="email" value="a@example.com"><button name="go">Go</button>
</form>`
	f, err := findForm(page, "email")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(url.Values{"return_to": {`x "y"`}}, f.hidden); diff != "" || f.action != "/login?a=1&b=2" {
		t.Errorf("action %q, %s", f.action, diff)
	}
	if _, err := findForm(page, "decision"); err == nil {
		t.Error("found a form that is not there")
	}
}

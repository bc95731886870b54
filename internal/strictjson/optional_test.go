package strictjson_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/optional"
)

type change struct {
	Name    optional.Member[string]   `json:"name"`
	Tags    optional.Member[[]string] `json:"tags"`
	Enabled optional.Member[bool]     `json:"enabled"`
}

// A PATCH distinguishes an absent member from null and from a zero value.
func TestOptional(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body string
		want change
	}{
		{`{}`, change{}},
		{`{"name": null, "tags": null, "enabled": null}`, change{
			Name: optional.Member[string]{IsSent: true}, Tags: optional.Member[[]string]{IsSent: true}, Enabled: optional.Member[bool]{IsSent: true},
		}},
		{`{"name": "", "tags": [], "enabled": false}`, change{Name: optional.Of(""), Tags: optional.Of([]string{}), Enabled: optional.Of(false)}},
		{`{"name": "a", "tags": ["b"]}`, change{Name: optional.Of("a"), Tags: optional.Of([]string{"b"})}},
	}
	for _, test := range tests {
		var got change
		err := strictjson.Decode(postJSON(test.body), &got, strictjson.Limits{})
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", test.body, err, diff)
		}
	}
	// The value is checked like that of any other member.
	err := strictjson.Decode(postJSON(`{"name": 1, "tags": ["a", null], "enabled": "yes"}`), &change{}, strictjson.Limits{})
	wantProblems(t, err, "name must be a string", "tags[1] must be a string", "enabled must be a boolean")
}

func TestValidationIncludes(t *testing.T) {
	t.Parallel()
	var v apierror.Validation
	v.Add("", "one")
	if err := v.Include(apierror.Invalid("two", "three")); err != nil {
		t.Errorf("problems came back: %v", err)
	}
	if err := v.Include(nil); err != nil {
		t.Errorf("nothing came back as %v", err)
	}
	if other := apierror.NotFound("it"); v.Include(other) != error(other) {
		t.Error("another error was swallowed")
	}
	wantProblems(t, v.Err(), "one", "two", "three")
}

package apierror_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
)

type change struct {
	Name    apierror.Optional[string]   `json:"name"`
	Tags    apierror.Optional[[]string] `json:"tags"`
	Enabled apierror.Optional[bool]     `json:"enabled"`
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
			Name: apierror.Optional[string]{IsSent: true}, Tags: apierror.Optional[[]string]{IsSent: true}, Enabled: apierror.Optional[bool]{IsSent: true},
		}},
		{`{"name": "", "tags": [], "enabled": false}`, change{Name: apierror.Sent(""), Tags: apierror.Sent([]string{}), Enabled: apierror.Sent(false)}},
		{`{"name": "a", "tags": ["b"]}`, change{Name: apierror.Sent("a"), Tags: apierror.Sent([]string{"b"})}},
	}
	for _, test := range tests {
		var got change
		err := apierror.DecodeJSON(postJSON(test.body), &got, apierror.JSONLimits{})
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", test.body, err, diff)
		}
	}
	// The value is checked like that of any other member.
	err := apierror.DecodeJSON(postJSON(`{"name": 1, "tags": ["a", null], "enabled": "yes"}`), &change{}, apierror.JSONLimits{})
	wantProblems(t, err, "name must be a string", "tags[1] must be a string", "enabled must be a boolean")
}

func TestValidationIncludes(t *testing.T) {
	t.Parallel()
	var v apierror.Validation
	v.Add("one")
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

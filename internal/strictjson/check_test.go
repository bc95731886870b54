package strictjson_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/strictjson"
	"github.com/partnerkit/partnerkit/optional"
)

// ERR-06: one error has the problems of the JSON and those of the caller's rules, and each
// member has those of one kind only.
func TestDecodeJSONCheck_ERR06(t *testing.T) {
	t.Parallel()
	type entry struct {
		Name  string `json:"name"`
		Count *int   `json:"count"`
	}
	type body struct {
		Name    string                  `json:"name"`
		Size    int                     `json:"size"`
		Label   optional.Member[string] `json:"label"`
		Tags    []string                `json:"tags"`
		Entries []entry                 `json:"entries"`
	}
	check := func(b *body) error {
		var v apierror.Validation
		if b.Name == "" {
			v.Add("name", "must not be empty")
		}
		if b.Size < 1 {
			v.Add("size", "must be at least 1")
		}
		if b.Label.IsSent && b.Label.Value == nil {
			v.Add("label", "must not be null")
		}
		for i, tag := range b.Tags {
			if tag == "" {
				v.Add(fmt.Sprintf("tags[%d]", i), "must not be empty")
			}
		}
		for i, e := range b.Entries {
			if e.Name == "" {
				v.Add(fmt.Sprintf("entries[%d].name", i), "must not be empty")
			}
			if e.Count == nil {
				v.Add(fmt.Sprintf("entries[%d]", i), "must have a count")
			}
		}
		return v.Err()
	}
	for _, test := range []struct {
		name, body string
		want       []string
	}{
		{"valid JSON is the caller's", `{}`, nil},
		{"wrong type beside missing", `{"name": 5}`, []string{"name must be a string", "size must be at least 1"}},
		{"unknown beside missing", `{"Name": "a"}`, []string{"Name is not a known member", "name must not be empty", "size must be at least 1"}},
		{"what fits is decoded", `{"name": "a", "size": "b", "label": null}`, []string{"size must be an integer", "label must not be null"}},
		{"out of range", `{"name": "a", "size": 99999999999999999999}`, []string{"size is out of range"}},
		{"entries of lists", `{"name": "a", "size": 1, "tags": [1, "", "b"]}`, []string{"tags[0] must be a string", "tags[1] must not be empty"}},
		{"null for an entry", `{"name": "a", "size": 1, "tags": ["a"], "entries": [null, {"name": ""}]}`, []string{
			"entries[0] must be an object", "entries[1].name must not be empty", "entries[1] must have a count",
		}},
		{"what a member is part of", `{"name": "a", "size": 1, "entries": [{"name": "a", "count": "1"}]}`, []string{"entries[0].count must be an integer"}},
		{"no object", `[]`, []string{"the body must be an object"}},
		{"given twice", `{"name": "", "name": 5}`, []string{"name is given more than once", "name must be a string", "size must be at least 1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var b body
			err := strictjson.Decode(postJSON(test.body), &b, strictjson.Limits{Check: func() error { return check(&b) }})
			wantProblems(t, err, test.want...)
		})
	}
	t.Run("other errors are left out", func(t *testing.T) {
		t.Parallel()
		var b body
		err := strictjson.Decode(postJSON(`{"name": 5}`), &b, strictjson.Limits{Check: func() error { return errors.New("hidden") }})
		wantProblems(t, err, "name must be a string")
	})
	t.Run("unknown members that are ignored", func(t *testing.T) {
		t.Parallel()
		b := body{}
		err := strictjson.Decode(postJSON(`{"NAME": "x", "name": "a", "size": "1"}`), &b, strictjson.Limits{IgnoreUnknown: true, Check: func() error { return nil }})
		wantProblems(t, err, "size must be an integer")
		if diff := cmp.Diff("a", b.Name); diff != "" {
			t.Error(diff)
		}
	})
}

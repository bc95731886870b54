package jsonapi_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/apierror"
	"github.com/partnerkit/partnerkit/internal/jsonapi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestQuery(t *testing.T) {
	q := jsonapi.ParseQuery("text=a&limit=7&since=2026-09-01T12:00:00%2B02:00&until=2026-09-02&from=2026-09-03&empty=")
	day := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	if got := q.Text("text") + q.Text("absent"); got != "a" {
		t.Errorf("text %q", got)
	}
	if given, absent := q.Number("limit", 100, 50), q.Number("absent", 100, 50); given != 7 || absent != 50 {
		t.Errorf("limit %d, absent %d", given, absent)
	}
	if since := q.Time("since"); !since.Equal(day.Add(10 * time.Hour)) {
		t.Errorf("since %v", since)
	}
	if until := q.FormTime("until"); !until.Equal(day.AddDate(0, 0, 1)) {
		t.Errorf("until %v", until)
	}
	if from := q.Date("from"); !from.Equal(day.AddDate(0, 0, 2)) {
		t.Errorf("from %v", from)
	}
	if !q.Time("absent").IsZero() || !q.Date("absent").IsZero() || !q.FormTime("absent").IsZero() || !q.FormTime("empty").IsZero() {
		t.Error("a time that is not given is not zero")
	}
	if !q.Has("empty") || q.Has("absent") {
		t.Error("Has confuses empty and absent")
	}
	q.Only("text", "limit", "since", "until", "from", "empty")
	if err := q.Err(); err != nil {
		t.Error(err)
	}
}

func TestQueryRefuses(t *testing.T) {
	q := jsonapi.ParseQuery("nul=%00&twice=a&twice=b&limit=101&early=1969-12-31&empty=&date=2026-09-01T12:00:00Z&form=x")
	q.Text("nul")
	q.Text("twice")
	q.Number("limit", 100, 50)
	q.Time("early")
	q.Time("empty")
	q.Date("date")
	q.FormTime("form")
	q.Only("nul", "twice", "limit", "early", "empty", "date")
	refused, ok := errors.AsType[*apierror.Error](q.Err())
	if !ok {
		t.Fatal(q.Err())
	}
	want := []string{
		"nul must be UTF-8 without NUL", "twice must be given once", "limit must be a whole number from 1 to 100", "early must be a time in ISO 8601",
		"empty must be a time in ISO 8601", "date must be a date such as 2026-09-01", "form must be a time in ISO 8601", `"form" is not a known parameter`,
	}
	if diff := cmp.Diff(want, refused.Messages()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if jsonapi.ParseQuery("%zz").Err() == nil {
		t.Error("a query that is not well-formed is read")
	}
}

func TestLists(t *testing.T) {
	shout := func(s string) string { return strings.ToUpper(s) }
	w := httptest.NewRecorder()
	if err := jsonapi.WriteList(w, nil, shout); err != nil || strings.TrimSpace(w.Body.String()) != `{"data":[]}` {
		t.Errorf("%s, %v", w.Body, err)
	}
	if diff := cmp.Diff(jsonapi.Page[string]{Data: []string{"A"}, HasMore: true, NextCursor: "a"}, jsonapi.NewPage([]string{"a"}, "a", shout)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if last := jsonapi.NewPage(nil, "", shout); last.HasMore || last.Data == nil {
		t.Errorf("%+v", last)
	}
	if jsonapi.OrNull("") != nil || *jsonapi.OrNull("a") != "a" {
		t.Error("OrNull")
	}
}

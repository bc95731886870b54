package export_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/partnerkit/partnerkit/internal/export"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type record struct {
	name string
	at   time.Time
	n    int
}

func file(format export.Format) export.File[record] {
	return export.File[record]{Name: "records", Format: format, Columns: []export.Column[record]{
		{Name: "name", Value: func(r record) any { return r.name }},
		{Name: "at", Value: func(r record) any { return r.at }},
		{Name: "n", Value: func(r record) any { return r.n }},
		{Name: "none", Value: func(record) any { return nil }},
	}}
}

func of(records ...record) export.Source[record] {
	return func(yield func(record) error) error {
		for _, one := range records {
			if err := yield(one); err != nil {
				return err
			}
		}
		return nil
	}
}

func never(t *testing.T) func(error) {
	return func(err error) { t.Error(err) }
}

// AN-03: no cell is a formula, and every value can be read back.
func TestServe_AN03(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 9, 1, 14, 0, 0, 1_500_000, time.FixedZone("", 7200))
	records := of(record{"=1+1", noon, -2}, record{"+1", time.Time{}, 0}, record{"-x", noon, 1}, record{"@SUM(A1)", noon, 1}, record{"\tx", noon, 1}, record{"a, \"b\"\nc", noon, 1}, record{"a=b", noon, 1})
	for format, want := range map[export.Format]string{
		export.CSV: "name,at,n,none\n'=1+1,2026-09-01T12:00:00.001Z,-2,\n'+1,,0,\n'-x,2026-09-01T12:00:00.001Z,1,\n'@SUM(A1),2026-09-01T12:00:00.001Z,1,\n" +
			"'\tx,2026-09-01T12:00:00.001Z,1,\n\"a, \"\"b\"\"\nc\",2026-09-01T12:00:00.001Z,1,\na=b,2026-09-01T12:00:00.001Z,1,\n",
		export.JSONLines: `{"name":"=1+1","at":"2026-09-01T12:00:00.001Z","n":-2,"none":null}` + "\n" + `{"name":"+1","at":null,"n":0,"none":null}` + "\n" +
			`{"name":"-x","at":"2026-09-01T12:00:00.001Z","n":1,"none":null}` + "\n" + `{"name":"@SUM(A1)","at":"2026-09-01T12:00:00.001Z","n":1,"none":null}` + "\n" +
			`{"name":"\tx","at":"2026-09-01T12:00:00.001Z","n":1,"none":null}` + "\n" + `{"name":"a, \"b\"\nc","at":"2026-09-01T12:00:00.001Z","n":1,"none":null}` + "\n" +
			`{"name":"a=b","at":"2026-09-01T12:00:00.001Z","n":1,"none":null}` + "\n",
	} {
		w := httptest.NewRecorder()
		if err := file(format).Serve(w, records, never(t)); err != nil {
			t.Fatal(err)
		}
		if got := w.Body.String(); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", format, got, want)
		}
		if h := w.Header(); h.Get("Content-Type") != format.ContentType() || h.Get("Content-Disposition") != `attachment; filename="records.`+string(format)+`"` || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", format, h)
		}
	}
}

// Without records a CSV file has the names of its columns.
func TestServeNothing(t *testing.T) {
	t.Parallel()
	for format, want := range map[export.Format]string{export.CSV: "name,at,n,none\n", export.JSONLines: ""} {
		w := httptest.NewRecorder()
		if err := file(format).Serve(w, of(), never(t)); err != nil || w.Body.String() != want {
			t.Errorf("%s: %q, %v", format, w.Body, err)
		}
	}
}

// An incomplete file does not look complete.
func TestServeFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w := httptest.NewRecorder()
	if err := file(export.CSV).Serve(w, func(func(record) error) error { return broken }, never(t)); !errors.Is(err, broken) || w.Body.Len() > 0 || len(w.Header()) > 0 {
		t.Errorf("before the first record: %v, %v", err, w)
	}
	var told error
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) || !errors.Is(told, broken) {
			t.Errorf("after the first record: %v, and %v", err, told)
		}
	}()
	_ = file(export.CSV).Serve(httptest.NewRecorder(), func(yield func(record) error) error {
		return errors.Join(yield(record{}), broken)
	}, func(err error) { told = err })
}

func TestRequested(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]export.Format{
		"": "", "*/*": "", "application/json": "", "text/csvx": "",
		"text/csv": export.CSV, "application/jsonl": export.JSONLines,
		"application/json;q=0.5, Text/CSV; charset=utf-8": export.CSV, "application/jsonl, text/csv": export.JSONLines,
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		if got := export.Requested(r); got != want {
			t.Errorf("Accept %q: %q, not %q", accept, got, want)
		}
	}
}

package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/partnerkit/partnerkit/console"
)

const carrierField = `{"resourceType": "invoice", "key": "carrier", "type": "CHOICE", "choices": ["post", "courier "]}`

// CON-02, APD-06: fields from their declaration to their end.
func TestFields_CON02_APD06(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	all := path + "/app-data-fields"
	made := d.ann("POST "+all, carrierField).want(http.StatusCreated)
	made.wantTime("createdAt", 0)
	want := map[string]any{
		"id": made.text("id"), "resourceType": "invoice", "key": "carrier", "type": "CHOICE", "choices": []any{"post", "courier"},
		"createdAt": made.text("createdAt"), "updatedAt": made.text("createdAt"), "version": 1.0,
	}
	made.wantBody(want)
	one := all + "/" + made.text("id")
	d.ann("GET " + one).want(http.StatusOK).wantBody(want)
	d.ann("GET " + all).want(http.StatusOK).wantBody(map[string]any{"data": []any{want}})
	want["label"] = "Carrier"
	changed := d.ann("PATCH "+one, `{"label": "Carrier"}`).want(http.StatusOK)
	want["updatedAt"], want["version"] = changed.text("updatedAt"), 2.0
	changed.wantBody(want)

	other, _ := d.newApp(confidentialApp)
	for _, absent := range []string{all + "/adf_absent", other + "/app-data-fields/" + made.text("id")} {
		d.ann("GET " + absent).want(http.StatusNotFound)
		d.ann("PATCH "+absent, `{}`).want(http.StatusNotFound)
		d.ann("DELETE " + absent).want(http.StatusNotFound)
	}
	d.ann("DELETE " + one).want(http.StatusNoContent)
	d.ann("GET " + one).want(http.StatusNotFound)
	d.ann("GET " + all).want(http.StatusOK).wantBody(map[string]any{"data": []any{}})
}

// CON-06, APD-07: what is wrong with a field, by its member; options by their code.
func TestFieldValidation_CON06_APD07(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	all := path + "/app-data-fields"
	one := all + "/" + d.ann("POST "+all, carrierField).want(http.StatusCreated).text("id")
	for _, choices := range []string{`[]`, `null`, `["a", " a "]`, `[" "]`, `["` + strings.Repeat("x", 61) + `"]`,
		`["x"` + strings.Repeat(`,"x"`, 50) + `]`, `[1` + strings.Repeat(`,1`, 400_000) + `]`} { // ERR-04
		d.ann("PATCH "+one, `{"choices": `+choices+`}`).wantCode(http.StatusBadRequest, "INVALID_CHOICES")
		d.ann("POST "+all, `{"resourceType": "invoice", "key": "c", "type": "CHOICE", "choices": `+choices+`}`).wantCode(http.StatusBadRequest, "INVALID_CHOICES")
	}
	d.ann("POST "+all, carrierField).wantInvalid("key carrier is declared for invoice already")
	d.ann("PATCH "+one, `{"key": "other", "type": "TEXT"}`).wantInvalid("key cannot be changed; declare another field", "type cannot be changed; declare another field")
	d.ann("PATCH "+one, `{"rules": {}}`).wantInvalid("rules is not a known member")
}

// A console without app data has no such calls.
func TestWithoutAppData(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(cfg *console.Config) { cfg.AppData = nil })
	path, _ := d.newApp(confidentialApp)
	d.ann("GET " + path + "/app-data-fields").want(http.StatusNotFound)
}

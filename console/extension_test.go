package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/partnerkit/partnerkit/console"
	"github.com/partnerkit/partnerkit/internal/id"
)

var extensibleApp = strings.Replace(confidentialApp, `{`, `{"appUrl": "https://app.partner.example/embed/home?x=1", `, 1)

// CON-02: an extension is added, listed, changed and deleted.
func TestExtensions_CON02(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(extensibleApp)
	added := d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/invoices?view=1", "label": "Reminders"}`).want(http.StatusCreated)
	extensionID := added.text("id")
	if !id.Valid(id.Extension, extensionID) {
		t.Errorf("id %q", extensionID)
	}
	added.wantTime("updatedAt", 0)
	want := map[string]any{
		"id": extensionID, "resourceType": "invoice", "path": "/invoices?view=1", "label": "Reminders",
		"createdAt": added.text("createdAt"), "updatedAt": added.text("updatedAt"),
	}
	added.wantBody(want)
	one := path + "/extensions/" + extensionID
	d.ann("GET " + one).want(http.StatusOK).wantBody(want)
	if diff := cmp.Diff([]map[string]any{want}, d.ann("GET "+path+"/extensions").data()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	changed := d.ann("PATCH "+one, `{"label": "Dunning"}`).want(http.StatusOK)
	want["label"], want["updatedAt"] = "Dunning", changed.text("updatedAt")
	changed.wantBody(want)
	d.ann("PATCH "+one, `{"path": "page", "resourceType": "invoice"}`).want(http.StatusOK)
	d.ann("PATCH "+one, `{"path": "//evil.example/"}`).wantCode(http.StatusBadRequest, "EXTENSION_PATH_INVALID")
	d.ann("PATCH "+one, `{"resourceType": "customer"}`).wantCode(http.StatusBadRequest, "EXTENSION_SCOPE_REQUIRED")
	d.ann("PATCH "+one, `{"label": null, "path": null, "resourceType": null}`).
		wantInvalid("resourceType must not be null", "path must not be null", "label must not be null")
	if got := d.ann("GET " + one); got.text("path") != "page" || got.text("resourceType") != "invoice" {
		t.Errorf("after refusals: %s", got.Body)
	}
	other, _ := d.newApp(extensibleApp)
	for _, what := range []string{"GET ", "PATCH ", "DELETE "} {
		c := call{what: what + other + "/extensions/" + extensionID, by: ann}
		if what == "PATCH " {
			c.body = `{"label": "x"}`
		}
		d.send(c).want(http.StatusNotFound)
	}
	d.ann("DELETE " + one).want(http.StatusNoContent)
	d.ann("DELETE " + one).want(http.StatusNotFound)
	d.ann("GET " + one).want(http.StatusNotFound)
}

// CON-05: the app must request the scope to read such records.
func TestExtensionScope_CON05(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(extensibleApp) // invoices:read
	scopes := map[string]string{
		"customer": "customers:read", "payment": "payments:read", "account": "accounts:read", "journal_entry": "journal:read", "supplier": "suppliers:read",
	}
	for resourceType, scope := range scopes {
		body := `{"resourceType": "` + resourceType + `", "path": "/", "label": "L"}`
		refused := d.ann("POST "+path+"/extensions", body)
		refused.wantCode(http.StatusBadRequest, "EXTENSION_SCOPE_REQUIRED")
		if !cmp.Equal(refused.body["params"], any(map[string]any{"p0": resourceType, "p1": scope})) {
			t.Errorf("params %v", refused.body["params"])
		}
		write := strings.TrimSuffix(scope, "read") + "write" // does not do instead
		d.ann("PATCH "+path, `{"scopes": ["`+write+`"]}`).want(http.StatusOK)
		d.ann("POST "+path+"/extensions", body).wantCode(http.StatusBadRequest, "EXTENSION_SCOPE_REQUIRED")
		d.ann("PATCH "+path, `{"scopes": ["`+scope+`"]}`).want(http.StatusOK)
		d.ann("POST "+path+"/extensions", body).want(http.StatusCreated)
	}
	const types = "resourceType must be one of account, customer, invoice, journal_entry, payment, supplier"
	d.ann("POST "+path+"/extensions", `{"resourceType": "Invoice", "path": "", "label": " "}`).
		wantInvalid(types, "path must have 1 to 2000 bytes", "label must not be empty")
	d.ann("POST "+path+"/extensions", `{"resourceType": "", "path": "`+strings.Repeat("p", 2001)+`", "label": "`+strings.Repeat("l", 81)+`\n"}`).
		wantInvalid(types, "path must have 1 to 2000 bytes", "label must have at most 80 characters", "label must not have the character U+000A, which cannot be seen")
}

// CON-05: a host has its own types.
func TestResourceTypes_CON05(t *testing.T) {
	t.Parallel()
	d := newHarness(t, func(cfg *console.Config) { cfg.ResourceTypes = map[string]string{"project": "invoices:read"} })
	path, _ := d.newApp(extensibleApp)
	d.ann("POST "+path+"/extensions", `{"resourceType": "project", "path": "/", "label": "L"}`).want(http.StatusCreated)
	d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/", "label": "L"}`).wantInvalid("resourceType must be one of project")
}

// CON-05: an app without an App URL has no pages.
func TestExtensionWithoutAppURL_CON05(t *testing.T) {
	t.Parallel()
	d := newHarness(t)
	path, _ := d.newApp(confidentialApp)
	d.ann("POST "+path+"/extensions", `{"resourceType": "invoice", "path": "/", "label": "L"}`).wantCode(http.StatusBadRequest, "EXTENSION_PATH_INVALID")
}

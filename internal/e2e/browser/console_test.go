package browser_test

import (
	"image"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"
)

// connect approves the sync app for a business in tab b and returns an access token.
func (s *service) connect(b *tab) string {
	s.t.Helper()
	b.visit(s.authorize(url.Values{"scope": {"profile:read invoices:read invoices:write customers:read customers:write payments:read payments:write"}}))
	b.submit("Allow")
	return s.tokens(b)
}

// CON-02, APP-02: an app from its creation on: its secrets, each shown once, what it
// is called, and what only the log remembers.
func TestApp(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	b := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	b.visit(s.App + "/developer")
	b.submit("New app")
	b.fill("Name", "Dunning")
	b.fill("Redirect URIs", "not an address")
	b.submit("Create app")
	if b.status() != http.StatusBadRequest || b.alert() == "" || get[string](b, `labelled("Name").control.value`) != "Dunning" {
		t.Fatalf("a mistake: %s", b.where())
	}
	b.inspect("app-new-mistake")
	b.fill("Redirect URIs", s.partner.origin+"/callback")
	b.choose("invoices:read")
	b.submit("Create app")
	secret := b.secret()
	b.inspect("app-created")
	b.isShownOnce(secret)

	b.submit("Settings", ".side")
	b.fill("Name", "Dunning & Co")
	b.fill("App URL", s.partner.origin+"/embedded")
	b.submit("Save")
	b.sees("The app was updated.")
	b.submit("Credentials", ".side")
	b.submit("Add a secret")
	second := b.secret()
	b.inspect("secret-created")
	b.isShownOnce(second)
	b.press("Expire", "tr:last-child")
	b.inspect("secret-end")
	b.submit("Expire now")
	b.sees("The secret was ended.")

	b.submit("Extensions", ".side")
	b.submit("Add the first one")
	b.fill("Label", "Reminders")
	b.pick("Records", "invoice")
	b.fill("Path", "/reminders")
	b.submit("Add extension")
	b.sees("The extension was added.")

	b.submit("Functions", ".side")
	b.submit("Upload the first one")
	b.fill("Name", "remind")
	b.fill("Source", "const late = 1")
	b.submit("Upload function")
	if b.status() != http.StatusBadRequest || b.alert() == "" {
		t.Fatalf("a function without handler: %s", b.where())
	}
	b.fill("Source", "export const handler = (invoice) => invoice.total > 0")
	b.submit("Upload function")

	b.submit("App data", ".side")
	b.submit("Declare the first one")
	b.pick("Type", "CHOICE")
	b.fill("Key", "reminder")
	b.fill("Choices choices", "first\nsecond\nlast")
	b.submit("Declare field")
	b.sees("The field was declared.")

	b.submit("Audit log", ".side")
	log := get[[]string](b, `[...document.querySelectorAll("main tbody tr")].map((row) => row.cells[0].firstChild.textContent.trim())`)
	want := []string{"App data field created", "Function uploaded", "Extension added", "Client secret ended", "Client secret created", "App updated", "App created"}
	if !slices.Equal(log, want) {
		t.Errorf("the audit log tells %q, want %q", log, want)
	}
}

// CON-03, CON-04, AZ-16: a listing from its first draft to its approval, with images.
func TestListing(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	b := s.enter(open(t), "usr_cleo", "biz_papertrail_sandbox")
	b.visit(s.App + "/developer/apps/app_beta/listing")
	b.fill("Slug", "papertrail")
	b.fill("Name", "Papertrail")
	b.upload("Icon", picture(t, 256, 256))
	b.sees("The image was uploaded. What you have entered is not saved yet.")
	b.upload("Screenshot", picture(t, 1280, 800))
	b.choose("Screenshot ast_")
	b.upload("Icon", blank(t, 6<<20))
	b.sees("File is larger than 5 MB")
	if kept := get[[]string](b, `["slug", "name", "kind"].map((id) => document.getElementById(id).value).concat(document.activeElement.id, document.querySelectorAll("[name=screenshots]:checked").length + "")`); !slices.Equal(kept, []string{"papertrail", "Papertrail", "icon", "file", "1"}) {
		t.Errorf("after the uploads the form has %q", kept)
	}
	b.choose("Screenshot ast_")
	if address := b.at(); address != s.App+"/developer/apps/app_beta/assets" {
		t.Errorf("the page is at %s", address)
	}
	b.submit("Save draft")
	b.sees("The draft was saved.")
	b.sees("The draft cannot be submitted for review yet. It has no Summary, no Description.")
	b.inspect("listing-incomplete")
	b.fill("Summary", "Every document with its entry.")
	b.fill("Description", "Papertrail keeps what an entry was made from.\n\nFor seven years.")
	b.choose("Icon ast_")
	b.submit("Save draft")
	b.submit("Submit for review")
	b.sees("Submitted")
	b.inspect("listing-submitted")
	s.dev("/apps/papertrail-beta/listing", map[string]string{"state": "in_review"}, nil)
	s.dev("/apps/papertrail-beta/listing", map[string]string{"state": "approved"}, nil)
	b.visit(s.App + "/developer/apps/app_beta/listing")
	b.sees("Live")
	if get[int](b, `document.querySelectorAll(".gallery li:has(.badge) button").length`) > 0 {
		t.Errorf("an icon that is in use can be deleted: %s", b.where())
	}
	b.fill("Name", "Papertrail 2")
	b.press("Delete")
	b.inspect("listing-live")
	b.press("Delete Cancel")
	b.press("Delete")
	b.submit("Delete it")
	b.sees("The image was deleted. What you have entered is not saved yet.")
	if name := get[string](b, `labelled("Name").control.value`); name != "Papertrail 2" {
		t.Errorf("after the deletion the name is %q", name)
	}
}

// upload sends a file with the form of the listing's page.
func (b *tab) upload(kind, file string) {
	b.t.Helper()
	b.pick("Kind", kind)
	b.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	b.submit("Upload image")
}

// blank returns a file of the given size that is no image.
func blank(t *testing.T, size int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "blank.png")
	if err := os.WriteFile(name, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// picture returns a file with an image of the given size.
func picture(t *testing.T, width, height int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "image.png")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	drawn := image.NewGray(image.Rect(0, 0, width, height))
	for i := range drawn.Pix {
		drawn.Pix[i] = byte(i / width * 255 / height)
	}
	if err := png.Encode(file, drawn); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// INST-01: a business sees its connected apps and can uninstall them. After that the app's
// token is rejected, and the app's developers see the uninstallation.
func TestUninstall(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	b := s.enter(open(t), "usr_ada", "biz_bakery")
	token := s.connect(b)
	invoices := request{method: "GET", path: "/invoices", token: token}
	s.call(invoices, nil)
	b.visit(s.App + "/settings/apps")

	// The app is embedded in a page and gets its session tokens there.
	b.submit("Open")
	eventually(t, "a session token", func() bool { return len(s.partner.arrived("/told")) > 0 })
	if told := s.partner.arrived("/told")[0].Body; told != s.App+" session-token 3" {
		t.Errorf("the app in the frame was told: %s", told)
	}

	dev := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	dev.visit(s.App + "/developer/apps/app_sync/analytics")
	eventually(t, "the call is counted", func() bool {
		dev.visit(s.App + "/developer/apps/app_sync/analytics")
		return get[int](dev, `document.querySelectorAll("svg.chart rect.succeeded").length`) > 0
	})

	b.visit(s.App + "/settings/apps")
	b.press("Uninstall…")
	b.inspect("uninstall")
	b.submit("Uninstall")
	b.sees("The app was uninstalled.")
	b.sees("No apps are connected")
	if status, response := s.send(invoices); status != http.StatusUnauthorized {
		t.Errorf("after the uninstall: %d %s", status, response)
	}
	eventually(t, "app.uninstalled", func() bool {
		all := s.partner.arrived("/webhooks/sync")
		return len(all) > 0 && all[len(all)-1].Header.Get("X-Webhook-Event") == "app.uninstalled"
	})
	dev.visit(s.App + "/developer/apps/app_sync/audit")
	dev.sees("A business uninstalled the app")
}

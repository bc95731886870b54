package browser_test

import (
	"net/http"
	"testing"
)

// CON-02: Ctrl-K finds a page, and Enter opens it.
func TestFindAnything_CON02(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	dev := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	dev.visit(s.App + "/developer/apps")
	dev.inspect("apps-table")
	get[any](dev, `document.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, cancelable: true, bubbles: true }))`)
	dev.await(`document.activeElement.id === "find"`)
	get[any](dev, `(() => { const field = document.activeElement; field.value = "sync webh"; field.dispatchEvent(new Event("input", { bubbles: true })); })()`)
	dev.await(`!document.querySelector(".found").hidden && document.querySelector(".found a").pathname.endsWith("/webhooks")`)
	for _, width := range widths {
		dev.resize(width)
		dev.fits("found", width)
	}
	for _, scheme := range []string{"dark", "light"} {
		dev.scheme(scheme)
		dev.isAccessible("found", scheme)
	}
	dev.strike("Tab", tabKey, 1)
	dev.await(`document.activeElement.matches(".found a")`)
	get[any](dev, `document.querySelector("form.find").requestSubmit()`)
	dev.await(`location.pathname === "/developer/apps/app_sync/webhooks"`)
	if faults := dev.faults(); len(faults) > 0 {
		t.Errorf("the console says: %v", faults)
	}
}

// AZ-12: one click gives a token, and the page shows the first call once it was received.
func TestFirstCall_AZ12(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	dev := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	dev.visit(s.App + "/developer/apps/app_sync/start")
	dev.inspect("start")
	dev.submit("Get a sandbox token")
	dev.sees("Waiting for your first call")
	dev.inspect("start-token")
	token := get[string](dev, `[...document.querySelectorAll("[data-copy]")].map((e) => e.dataset.copy).find((text) => text.startsWith("curl")).match(/Bearer ([^"']+)/)[1]`)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.API+"/profile", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the first call is answered with %s", resp.Status)
	}
	dev.await(`document.getElementById("first-call").textContent.includes("Received")`)
	if faults := dev.faults(); len(faults) > 0 {
		t.Errorf("the console says: %v", faults)
	}
}

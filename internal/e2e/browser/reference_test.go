package browser_test

import (
	"net/http"
	"strings"
	"testing"
)

// "Try it" sends an operation to the API host with the token of the quick start, and shows what
// came back. No other page may send anything there.
func TestTryIt(t *testing.T) {
	t.Parallel()
	needAxe(t)
	s := serve(t)
	dev := s.enter(open(t), "usr_dev", "biz_ledgerlink_sandbox")
	dev.visit(s.App + "/developer/apps/app_sync/start")
	dev.submit("Get a sandbox token")

	dev.visit(s.App + "/openapi/profile")
	if call := get[string](dev, `document.querySelector("#getProfile .languages [data-copy]").dataset.copy`); strings.Contains(call, "YOUR_") || !strings.Contains(call, "Bearer ") {
		t.Errorf("the sample lacks the token: %s", call)
	}
	dev.press("Try it", "#getProfile")
	dev.press("Send", "#getProfile")
	dev.await(`document.querySelector("#getProfile .result .badge")?.textContent.startsWith("200")`)
	dev.press("Headers", "#getProfile .result")
	shown := get[string](dev, `document.querySelector("#getProfile .result").innerText`)
	for _, want := range []string{"ratelimit-limit: ", "x-request-id: ", `"business"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the response lacks %s: %s", want, shown)
		}
	}
	dev.inspect("reference")

	dev.visit(s.App + "/openapi/customers#createCustomer")
	if top := get[float64](dev, `document.getElementById("createCustomer").getBoundingClientRect().top`); top < 0 || top > 200 {
		t.Errorf("a link to an operation leads to a place %v pixels above it", top)
	}
	dev.press("Try it", "#createCustomer")
	get[any](dev, `void (document.querySelector("#createCustomer textarea").value = '{"name": "Tried & Sons"}')`)
	dev.press("Send", "#createCustomer")
	dev.await(`document.querySelector("#createCustomer .result .badge")?.textContent.startsWith("201")`)
	if shown := get[string](dev, `document.querySelector("#createCustomer .result .body").textContent`); !strings.Contains(shown, `"name": "Tried & Sons"`) {
		t.Errorf("the response is %s", shown)
	}
	if faults := dev.faults(); len(faults) > 0 {
		t.Errorf("the console says: %v", faults)
	}

	// Another page of the same host cannot send anything to the API host.
	dev.visit(s.App + "/openapi")
	if sent := get[string](dev, `fetch(`+quote(s.API+"/profile")+`).then(() => "sent", (error) => error.name)`); sent != "TypeError" {
		t.Errorf("the index may call the API host: %s", sent)
	}
	dev.faults() // the refusal

	dev.signOut()
	dev.visit(s.App + "/openapi/profile")
	if kept := get[string](dev, `sessionStorage.getItem("partnerkit-token") ?? "none"`); kept != "none" {
		t.Error("the token stays after the person has signed out")
	}
}

// Without the script the reference shows its samples in each language, and no form that only a
// script serves.
func TestReferenceWithoutScript(t *testing.T) {
	t.Parallel()
	s := serve(t)
	b := open(t).withoutScript()
	if status := b.visit(s.App + "/openapi/profile"); status != http.StatusOK {
		t.Fatalf("the page: %d", status)
	}
	for _, language := range []struct{ name, sample string }{{"Go", "package main"}, {"Python", "import urllib.request"}, {"JavaScript", "await fetch("}, {"curl", "curl -s"}} {
		b.click(`[...document.querySelectorAll("#getProfile .languages label")].find((label) => words(label) === ` + quote(language.name) + `)`)
		if shown := get[string](b, `[...document.querySelectorAll("#getProfile .sample")].filter((e) => e.checkVisibility()).map((e) => e.innerText).join()`); !strings.Contains(shown, language.sample) {
			t.Errorf("%s shows %s", language.name, shown)
		}
	}
	if shown := get[string](b, `document.body.innerText`); strings.Contains(shown, "Try it") || strings.Contains(shown, "Copy") {
		t.Errorf("the page shows what only a script serves: %s", shown)
	}
	b.fill("Search operations and shapes", "bulk")
	b.submit("Search")
	b.sees("1 match for “bulk”.")
}
